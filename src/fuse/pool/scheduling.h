/* Where threads run, and in which scheduling class. */
#ifndef SCHEDULING_H
#define SCHEDULING_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How workers are scheduled by default. */
struct scheduling_home {
    cpu_set_t cpus;     /* empty if unknown */
    unsigned cpu_count; /* never 0 */
    bool idle_possible; /* the class is SCHED_OTHER, and this process may return to it from SCHED_IDLE */
};

/* Threads: call before the workers are started, from a thread of the same class and CPUs */
void scheduling_find_home(struct scheduling_home *ret_home);

/* The CPU that a thread runs on, or last ran on; -1 if unknown: it has ended, or is in another PID namespace. */
int scheduling_cpu_of(uint32_t thread);

/* Binds a thread to one CPU in SCHED_IDLE; brings it back home. Failures are ignored. Threads are named by their ids:
 * the functions of pthreads take a lock of the thread, which a thread in SCHED_IDLE may hold for long.
 * Threads: any */
void scheduling_bind(pid_t thread, int cpu);
void scheduling_restore(const struct scheduling_home *home, pid_t thread);

/* For a new thread that must begin at home, however the starting thread is scheduled. */
void scheduling_set_home(const struct scheduling_home *home, pthread_attr_t *attr);

#endif
