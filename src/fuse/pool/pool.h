/* The worker pool: which workers receive requests, and on which CPUs.
 *
 * Plain: all workers receive, wherever the scheduler puts them.
 *
 * What a short request costs is mostly the waking of another CPU, for the worker, and again for the caller when it is
 * answered. So while requests are short only chosen workers receive:
 *
 * Bound: while there are no more callers than CPUs, one worker on each CPU where a caller runs, bound to it, in the
 * class SCHED_IDLE. A caller is woken on a CPU that runs nothing but idle-class threads, so it takes its own over at
 * once; and when it waits, the worker there goes on, and finds its request.
 *
 * Few: with more callers than CPUs, half as many workers as CPUs, wherever the scheduler puts them. Any more would take
 * CPUs from callers, and wake each other.
 *
 * A worker chooses itself after some short requests, and others as they are needed. All workers are plain again when
 * many requests are slow or come while others of the same caller wait, when there are no requests, and when the main
 * thread, in its tick, finds a chosen worker that is still at the same request, or a request that no chosen worker has
 * taken: then the worker waits for something or has got no CPU. None is chosen for a pause after that, which is doubled
 * if workers were chosen only briefly. */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggstats.h"
#include "scheduling.h"

#define POOL_CHOSEN_MAX 16U
#define POOL_ANY_CPU CPU_SETSIZE /* of few workers */

struct pool_worker {
    pid_t thread;
    bool chosen;       /* atomic */
    uint64_t progress; /* atomic; rises when a request is taken, and when it is answered: odd in between */

    /* its own */
    int cpu;              /* that it is bound to, or POOL_ANY_CPU */
    uint32_t caller;      /* thread that called last */
    uint32_t other;       /* the one before it */
    unsigned calls;       /* of this window; and of them: */
    unsigned slow_calls;  /* took long, or went on beside their caller, or others of the same waited */
    unsigned switches;    /* came from another caller than the one before */
    uint64_t callers;     /* a bit for each caller; several may have the same */
    long waits;           /* for requests, of all time, when last counted */
    unsigned away_checks; /* in a row, that have found its callers where another worker is bound */

    uint64_t seen_progress; /* the main thread's: at its last tick */
};

struct pool {
    struct scheduling_home home;
    struct aggstats_clock clock;
    unsigned chosen_max; /* atomic; 0: workers are always plain */
    pthread_mutex_t lock;
    struct pool_worker *chosen[POOL_CHOSEN_MAX]; /* under the lock */
    unsigned chosen_count;                       /* atomic; changed under the lock */
    unsigned idle_ticks;                         /* in a row, without requests; the main thread's */
    uint64_t pause_cycles;                       /* after the last time; under the lock */
    uint64_t began_cycles;                       /* when workers were chosen; under the lock */
    uint64_t again_cycles;                       /* atomic; none is to be chosen before */
    int offered;                                 /* atomic; a CPU for one more worker; -1: none is wanted */
    uint32_t period;                             /* atomic; the number of this time that workers are chosen, never 0 */
    uint32_t taken[CPU_SETSIZE];                 /* atomic; the period in which a worker is bound to that CPU */
};

/* adaptive: false: workers are always plain, as they are on one CPU. Threads: before the workers are started */
void pool_init(struct pool *pool, const struct aggstats_clock *clock, bool adaptive);
void pool_finish(struct pool *pool);

/* All workers are plain from now on. Threads: the main thread */
void pool_stop(struct pool *pool);

static inline bool pool_is_adaptive(const struct pool *pool) {
    return __atomic_load_n(&pool->chosen_max, __ATOMIC_RELAXED) > 0;
}

/* For struct pool_call. Where workers are always plain nothing is asked, not even the time. */
static inline uint64_t pool_now(const struct pool *pool) {
    return pool_is_adaptive(pool) ? aggstats_clock_now(pool->clock.kind) : 0;
}

/* All workers receive; else only those that are chosen. */
static inline bool pool_is_plain(const struct pool *pool) {
    return __atomic_load_n(&pool->chosen_count, __ATOMIC_SEQ_CST) == 0;
}

static inline bool pool_worker_is_chosen(const struct pool_worker *worker) {
    return __atomic_load_n(&worker->chosen, __ATOMIC_RELAXED);
}

/* For a worker that is not chosen, while others are: false if no more are wanted. */
bool pool_join(struct pool *pool, struct pool_worker *worker);

/* A worker has taken a request; is about to answer it. */
void pool_take(struct pool_worker *worker);
void pool_answer(struct pool_worker *worker);

/* Now and then a worker that holds a request of its only caller is to check whether others wait: these are of the same
 * caller then, who sends them together, best to several workers. */
bool pool_is_to_check(const struct pool_worker *worker);
bool pool_requests_wait(int device_fd);

/* What became of the request. */
struct pool_call {
    uint32_t caller;      /* thread; 0: the kernel's own */
    uint64_t work_cycles; /* to answer it */
    bool is_readahead;    /* the kernel reads while the caller goes on, best on another CPU */
    bool has_others;      /* pool_is_to_check() said so, and others waited */
};

/* Returns true if the worker is to call pool_review() then, which asks the kernel where callers run. That may not
 * return as long as a caller waits for us: in execve(2) a lock is held while files are closed. So who calls it must not
 * count as one who waits for requests. */
bool pool_note(struct pool *pool, struct pool_worker *worker, const struct pool_call *call);

/* Returns true if the main thread is to be woken, before this worker calls pool_enter(): workers are chosen now, or one
 * more is to be. */
bool pool_review(struct pool *pool, struct pool_worker *worker);

/* From now on the worker may be without a CPU, if it is bound: so the main thread must have been told. */
void pool_enter(const struct pool *pool, const struct pool_worker *worker);

/* Whether one more worker is to wait for requests, who will be chosen. */
static inline bool pool_wants_worker(const struct pool *pool) {
    return __atomic_load_n(&pool->offered, __ATOMIC_ACQUIRE) >= 0;
}

/* The main thread checks whether chosen workers get on. Returns true if it has made them plain: if all are at work
 * then, one more worker is to wait for requests. device_fd: where requests wait */
bool pool_tick(struct pool *pool, int device_fd);

#endif
