/* libaggstats, inside this project: calls of other threads.
 *
 * An observing process counts calls of other processes in lanes. Such a call may begin in one thread and end in another
 * thread. Like a thread's block, a lane has one call at a time. Calls in flight, and slow calls, are shown as usual. */
#ifndef AGGSTATS_LANE_H
#define AGGSTATS_LANE_H

#include "aggstats/recorder.h"

/* Owner: the recorder; it stays. NULL: no memory is left. Fork: a child must not use it. Threads: any */
struct aggstats_block *aggstats_lane_create(struct aggstats_recorder *recorder);

/* Counts a call that has begun. thread: the number of the thread that works on it, as of gettid(2). End it with
 * aggstats_end_at(), in any thread.
 * Threads: one at a time in a lane, and of the same memory */
static inline struct aggstats_span aggstats_lane_begin(struct aggstats_recorder *recorder, struct aggstats_block *lane,
                                                       unsigned op, uint64_t object, uint64_t pid, uint64_t thread,
                                                       uint64_t start_cycles) {
    const struct aggstats_recorder_hot *hot = aggstats_hot(recorder);
    struct aggstats_counters *counters =
        (struct aggstats_counters *)(void *)(lane->counters + (size_t)op * hot->counters_stride_bytes);
    if (__builtin_expect(aggstats_id(hot) == AGGSTATS_ASLEEP, 0))
        aggstats_wake(recorder);
    __atomic_store_n(&lane->current_start_cycles, start_cycles, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->current_object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->current_pid, pid, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->thread, thread, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->current_op, (uint64_t)op + 1, __ATOMIC_RELEASE);
    aggstats_add(&counters->calls, 1);
    const struct aggstats_span span = {lane, counters, start_cycles};
    return span;
}

/* Undoes the beginning of a lane's call whose end will never be seen.
 * Threads: as aggstats_lane_begin() */
static inline void aggstats_lane_forget(const struct aggstats_span *span) {
    aggstats_add(&span->counters->calls, UINT64_MAX); /* one less */
    __atomic_store_n(&span->block->current_start_cycles, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&span->block->current_op, 0, __ATOMIC_RELEASE);
}

/* Calls that another program has timed and counted. */
struct aggstats_counted {
    const uint64_t *buckets; /* [64 * resolution], of the recorder's resolution */
    uint64_t total_cycles;   /* of their latencies */
    uint64_t longest_cycles; /* 0: unknown */
    uint64_t asked_bytes;
    uint64_t moved_bytes;
    const uint64_t *failures; /* [AGGSTATS_FAILURES]; NULL: none are counted */
    uint64_t clamped;         /* negative differences among those in bucket 0 */
    uint64_t seen_cycles;     /* a time of aggstats_clock_now(), after the end of all these calls */
};

/* Adds them. Threads: as aggstats_lane_begin() */
void aggstats_lane_count(const struct aggstats_recorder *recorder, struct aggstats_block *lane, unsigned op,
                         const struct aggstats_counted *counted);

/* That many calls were not counted: until the next reset, snapshots and the live file say that they are incomplete.
 * While paused it does nothing.
 * Threads: any */
void aggstats_recorder_add_lost(struct aggstats_recorder *recorder, uint64_t calls);

#endif
