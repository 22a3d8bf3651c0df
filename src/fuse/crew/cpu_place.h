/* Where threads run, and in which scheduling class. */
#ifndef CPU_PLACE_H
#define CPU_PLACE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How the workers are scheduled if nothing else is arranged. */
struct cpu_home {
    cpu_set_t cpus;
    int nice;           /* value; PRIO_PROCESS */
    bool idle_possible; /* the class is SCHED_OTHER, and the way back to it from SCHED_IDLE is open */
    int group_fd;       /* the autogroup, if it is this process's own and may be changed; -1: not, or not looked for */
    int group_nice;     /* value of it */
};

/* Threads: call from one of the same class and CPUs as the workers, before they are started */
void cpu_find_home(struct cpu_home *ret_home);
void cpu_find_group(struct cpu_home *home); /* for cpu_rank_group() */
void cpu_forget_home(struct cpu_home *home);

/* The CPU that a thread runs on, or last ran on; -1 if that is not to be known: ended, or in another PID
 * namespace. */
int cpu_of_thread(uint32_t thread);

/* Threads of the whole system that run or want to; 0 if that is not to be known. */
unsigned cpu_wanting_threads(void);

/* It waits for a CPU, and not for anything else. */
bool cpu_is_wanted_by(pid_t thread);

/* To one CPU; away from it, and bound to none; into SCHED_IDLE; before other threads; back again. What the system
 * refuses is left as it is. Threads are named by their ids: the functions of pthreads hold a lock of the thread's,
 * which one in SCHED_IDLE may keep for long. Threads: any */
void cpu_move(pid_t thread, int cpu);
void cpu_leave(const struct cpu_home *home, pid_t thread, int cpu);
void cpu_go_idle(pid_t thread);
void cpu_go_first(const struct cpu_home *home, pid_t thread);
void cpu_go_home(const struct cpu_home *home, pid_t thread);

/* What sets this process before or behind those of other sessions: the scheduler weighs autogroups against each other
 * as a whole (sched(7)), whatever class and nice values their threads have. Without an autogroup of its own it does
 * nothing. */
enum cpu_rank {
    CPU_RANK_HOME,
    CPU_RANK_BEHIND,
    CPU_RANK_FIRST,
};

void cpu_rank_group(const struct cpu_home *home, enum cpu_rank rank);

/* For a thread that is to begin at home, whoever starts it. */
void cpu_set_home(const struct cpu_home *home, pthread_attr_t *attr);

#endif
