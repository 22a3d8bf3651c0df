/* When one worker serves alone. */
#include "solo.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

#define SURE_STREAK 32U
#define DOUBT_OF_ONE 8U
#define WRONG_DOUBTS 64U
#define PLACE_EVERY 256U
#define PLACE_AFTER_SLEEP 4U
#define NEW_CALLER_STREAK 2U /* a new caller's CPU is asked for with its third call */

void solo_judge_call(struct solo_judge *judge, uint32_t caller, bool slept, bool slow) {
    judge->since_place++;
    if (slept && judge->since_place >= PLACE_AFTER_SLEEP)
        judge->since_place = PLACE_EVERY;
    if (caller == 0)
        return;
    bool other = caller != judge->caller;
    judge->caller = caller;
    if (other || slow) {
        judge->doubts += DOUBT_OF_ONE;
        judge->streak = 0;
        return;
    }
    judge->streak++;
    if (judge->doubts > 0)
        judge->doubts--;
    if (judge->streak == NEW_CALLER_STREAK)
        judge->since_place = PLACE_EVERY;
}

bool solo_judge_is_sure(const struct solo_judge *judge) {
    return judge->streak >= SURE_STREAK && judge->doubts == 0;
}

bool solo_judge_is_wrong(const struct solo_judge *judge) {
    return judge->doubts > WRONG_DOUBTS;
}

bool solo_judge_is_due(struct solo_judge *judge) {
    if (judge->since_place < PLACE_EVERY)
        return false;
    judge->since_place = 0;
    return true;
}

/* proc_pid_stat(5): the name, in parentheses, may hold anything; the CPU is the 37th field after it. */
static int cpu_in_stat(const char *stat) {
    const char *field = strrchr(stat, ')');
    for (int index = 0; field && index < 37; index++)
        field = strchr(field + 1, ' ');
    return field ? atoi(field + 1) : -1;
}

int solo_cpu_of(uint32_t thread) {
    char path[64];
    char stat[1024];
    /* the thread's own file: that of the process sums over all its threads */
    snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", thread, thread);
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
    if (length <= 0)
        return -1;
    stat[length] = '\0';
    return cpu_in_stat(stat);
}

static bool set_class(pthread_t thread, int class) {
    const struct sched_param param = {.sched_priority = 0};
    return pthread_setschedparam(thread, class, &param) == 0;
}

/* Coming back from SCHED_IDLE takes a privilege (sched(7)), and who lacks it learns so only there. */
static void *try_the_way_back(void *ret_possible) {
    *(bool *)ret_possible = set_class(pthread_self(), SCHED_IDLE) && set_class(pthread_self(), SCHED_OTHER);
    return NULL;
}

void solo_find_home(struct solo_home *ret_home) {
    struct solo_home home = {.possible = false};
    struct sched_param param;
    int class;
    pthread_t thread;
    bool known = pthread_getaffinity_np(pthread_self(), sizeof(home.cpus), &home.cpus) == 0 &&
                 pthread_getschedparam(pthread_self(), &class, &param) == 0;
    if (known && class == SCHED_OTHER && pthread_create(&thread, NULL, try_the_way_back, &home.possible) == 0)
        pthread_join(thread, NULL);
    *ret_home = home;
}

void solo_move(const struct solo_home *home, pthread_t worker, int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &home->cpus))
        return;
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    pthread_setaffinity_np(worker, sizeof(there), &there);
}

void solo_go_idle(pthread_t worker) {
    set_class(worker, SCHED_IDLE);
}

void solo_go_home(const struct solo_home *home, pthread_t worker) {
    set_class(worker, SCHED_OTHER);
    pthread_setaffinity_np(worker, sizeof(home->cpus), &home->cpus);
}
