/* Where threads run. */
#include "cpu_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

/* proc_pid_stat(5): the name, in parentheses, may hold anything; the CPU is the 37th field after it. */
static int cpu_in_stat(const char *stat) {
    const char *field = strrchr(stat, ')');
    for (int index = 0; field && index < 37; index++)
        field = strchr(field + 1, ' ');
    return field ? (int)strtol(field + 1, NULL, 10) : -1;
}

int cpu_of_thread(uint32_t thread) {
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

void cpu_find_home(struct cpu_home *ret_home) {
    struct cpu_home home = {.idle_possible = false};
    struct sched_param param;
    int class;
    pthread_t thread;
    bool known = pthread_getaffinity_np(pthread_self(), sizeof(home.cpus), &home.cpus) == 0 &&
                 pthread_getschedparam(pthread_self(), &class, &param) == 0;
    if (known && class == SCHED_OTHER && pthread_create(&thread, NULL, try_the_way_back, &home.idle_possible) == 0)
        pthread_join(thread, NULL);
    *ret_home = home;
}

void cpu_move(pthread_t thread, int cpu) {
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    pthread_setaffinity_np(thread, sizeof(there), &there);
}

void cpu_go_idle(pthread_t thread) {
    set_class(thread, SCHED_IDLE);
}

void cpu_go_home(const struct cpu_home *home, pthread_t thread) {
    set_class(thread, SCHED_OTHER);
    pthread_setaffinity_np(thread, sizeof(home->cpus), &home->cpus);
}
