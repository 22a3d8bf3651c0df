/* The worker pool: which workers receive requests, and on which CPUs. docs/internals/mounts.md states the rule,
 * docs/internals/benchmarks.md has figures.
 *
 * Most of the cost of a short request is waking another CPU, which the scheduler does twice: it puts the worker on an
 * idle CPU, and then the caller that is answered. So while requests are short only chosen workers receive them:
 *
 * Bound: while there are no more callers than CPUs, there is one worker on each CPU where a caller runs, bound to it,
 * in the class SCHED_IDLE. Threads of this class do not make a CPU busy in the eyes of the scheduler, so the caller is
 * woken on that CPU and preempts the worker at once. When the caller waits for its next answer, the worker goes on and
 * finds the request. Coming back from SCHED_IDLE takes CAP_SYS_NICE: without it workers are always plain. They also are
 * on a machine with one CPU, where there is no other CPU to wake.
 *
 * Few: with more callers than CPUs, every worker that is woken takes a CPU from a caller. So half as many workers as
 * CPUs receive, wherever the scheduler puts them.
 *
 * Plain: all workers receive, wherever the scheduler puts them.
 *
 * A worker chooses itself after some short requests, and others as they are needed. All workers become plain again
 * - when many requests are slow, or come while others of the same caller wait: a caller with several requests in flight
 *   (libaio, io_uring) is served faster by several workers. Now and then a bound worker that holds a read checks
 *   whether another request waits;
 * - when there are no requests;
 * - when the main thread, every 5 ms, finds a chosen worker that is still at the same request, or a request that no
 *   chosen worker has taken: the worker waits for something or gets no CPU, since a busy CPU may leave the idle class
 *   without time. No lock that the main thread needs is held in the idle class (pthread functions that change
 *   scheduling hold one).
 *
 * No worker is chosen for a pause after that, which doubles if workers were chosen only briefly.
 *
 * A worker looks up its caller's CPU after it has answered, and does not count as idle meanwhile: reading
 * /proc/TID/stat waits while the thread executes a program, and execve(2) may wait for us. */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "aggstats.h"

#define POOL_CHOSEN_MAX 16U
#define POOL_ANY_CPU CPU_SETSIZE /* for the mode "few" */

/* How workers are scheduled by default. */
struct scheduling_home {
    cpu_set_t cpus;     /* empty if unknown */
    unsigned cpu_count; /* never 0 */
    bool idle_possible; /* the class is SCHED_OTHER, and this process may return to it from SCHED_IDLE */
};

/* The CPU that a thread runs on, or last ran on; -1 if unknown: it has ended, or is in another PID namespace. */
int scheduling_cpu_of(uint32_t thread);

/* Binds a thread to one CPU in SCHED_IDLE; brings it back home. Failures are ignored. Threads are named by their ids:
 * the functions of pthreads take a lock of the thread, which a thread in SCHED_IDLE may hold for long.
 * Threads: any */
void scheduling_bind(pid_t thread, int cpu);
void scheduling_restore(const struct scheduling_home *home, pid_t thread);

/* For a new thread that must begin at home, however the starting thread is scheduled. */
void scheduling_set_home(const struct scheduling_home *home, pthread_attr_t *attr);

struct pool_worker {
    pid_t thread;
    bool chosen;       /* atomic */
    uint64_t progress; /* atomic; rises when a request is taken, and when it is answered: odd in between */

    /* used by this worker only */
    int cpu;              /* the CPU it is bound to, or POOL_ANY_CPU */
    uint32_t caller;      /* thread of the latest request */
    uint32_t other;       /* the caller before it */
    unsigned calls;       /* in this window; of these: */
    unsigned slow_calls;  /* took long, or ran beside their caller, or other requests of the caller waited */
    unsigned switches;    /* came from another caller than the one before */
    uint64_t callers;     /* a bit for each caller; several may share one */
    long waits;           /* waits for requests since the start, when last counted */
    unsigned away_checks; /* checks in a row that found its callers where another worker is bound */

    uint64_t seen_progress; /* as of the main thread's last tick; used by it only */
};

