/* libaggstats, inside this project: calls of which only the result shows whether they count, such as opening a file.
 *
 * While such a call lasts, its thread's block names it, so that a reader of the live file sees that something is in
 * flight. It is not among the calls in flight of a profile, because it may turn out not to count. */
#ifndef AGGSTATS_WATCHED_H
#define AGGSTATS_WATCHED_H

#include "aggstats/shared.h"

/* Beside the op in a block's current_op. Readers take it for no op. */
#define AGGSTATS_WATCHED (UINT64_C(1) << 32)

/* 1 << op of a block's current_op, whether the call turns out to count or not; 0: none is in flight. */
static inline uint64_t aggstats_watched_bit(uint64_t current_op) {
    const uint64_t number = current_op & ~AGGSTATS_WATCHED;
    return number > 0 && number <= AGGSTATS_OPS_MAX ? UINT64_C(1) << (number - 1) : 0;
}

/* For a recorder of aggstats_recorder_join(). Ends with one of the two below, in the same thread; other calls of the
 * thread may come between, as in a signal handler. Call as aggstats_begin() */
static AGGSTATS_ALWAYS_INLINE struct aggstats_span aggstats_watch(struct aggstats_recorder *recorder, unsigned op,
                                                                  uint64_t pid) {
    const struct aggstats_place place = aggstats_shared_place(recorder, op);
    __atomic_store_n(&place.block->current_object, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&place.block->current_pid, pid, __ATOMIC_RELAXED);
    __atomic_store_n(&place.block->current_op, ((uint64_t)op + 1) | AGGSTATS_WATCHED, __ATOMIC_RELEASE);
    return (struct aggstats_span){place.block, place.counters, aggstats_clock_now(aggstats_hot(recorder)->clock_kind)};
}

/* The call has ended at a time that aggstats_clock_now() returned, and counts. op: as above. object: as for
 * aggstats_shared_begin(). Returns its latency, in cycles. */
static AGGSTATS_ALWAYS_INLINE uint64_t aggstats_watched_count(struct aggstats_recorder *recorder, unsigned op,
                                                              const struct aggstats_span *span, uint64_t object,
                                                              uint64_t end_cycles,
                                                              const struct aggstats_outcome *outcome) {
    __atomic_store_n(&span->block->current_start_cycles, span->start_cycles, __ATOMIC_RELAXED);
    __atomic_store_n(&span->block->current_object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&span->block->current_op, (uint64_t)op + 1, __ATOMIC_RELEASE);
    aggstats_add(&span->counters->calls, 1);
    return aggstats_end_at(recorder, span, end_cycles, outcome);
}

/* The same in a lane (aggstats/lane.h), of a call that another thread makes: until it is dropped, the thread that watches
 * slow calls looks at it. The lane does not count the call.
 * Threads: one at a time in a lane */
static AGGSTATS_ALWAYS_INLINE struct aggstats_span aggstats_lane_watch(struct aggstats_block *lane, unsigned op,
                                                                       uint64_t thread, uint64_t start_cycles) {
    __atomic_store_n(&lane->current_start_cycles, start_cycles, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->current_object, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->thread, thread, __ATOMIC_RELAXED);
    __atomic_store_n(&lane->current_op, ((uint64_t)op + 1) | AGGSTATS_WATCHED, __ATOMIC_RELEASE);
    return (struct aggstats_span){lane, NULL, start_cycles};
}

/* It does not count. */
static AGGSTATS_ALWAYS_INLINE void aggstats_watched_drop(const struct aggstats_span *span) {
    __atomic_store_n(&span->block->current_op, 0, __ATOMIC_RELEASE);
}

#endif
