/* libaggstats, inside this project: calls of which only the result shows whether they count, such as opening a file.
 *
 * While such a call lasts, its thread's block names it, so that a reader of the live file sees that something is in
 * flight. It is not among the calls in flight of a profile, because it may turn out not to count. */
#ifndef AGGSTATS_WATCHED_H
#define AGGSTATS_WATCHED_H

#include "aggstats/recorder.h"

/* Beside the op in a block's current_op. Readers take it for no op. */
#define AGGSTATS_WATCHED (UINT64_C(1) << 32)

/* Ends with one of the two below, in the same thread; other calls of the thread may come between, as in a signal
 * handler. Call as aggstats_begin() */
static AGGSTATS_ALWAYS_INLINE struct aggstats_span aggstats_watch(struct aggstats_recorder *recorder, unsigned op,
                                                                  uint64_t pid) {
    const struct aggstats_recorder_hot *hot = aggstats_hot(recorder);
    struct aggstats_block *block = __builtin_expect(aggstats_thread_cache.recorder_id == aggstats_id(hot), 1)
                                       ? aggstats_thread_cache.block
                                       : aggstats_thread_block_slow(recorder);
    __atomic_store_n(&block->current_object, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_pid, pid, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_op, ((uint64_t)op + 1) | AGGSTATS_WATCHED, __ATOMIC_RELEASE);
    struct aggstats_counters *counters =
        (struct aggstats_counters *)(void *)(block->counters + (size_t)op * hot->counters_stride_bytes);
    struct aggstats_span span = {block, counters, aggstats_clock_now(hot->clock_kind)};
    return span;
}

/* The call has ended at a time that aggstats_clock_now() returned, and counts. op: as above. Returns its latency, in
 * cycles. */
static AGGSTATS_ALWAYS_INLINE uint64_t aggstats_watched_count(struct aggstats_recorder *recorder, unsigned op,
                                                              const struct aggstats_span *span, uint64_t end_cycles,
                                                              const struct aggstats_outcome *outcome) {
    __atomic_store_n(&span->block->current_start_cycles, span->start_cycles, __ATOMIC_RELAXED);
    __atomic_store_n(&span->block->current_op, (uint64_t)op + 1, __ATOMIC_RELEASE);
    aggstats_add(&span->counters->calls, 1);
    return aggstats_end_at(recorder, span, end_cycles, outcome);
}

/* It does not count. */
static AGGSTATS_ALWAYS_INLINE void aggstats_watched_drop(const struct aggstats_span *span) {
    __atomic_store_n(&span->block->current_op, 0, __ATOMIC_RELEASE);
}

#endif