struct pool {
    struct scheduling_home home;
    struct aggstats_clock clock;
    unsigned chosen_max; /* atomic; 0: workers are always plain */
    pthread_mutex_t lock;
    struct pool_worker *chosen[POOL_CHOSEN_MAX]; /* under the lock */
    unsigned chosen_count;                       /* atomic; changed under the lock */
    unsigned idle_ticks;                         /* in a row, without requests; used by the main thread only */
    uint64_t pause_cycles;                       /* the latest pause; under the lock */
    uint64_t began_cycles;                       /* when workers were chosen; under the lock */
    uint64_t again_cycles;                       /* atomic; no worker is chosen before this time */
    int offered;                                 /* atomic; a CPU that needs another worker; -1: none */
    uint32_t period;                             /* atomic; counts the times that workers were chosen; never 0 */
    uint32_t taken[CPU_SETSIZE];                 /* atomic; the latest period in which a worker was bound to the CPU */
};

/* adaptive: if false, workers are always plain. Threads: call before the workers are started */
void pool_init(struct pool *pool, const struct aggstats_clock *clock, bool adaptive);
void pool_finish(struct pool *pool);

/* Makes all workers plain for good. Threads: the main thread */
void pool_stop(struct pool *pool);

static inline bool pool_is_adaptive(const struct pool *pool) {
    return __atomic_load_n(&pool->chosen_max, __ATOMIC_RELAXED) > 0;
}

/* The time, for struct pool_call; 0, without reading the clock, if workers are always plain. */
static inline uint64_t pool_now(const struct pool *pool) {
    return pool_is_adaptive(pool) ? aggstats_clock_now(pool->clock.kind) : 0;
}

/* True if all workers receive; else only the chosen ones do. */
static inline bool pool_is_plain(const struct pool *pool) {
    return __atomic_load_n(&pool->chosen_count, __ATOMIC_SEQ_CST) == 0;
}

static inline bool pool_worker_is_chosen(const struct pool_worker *worker) {
    return __atomic_load_n(&worker->chosen, __ATOMIC_RELAXED);
}

/* For a worker that is not chosen, while others are: joins them. Returns false if no more are needed. */
bool pool_join(struct pool *pool, struct pool_worker *worker);

/* The worker has taken a request; is about to answer it. */
void pool_take(struct pool_worker *worker);
void pool_answer(struct pool_worker *worker);

/* True now and then, for a worker that holds a request of its only caller: it should check whether others wait. If so,
 * that caller has several requests in flight, and several workers serve it better. */
bool pool_is_to_check(const struct pool_worker *worker);
bool pool_requests_wait(int device_fd);

/* A request that was served. */
struct pool_call {
    uint32_t caller;      /* thread; 0: the kernel's own */
    uint64_t work_cycles; /* to answer it */
    bool is_readahead;    /* the kernel reads ahead while the caller goes on, best on another CPU */
    bool has_others;      /* pool_is_to_check() was true, and others waited */
};

/* Counts the request. Returns true if the worker must then call pool_review(), which asks the kernel where callers run.
 * That may not return while a caller waits for us: execve(2) holds a lock while it closes files. So a worker that calls
 * it must not count as idle. */
bool pool_note(struct pool *pool, struct pool_worker *worker, const struct pool_call *call);

/* Returns true if the main thread must be woken, before this worker calls pool_enter(): workers have been chosen, or
 * one more is needed. */
bool pool_review(struct pool *pool, struct pool_worker *worker);

/* Binds the worker if it is chosen: from now on it may get no CPU, so the main thread must be woken before. */
void pool_enter(const struct pool *pool, const struct pool_worker *worker);

/* True if one more worker should wait for requests, to be chosen. */
static inline bool pool_wants_worker(const struct pool *pool) {
    return __atomic_load_n(&pool->offered, __ATOMIC_ACQUIRE) >= 0;
}

/* The main thread checks whether chosen workers make progress. Returns true if it has made them plain: if all of them
 * are busy then, one more worker must wait for requests. device_fd: where requests wait */
bool pool_tick(struct pool *pool, int device_fd);

#endif
