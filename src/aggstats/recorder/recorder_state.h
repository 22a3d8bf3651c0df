/* Private: the recorder behind aggstats.h. */
#ifndef RECORDER_STATE_H
#define RECORDER_STATE_H

#include <pthread.h>

#include "aggstats/numbered.h"
#include "clock_pair.h"
#include "probe.h"
#include "shared_part.h"
#include "thread_block.h"
#include "threads.h"

/* A rotation while its profile is being saved. */
struct rotation {
    struct aggstats_profile profile;
    struct window_span span;
    uint64_t lost; /* its calls that were not counted */
};

struct aggstats_recorder {
    struct recorder_front front; /* must be first: aggstats_hot() */
    struct layout layout;
    char (*op_names)[AGGSTATS_NAME_SIZE];
    struct aggstats_label *labels;
    size_t label_count;

    struct aggstats_clock clock;
    bool clock_measured; /* a longer measurement can improve its frequency */
    struct clock_pair created;

    struct live live;
    struct threads threads;
    struct shared_part shared;          /* of a shared file, like the next three; never changes */
    uint64_t broken_threads;            /* whose counters could not be used when they were last read; atomic */
    uint32_t own_notes[AGGSTATS_NOTES]; /* atomic */
    unsigned own_named_count;
    pthread_mutex_t probes_lock;      /* taken first, to make or change a probe that needs it */
    pthread_mutex_t window_lock;      /* held to change the window, or to read counters together with it */
    struct probe *probes[PROBES_MAX]; /* by place; atomic; NULL: not attached */
    struct rotation *rotation;        /* under the window lock; NULL: none, or a reset came in between */
    aggstats_changed_fn changed;      /* under the window lock, like the next; NULL: nobody is notified */
    void *changed_context;
};

/* Sums up the blocks of all threads, of all processes that share the live file.
 * takes_longest: resets the blocks' longest calls too
 * Errors:  as tally_add_block() */
int recorder_tally(struct aggstats_recorder *recorder, bool takes_longest, struct tally *tally);

/* The probe at a place; NULL: there is none in this process. */
static inline struct probe *recorder_probe(const struct aggstats_recorder *recorder, unsigned place) {
    struct probe *probe = __atomic_load_n(&recorder->probes[place], __ATOMIC_ACQUIRE);
    return probe && !probe->is_left ? probe : NULL;
}

/* Calls an op of each probe in this process. */
#define RECORDER_PROBES_DO(recorder, op)                                                                               \
    do {                                                                                                               \
        for (unsigned place_ = 0; place_ < PROBES_MAX; place_++) {                                                     \
            struct probe *probe_ = recorder_probe(recorder, place_);                                                   \
            if (probe_ && probe_->ops->op)                                                                             \
                probe_->ops->op(probe_);                                                                               \
        }                                                                                                              \
    } while (0)

/* Puts a probe in its place, and returns the previous one, even if it has left: the caller destroys it. NULL: removes
 * it. The probe is paused if the recorder is. Takes the window lock */
struct probe *recorder_attach(struct aggstats_recorder *recorder, unsigned place, struct probe *probe);

/* Ends the sleep of the thread that watches calls in flight. Returns false if it did not sleep, or another thread has
 * ended that.
 * Threads: any */
static inline bool recorder_end_sleep(struct aggstats_recorder *recorder) {
    uint64_t asleep = AGGSTATS_ASLEEP;
    return __atomic_compare_exchange_n(&recorder->front.hot.id, &asleep, recorder->front.id, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* A call is about to begin: ends that sleep.
 * Signals: may be called in handlers.
 * Threads: any */
static inline void recorder_wake(struct aggstats_recorder *recorder) {
    if (recorder_end_sleep(recorder))
        RECORDER_PROBES_DO(recorder, wake);
}

#endif
