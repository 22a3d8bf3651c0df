/* Private: the thread that finds out what calls in flight wait for.
 *
 * Threads name their calls in flight in their blocks. The watcher looks at these, and at what the kernel says of a
 * thread that waits. The thread that ends a slow call reports it, so that causes add up exactly: for that ops have the
 * wrapper of joint profiles while slow calls are watched, and nothing else while they are not. */
#ifndef SLOW_WATCHER_H
#define SLOW_WATCHER_H

#include <pthread.h>
#include <semaphore.h>

#include "aggstats/slow.h"
#include "probe.h"
#include "slow_store.h"
#include "threads.h"
#include "user_shares.h"

#define SLOW_PARTS_MAX 8

/* A call that is, or may become, slow. */
struct slow_pending {
    const struct aggstats_block *block; /* of its thread; NULL: this place is free */
    uint64_t start_cycles;
    uint64_t age_cycles;    /* when it was last looked at */
    uint64_t memory[2];     /* for the function that finds causes */
    unsigned ended_looks;   /* looks since the call has ended */
    uint64_t holder_cycles; /* the clock when its holder was last looked for, for any cause; 0: not yet */
    struct slow_part parts[SLOW_PARTS_MAX];
    size_t part_count;
    struct slow_part *last; /* one of them; NULL: not looked at yet */
};

#define SLOW_REPORTS_MAX 512

/* Slow calls that have ended, on their way from the thread that ended them to the report function: a bounded ring, which
 * users share. When a user has no place left, new entries of his are dropped and counted. */
struct slow_reports {
    struct slow_call *calls; /* number i in i % SLOW_REPORTS_MAX; NULL: there is no report function */
    struct user_shares shares;
    uint64_t added_count;
    uint64_t taken_count;
    uint64_t lost_count; /* since the last one was taken */
};

struct slow {
    struct probe probe; /* must be first */
    struct aggstats_slow_options options;
    const struct threads *threads;
    struct slow_store *store; /* in the live file */
    uint64_t *seen_cycles;    /* in the live file too: the last moment known to have been alive */
    uint32_t clock_kind;
    pthread_t thread;
    sem_t wake;
    bool is_asleep; /* atomic, like the next two */
    bool stop;
    uint64_t threshold_ns;
    bool paused;                                  /* under the lock, like the rest: calls that end are not counted */
    pthread_mutex_t lock;                         /* taken last */
    struct slow_pending pendings[SLOW_WAITS_MAX]; /* at the same indices as the store's waits */
    uint64_t crowded_cycles;                      /* when a call found no place there last; 0: never */
    struct slow_reports reports;
    pthread_mutex_t report_lock;                /* one thread at a time reports, so reports are in order; taken before
                                                 * the other lock */
    const char (*op_names)[AGGSTATS_NAME_SIZE]; /* borrowed */
    unsigned op_count;
};

/* The threads to watch, and the store for slow calls; all pointers are borrowed. */
struct slow_place {
    const struct threads *threads;
    struct slow_store *store;
    uint64_t *seen_cycles; /* atomic */
    uint32_t clock_kind;
    const char (*op_names)[AGGSTATS_NAME_SIZE];
    unsigned op_count;
};

/* Errors: -ENOMEM, those of starting a thread */
int slow_start(const struct slow_place *place, const struct aggstats_slow_options *options, struct slow **ret_slow);

/* Ends the thread, and waits for that; no call is reported then. Call without the recorder's locks */
void slow_stop(struct slow *slow);

/* 0: nothing is slow any more. */
void slow_set_threshold(struct slow *slow, uint64_t threshold_ns, uint64_t threshold_cycles);

/* Reports the calls that have ended (options.report). Threads: any, without the recorder's locks */
void slow_report(struct slow *slow);

/* The functions of aggstats/slow.h, for a recorder that has a watcher. */
void slow_begin(struct slow *slow);
void slow_end(struct slow *slow, const struct aggstats_span *span, unsigned op, const struct aggstats_call *call,
              const char *function);

#endif
