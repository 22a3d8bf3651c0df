/* Private: the recorder behind aggstats.h. */
#ifndef RECORDER_STATE_H
#define RECORDER_STATE_H

#include <pthread.h>

#include "clock_pair.h"
#include "probe.h"
#include "thread_block.h"
#include "threads.h"

/* A rotation while its profile is being saved. */
struct rotation {
    struct aggstats_profile profile;
    struct window_span span;
    uint64_t lost; /* calls of it that were not counted */
};

struct aggstats_recorder {
    struct recorder_front front; /* first: aggstats_hot() */
    struct layout layout;
    char (*op_names)[AGGSTATS_NAME_SIZE];
    struct aggstats_label *labels;
    size_t label_count;

    struct aggstats_clock clock;
    bool clock_measured; /* its frequency can be bettered by measuring longer */
    struct clock_pair created;

    struct live live;
    struct threads threads;
    pthread_mutex_t probes_lock;      /* taken first: who makes or changes probes of a kind that needs it */
    pthread_mutex_t window_lock;      /* the windows, what is read against them, and the next */
    struct probe *probes[PROBES_MAX]; /* by place; atomic; NULL: not attached */
    struct rotation *rotation;        /* under the window lock; NULL: none, or a reset has come between */
    aggstats_changed_fn changed;      /* under the window lock, as the next; NULL: nobody wants to know */
    void *changed_context;
};

/* The one at a place; NULL: there is none in this process. */
static inline struct probe *recorder_probe(const struct aggstats_recorder *recorder, unsigned place) {
    struct probe *probe = __atomic_load_n(&recorder->probes[place], __ATOMIC_ACQUIRE);
    return probe && !probe->is_left ? probe : NULL;
}

/* Has each probe in this process do that. */
#define RECORDER_PROBES_DO(recorder, op)                                                                               \
    do {                                                                                                               \
        for (unsigned place_ = 0; place_ < PROBES_MAX; place_++) {                                                     \
            struct probe *probe_ = recorder_probe(recorder, place_);                                                   \
            if (probe_ && probe_->ops->op)                                                                             \
                probe_->ops->op(probe_);                                                                               \
        }                                                                                                              \
    } while (0)

/* Puts a probe in its place, and returns the one that was there, also one that has been left: the caller destroys it.
 * NULL: none is there from now on. It is paused if the recorder is. Takes the window lock */
struct probe *recorder_attach(struct aggstats_recorder *recorder, unsigned place, struct probe *probe);

/* The sleep of who looks at calls in flight is over. False: it did not sleep, or somebody has ended that.
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
