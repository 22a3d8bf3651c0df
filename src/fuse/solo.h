/* When one worker serves alone.
 *
 * While one thread at a time calls, and its calls are short, what a request costs is mostly the waking of another
 * CPU: for the worker, and again for the caller when it is answered. So one worker then serves alone on the
 * caller's own CPU, in the scheduling class SCHED_IDLE: a caller is woken on a CPU that runs nothing else but
 * idle-class threads, and takes it over at once. The session ends this when other threads call too, when calls are
 * slow, and when the worker makes no progress. */
#ifndef SOLO_H
#define SOLO_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* What a worker has seen of the calls that it served. Threads: one worker's own */
struct solo_judge {
    uint32_t caller;      /* thread that called last; 0: none yet */
    unsigned streak;      /* its short calls in a row */
    unsigned doubts;      /* rises with slow calls and changes of the caller, falls with the others */
    unsigned since_place; /* calls since the caller's CPU was asked for */
};

/* One more call. caller: its thread; 0: the kernel's own, which says nothing. slow: it took longer than waking a
 * CPU would. */
void solo_judge_call(struct solo_judge *judge, uint32_t caller, bool slept, bool slow);

/* Enough in a row to begin. */
bool solo_judge_is_sure(const struct solo_judge *judge);

/* Too many others, or too slow, to go on. */
bool solo_judge_is_wrong(const struct solo_judge *judge);

/* Time to look again where the caller runs. True once every so many calls. */
bool solo_judge_is_due(struct solo_judge *judge);

/* The CPU that a thread runs on, or last ran on; -1 if that is not to be known: ended, or in another PID
 * namespace. */
int solo_cpu_of(uint32_t thread);

/* How the workers are scheduled when they do not serve alone. */
struct solo_home {
    cpu_set_t cpus;
    bool possible; /* alone may be tried: the class is SCHED_OTHER, and the way back is open */
};

/* Threads: call from one of the same class and CPUs as the workers, before they are started */
void solo_find_home(struct solo_home *ret_home);

/* To `cpu`, if it is one of the home's; into SCHED_IDLE; back again. What the system refuses is left as it is.
 * Threads: any */
void solo_move(const struct solo_home *home, pthread_t worker, int cpu);
void solo_go_idle(pthread_t worker);
void solo_go_home(const struct solo_home *home, pthread_t worker);

#endif
