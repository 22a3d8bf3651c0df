/* The CPUs and scheduling classes of threads. */
#include "scheduling.h"

#include <stdlib.h>
#include <unistd.h>

#include "proc.h"

#define CPU_FIELD 39 /* of proc_pid_stat(5) */

static bool set_class(pid_t thread, int class) {
    const struct sched_param param = {.sched_priority = 0};
    return sched_setscheduler(thread, class, &param) == 0;
}

/* Coming back from SCHED_IDLE takes a privilege (sched(7)), which only an attempt reveals. */
static void *try_the_way_back(void *ret_possible) {
    *(bool *)ret_possible = set_class(gettid(), SCHED_IDLE) && set_class(gettid(), SCHED_OTHER);
    return NULL;
}

void scheduling_find_home(struct scheduling_home *ret_home) {
    struct scheduling_home home = {.idle_possible = false};
    pthread_t thread;
    if (sched_getaffinity(0, sizeof(home.cpus), &home.cpus) == 0) { /* else there are more CPUs than the set holds */
        home.cpu_count = (unsigned)CPU_COUNT(&home.cpus);
        if (sched_getscheduler(0) == SCHED_OTHER &&
            pthread_create(&thread, NULL, try_the_way_back, &home.idle_possible) == 0)
            pthread_join(thread, NULL);
    } else {
        CPU_ZERO(&home.cpus);
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        home.cpu_count = online > 0 ? (unsigned)online : 1;
    }
    *ret_home = home;
}

int scheduling_cpu_of(uint32_t thread) {
    struct proc_stat stat;
    const char *cpu = proc_stat_read(thread, &stat) ? proc_stat_field(&stat, CPU_FIELD) : NULL;
    return cpu ? (int)strtol(cpu, NULL, 10) : -1;
}

void scheduling_bind(pid_t thread, int cpu) {
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    sched_setaffinity(thread, sizeof(there), &there);
    set_class(thread, SCHED_IDLE);
}

void scheduling_restore(const struct scheduling_home *home, pid_t thread) {
    set_class(thread, SCHED_OTHER);
    sched_setaffinity(thread, sizeof(home->cpus), &home->cpus);
}

void scheduling_set_home(const struct scheduling_home *home, pthread_attr_t *attr) {
    if (CPU_COUNT(&home->cpus) > 0)
        pthread_attr_setaffinity_np(attr, sizeof(home->cpus), &home->cpus);
    if (!home->idle_possible)
        return;
    pthread_attr_setschedpolicy(attr, SCHED_OTHER);
    pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
}
