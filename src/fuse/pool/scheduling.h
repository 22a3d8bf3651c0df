/* Where threads run, and in which scheduling class. */
#ifndef SCHEDULING_H
#define SCHEDULING_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How workers are scheduled if nothing else is arranged. */
struct scheduling_home {
    cpu_set_t cpus;     /* empty if they are not to be known */
    unsigned cpu_count; /* never 0 */
    bool idle_possible; /* the class is SCHED_OTHER, and the way back to it from SCHED_IDLE is open */
};

/* Threads: call from one of the same class and CPUs as the workers, before they are started */
void scheduling_find_home(struct scheduling_home *ret_home);

/* The CPU that a thread runs on, or last ran on; -1 if that is not to be known: ended, or in another PID namespace. */
int scheduling_cpu_of(uint32_t thread);

/* To one CPU and into SCHED_IDLE; back home. What the system refuses is left as it is. Threads are named by their ids:
 * the functions of pthreads hold a lock of the thread's, which one in SCHED_IDLE may keep for long.
 * Threads: any */
void scheduling_bind(pid_t thread, int cpu);
void scheduling_restore(const struct scheduling_home *home, pid_t thread);

/* For a thread that is to begin at home, whoever starts it. */
void scheduling_set_home(const struct scheduling_home *home, pthread_attr_t *attr);

#endif
