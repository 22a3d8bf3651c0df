/* Private: the thread that looks at calls in flight for what they wait for. */
#ifndef SLOW_WATCHER_H
#define SLOW_WATCHER_H

#include <pthread.h>
#include <semaphore.h>

#include "probe.h"
#include "slow_reports.h"
#include "slow_store.h"
#include "threads.h"

#define SLOW_PARTS_MAX 8

/* A call that is, or may become, slow. */
struct slow_pending {
    const struct aggstats_block *block; /* of its thread; NULL: this place is free */
    uint64_t start_cycles;
    uint64_t age_cycles; /* at the last look */
    uint64_t memory[2];  /* of who finds causes */
    struct slow_part parts[SLOW_PARTS_MAX];
    size_t part_count;
    struct slow_part *last; /* among them; NULL: nobody has looked */
};

struct slow {
    struct probe probe; /* first */
    struct aggstats_slow_options options;
    const struct threads *threads;
    struct slow_store *store; /* in the live file */
    uint64_t *seen_cycles;    /* there, too: the last moment at which it is known to have lived; atomic */
    uint32_t clock_kind;
    pthread_t thread;
    sem_t wake;
    bool is_asleep; /* atomic, as the next two */
    bool stop;
    uint64_t threshold_ns;
    bool paused;                                  /* under the lock, as what follows: calls that end are not counted */
    pthread_mutex_t lock;                         /* taken last */
    struct slow_pending pendings[SLOW_WAITS_MAX]; /* their places are those of the store's waits */
    struct slow_reports reports;
    pthread_mutex_t report_lock;                /* one at a time reports, so in order; taken before the other */
    const char (*op_names)[AGGSTATS_NAME_SIZE]; /* borrowed */
    unsigned op_count;
};

/* What it looks at, and where it is counted; all borrowed. */
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

/* Ends it, and waits for that; nobody is told of calls then. Call without the recorder's locks */
void slow_stop(struct slow *slow);

/* 0: nothing is slow any more. */
void slow_set_threshold(struct slow *slow, uint64_t threshold_ns, uint64_t threshold_cycles);

/* Hands over what has ended (options.report). Threads: any, without the recorder's locks */
void slow_report(struct slow *slow);

/* Those of aggstats/slow.h, once it is known that there is one. */
void slow_begin(struct slow *slow);
void slow_end(struct slow *slow, const struct aggstats_span *span, const struct aggstats_ended_call *call);

#endif
