/* Private: the recorder behind aggstats.h. */
#ifndef RECORDER_H
#define RECORDER_H

#include <pthread.h>

#include "clock.h"
#include "grouping.h"
#include "joint.h"
#include "sampler.h"
#include "slow.h"
#include "thread_block.h"
#include "threads.h"
#include "timeline.h"

/* A rotation while its profile is being saved. */
struct rotation {
    struct aggstats_profile profile;
    struct window_span span;
    uint64_t lost; /* calls of it that were not counted */
};

/* What the thread that looks at calls in flight remembers of its last look. */
struct watch {
    uint64_t begun;   /* changes when a call begins */
    int64_t noted_ns; /* up to when it is known whether calls were in flight; CLOCK_MONOTONIC */
    int64_t interval_ns;
    bool is_asleep; /* until a call begins, or for a few seconds */
    uint64_t chance;
    uint64_t stolen_ns; /* the machine's, when it was read last */
    int64_t stolen_read_ns;
    int64_t due_ns; /* of the next look, at the latest; CLOCK_MONOTONIC; 0: there was none yet */
    int64_t cpu_ns; /* what the process had used at the last look */
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
    pthread_mutex_t window_lock;  /* the windows, and what is read against them */
    struct joints joints;         /* changed and read under the window lock */
    struct timeline *timeline;    /* under the window lock; NULL: not sampled */
    pthread_mutex_t sampler_lock; /* taken first */
    struct sampler *sampler;      /* under its lock; NULL: not sampled */
    struct sampler *watcher;      /* set before threads count; NULL: nobody looks at calls in flight */
    struct watch watch;           /* under the window lock */
    struct slow *slow;            /* atomic; NULL: nobody looks for slow calls */
    struct grouping *grouping;    /* set before threads count; NULL: not grouped */
    struct rotation *rotation;    /* under the window lock; NULL: none, or a reset has come between */
    aggstats_changed_fn changed;  /* under the window lock, as the next; NULL: nobody wants to know */
    void *changed_context;
};

/* Those whose threads are in this process; NULL: none. */
static inline struct grouping *recorder_grouping(const struct aggstats_recorder *recorder) {
    return recorder->grouping && !recorder->grouping->is_left ? recorder->grouping : NULL;
}

/* That whose thread is in this process; NULL: none. */
static inline struct slow *recorder_slow(struct aggstats_recorder *recorder) {
    struct slow *slow = __atomic_load_n(&recorder->slow, __ATOMIC_ACQUIRE);
    return slow && !slow->is_left ? slow : NULL;
}

/* What is known of the time since the last look counts. Under the window lock */
void recorder_settle_busy(struct aggstats_recorder *recorder);

/* The sleep of the thread that looks at calls in flight is over. False: it did not sleep, or somebody has ended that.
 * Threads: any */
static inline bool recorder_end_sleep(struct aggstats_recorder *recorder) {
    uint64_t asleep = AGGSTATS_ASLEEP;
    return __atomic_compare_exchange_n(&recorder->front.hot.id, &asleep, recorder->front.id, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* A call is about to begin: wakes that thread.
 * Signals: may be called in handlers.
 * Threads: any */
static inline void recorder_wake_watcher(struct aggstats_recorder *recorder) {
    if (recorder_end_sleep(recorder))
        sampler_wake(recorder->watcher, 0);
}

/* Takes looks from those that are shown; NULL: all of them. Under the window lock */
void recorder_take_busy(struct aggstats_recorder *recorder, const struct aggstats_busy *taken);

/* Stolen time, of recorders that are watched: counts it up to now, unless it is paused; forgets so much of it. Under
 * the window lock */
void recorder_count_stolen(struct aggstats_recorder *recorder);
void recorder_take_stolen(struct aggstats_recorder *recorder, uint64_t taken_ns);

/* Takes what is in a profile away from the time in which the process did not run. Locks: the window lock is held */
void recorder_take_stopped(struct aggstats_recorder *recorder, uint64_t taken_ns);

/* Of slow calls that have ended: forgets them; counts none while paused; forgets those of a profile. Under the window
 * lock; the first two under that of slow, too, if there is one. */
void recorder_reset_slow(struct aggstats_recorder *recorder);
void recorder_pause_slow(struct aggstats_recorder *recorder, bool paused);
void recorder_take_slow(struct aggstats_recorder *recorder, const struct aggstats_profile *taken);

static inline struct timeline *recorder_timeline(const struct aggstats_recorder *recorder) {
    return recorder->sampler && recorder->sampler->is_left ? NULL : recorder->timeline;
}

#endif
