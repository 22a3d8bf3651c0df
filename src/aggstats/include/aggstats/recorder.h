/* libaggstats: recorders, which count calls. */
#ifndef AGGSTATS_RECORDER_H
#define AGGSTATS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hot.h"
#include "profile.h"

AGGSTATS_BEGIN_DECLARATIONS

#define AGGSTATS_OPS_MAX 64 /* operations of one recorder */

struct aggstats_recorder;

struct aggstats_recorder_options {
    const char *const *op_names;         /* names without the OP_ prefix; copied */
    unsigned op_count;                   /* 1..AGGSTATS_OPS_MAX */
    unsigned resolution;                 /* 1, 2, 4 or 8 */
    struct aggstats_clock clock;         /* zeroed: detected */
    const struct aggstats_label *labels; /* header lines of every snapshot, in this order; copied */
    size_t label_count;
    const char *live_path; /* counters live in this new file (mode 0600), so that they outlive the process;
                            * NULL: in anonymous memory */
};

/* The one below, which says what its caller was compiled with. */
int aggstats_recorder_create_sized(unsigned abi, const struct aggstats_recorder_options *options, size_t options_bytes,
                                   struct aggstats_recorder **ret_recorder);

/* Starts recording.
 * Names:   letters, digits, '_', '-' and '.', each once. A label's key must not be one that the format defines
 *          itself (clock, resolution, start, elapsed, stolen, stopped, clamped, incomplete, failed, bytes, longest,
 *          in_flight, slow, cause, slow_call, waiting, interval, borders, and names of groupings)
 * Errors:  -EPROTO compiled for another library (abi.h), -EINVAL (options), -E2BIG (labels of more than 1 MiB),
 *          -ENOMEM, -EEXIST and other errors of creating the live file, none of which is left behind
 * Fork:    in a child the recorder starts anew: empty, running, in private memory, without a live file, and
 *          without intervals. Calls that the forking thread has in progress go on in both processes. A child
 *          of vfork() counts as its parent. One of _Fork() or clone() itself may call aggstats_begin() and
 *          aggstats_end(), for nothing; all else it must leave alone, also the ends of calls in progress */
static inline int aggstats_recorder_create(const struct aggstats_recorder_options *options,
                                           struct aggstats_recorder **ret_recorder) {
    return aggstats_recorder_create_sized(AGGSTATS_ABI, options, sizeof(*options), ret_recorder);
}

/* Frees the recorder; its live file stays unless removed by aggstats_recorder_unlink_live(). NULL is fine.
 * Threads: no thread may be between begin and end, or begin again; threads that used the recorder may
 *          still run and exit later. */
void aggstats_recorder_destroy(struct aggstats_recorder *recorder);

/* Removes the live file, once its counts are safe elsewhere. 0 when there is none, as in a child. */
int aggstats_recorder_unlink_live(struct aggstats_recorder *recorder);

/* Path of the live file as it was given, also after it was removed; NULL without one, so in a child.
 * Owner:   the recorder. */
const char *aggstats_recorder_live_path(const struct aggstats_recorder *recorder);

/* False if some counters had to be kept outside the live file (its file system was full). */
bool aggstats_recorder_live_complete(const struct aggstats_recorder *recorder);

/* The clock in use, its frequency as well as it is known by now. */
struct aggstats_clock aggstats_recorder_clock(const struct aggstats_recorder *recorder);

/* ---- Counting ----
 *
 * Signals: a handler may call aggstats_begin(), aggstats_end(), aggstats_end_with(), aggstats_count(),
 * also while the thread that it interrupts is in one of them, in the recorder that this thread is
 * using: each call is counted, once. A thread's first call may be in a handler, if not more than 30 keys were made
 * (pthread_key_create(3)) before the first recorder: with more of them the C library allocates memory. A handler must
 * not use another recorder than the thread it interrupts, nor any other function of the library. */

/* A call in progress: filled by begin, used by end; on the caller's stack. */
struct aggstats_span {
    struct aggstats_block *block;
    struct aggstats_counters *counters;
    uint64_t start_cycles;
};

/* Counts a call of op and starts its clock. object and pid only serve to list calls in flight. */
static AGGSTATS_ALWAYS_INLINE struct aggstats_span aggstats_begin(struct aggstats_recorder *recorder, unsigned op,
                                                                  uint64_t object, uint64_t pid) {
    const struct aggstats_recorder_hot *hot = aggstats_hot(recorder);
    struct aggstats_block *block = __builtin_expect(aggstats_thread_cache.recorder_id == aggstats_id(hot), 1)
                                       ? aggstats_thread_cache.block
                                       : aggstats_thread_block_slow(recorder);
    struct aggstats_counters *counters =
        (struct aggstats_counters *)(void *)(block->counters + (size_t)op * hot->counters_stride_bytes);
    __atomic_store_n(&block->current_start_cycles, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_pid, pid, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_op, (uint64_t)op + 1, __ATOMIC_RELEASE);
    aggstats_add(&counters->calls, 1);
    uint64_t start_cycles = aggstats_clock_now(hot->clock_kind);
    __atomic_store_n(&block->current_start_cycles, start_cycles, __ATOMIC_RELAXED);
    struct aggstats_span span = {block, counters, start_cycles};
    return span;
}

/* Notes that a call took longer than any before, in its thread; for aggstats_end_with(). Takes members of the span, so
 * that this needs no place in memory. */
void aggstats_note_longest(const struct aggstats_block *block, struct aggstats_counters *counters, unsigned resolution,
                           uint64_t latency_cycles);

/* What came of a call; zeroed: nothing that is counted. */
struct aggstats_outcome {
    int error;      /* errno value of a call that failed; 0: it did not */
    bool has_bytes; /* it was to move bytes, and these count, also if it failed: */
    uint64_t asked_bytes;
    uint64_t moved_bytes;
};

/* Ends a call at a moment, of which aggstats_clock_now() has told. Returns its latency, in cycles. */
static AGGSTATS_ALWAYS_INLINE uint64_t aggstats_end_at(struct aggstats_recorder *recorder,
                                                       const struct aggstats_span *span, uint64_t end_cycles,
                                                       const struct aggstats_outcome *outcome) {
    const struct aggstats_recorder_hot *hot = aggstats_hot(recorder);
    uint64_t latency_cycles = end_cycles - span->start_cycles;
    struct aggstats_counters *counters = span->counters;
    if (__builtin_expect((int64_t)latency_cycles < 0, 0)) {
        aggstats_add(&span->block->clamped, 1);
        latency_cycles = 0;
    }
    if (__builtin_expect(latency_cycles > __atomic_load_n(&counters->longest_cycles, __ATOMIC_RELAXED), 0))
        aggstats_note_longest(span->block, counters, hot->resolution, latency_cycles); /* before it is in a bucket */
    unsigned slot = __builtin_expect(hot->resolution == 1, 1)
                        ? aggstats_slot(63U - (unsigned)__builtin_clzll(latency_cycles | 1), 1)
                        : aggstats_slot(aggstats_bucket_fine(latency_cycles, hot->resolution), hot->resolution);
    aggstats_add(&counters->total_cycles, latency_cycles);
    aggstats_add(&counters->buckets[slot], 1);
    if (outcome->has_bytes) {
        aggstats_add(&aggstats_beside(counters, hot->resolution)[AGGSTATS_ASKED], outcome->asked_bytes);
        aggstats_add(&aggstats_beside(counters, hot->resolution)[AGGSTATS_MOVED], outcome->moved_bytes);
    }
    if (__builtin_expect(outcome->error != 0, 0))
        aggstats_count_failure(counters, hot->resolution, outcome->error);
    __atomic_store_n(&span->block->current_op, 0, __ATOMIC_RELEASE);
    return latency_cycles;
}

/* Ends the call that begin started, in the same thread, and counts what came of it. Returns its latency, in cycles. */
static AGGSTATS_ALWAYS_INLINE uint64_t aggstats_end_with(struct aggstats_recorder *recorder,
                                                         const struct aggstats_span *span,
                                                         const struct aggstats_outcome *outcome) {
    return aggstats_end_at(recorder, span, aggstats_clock_now(aggstats_hot(recorder)->clock_kind), outcome);
}

/* Counts a call that has ended and was not begun: whether it counts was not known before. start_cycles, end_cycles:
 * what aggstats_clock_now() said before and after it. Returns its latency, in cycles. */
static AGGSTATS_ALWAYS_INLINE uint64_t aggstats_count(struct aggstats_recorder *recorder, unsigned op,
                                                      uint64_t start_cycles, uint64_t end_cycles,
                                                      const struct aggstats_outcome *outcome) {
    const struct aggstats_recorder_hot *hot = aggstats_hot(recorder);
    struct aggstats_block *block = __builtin_expect(aggstats_thread_cache.recorder_id == aggstats_id(hot), 1)
                                       ? aggstats_thread_cache.block
                                       : aggstats_thread_block_slow(recorder);
    struct aggstats_counters *counters =
        (struct aggstats_counters *)(void *)(block->counters + (size_t)op * hot->counters_stride_bytes);
    const struct aggstats_span span = {block, counters, start_cycles};
    __atomic_store_n(&block->current_start_cycles, start_cycles, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_object, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_op, (uint64_t)op + 1, __ATOMIC_RELEASE);
    aggstats_add(&counters->calls, 1);
    return aggstats_end_at(recorder, &span, end_cycles, outcome);
}

/* The same of a call that did not fail, or of which that is not told, and that moved no bytes. */
static inline uint64_t aggstats_end(struct aggstats_recorder *recorder, const struct aggstats_span *span) {
    const struct aggstats_outcome none = {0, false, 0, 0};
    return aggstats_end_with(recorder, span, &none);
}

/* ---- Reading ---- */

/* What the recorder has seen since its start or last reset. Ops never called are left out.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -ENOMEM, -EBADMSG someone else has written into the counters; *ret_profile untouched
 * Threads: any, while others record; calls >= sum(buckets) >= failures always. A total may already hold the latency
 *          of a call that is just ending and not yet in its bucket, and be the longest; its bytes and failure may be
 * missing then */
int aggstats_recorder_snapshot(struct aggstats_recorder *recorder, struct aggstats_profile *ret_profile);

/* From now on snapshots show only what happens from here. That is a new window. A call belongs to the window in which
 * it ends: calls in flight are in flight in the new one. pause freezes what snapshots show; resume goes on as if the
 * time between had not been: what ends in a pause is not counted, and while paused nothing is shown in flight. Pausing
 * twice, or resuming what runs, changes nothing. reset while paused stays paused, and empty. Each window has its own
 * longest call; one that ends at the very moment of the change may be missing in that, and where it makes another
 * bucket the slowest, only that is known then.
 * Errors:  as aggstats_recorder_snapshot(); nothing has changed then
 * Threads: any */
int aggstats_recorder_reset(struct aggstats_recorder *recorder);
int aggstats_recorder_pause(struct aggstats_recorder *recorder);
int aggstats_recorder_resume(struct aggstats_recorder *recorder);

/* Saves a profile. 0: it is safe. Any other value is given back by who has called. May use the recorder, but neither
 * rotate nor destroy it. */
typedef int (*aggstats_save_fn)(void *context, const struct aggstats_profile *profile);

/* Saves what the recorder has seen since its start, last reset or last rotation, and if that succeeds, begins a new
 * window at the moment of that profile: each call is in one of the two, that in which it ends. So the profile has no
 * calls in flight, and its label "end" says when it ended. Of calls that were just ending, bytes and failure may be
 * in a later window.
 * Until save() has returned snapshots still show it. Pauses and intervals may change meanwhile, and after a reset
 * meanwhile the reset counts. Intervals that ended meanwhile are one in the new window.
 * Errors:  what save() returned, -EBUSY a rotation is under way, and those of aggstats_recorder_snapshot(); nothing
 *          has changed then
 * Threads: any; save() is called without locks */
int aggstats_recorder_rotate(struct aggstats_recorder *recorder, aggstats_save_fn save, void *context);

/* ---- Intervals ---- */

#define AGGSTATS_INTERVAL_MIN_NS 10000000U                /* 10 ms */
#define AGGSTATS_INTERVAL_MAX_NS UINT64_C(86400000000000) /* a day */
#define AGGSTATS_INTERVALS_DEFAULT 1024U
#define AGGSTATS_INTERVALS_MAX (1U << 20)

/* From now on snapshots are sampled profiles: cut into intervals of that length, as well as a thread of the recorder's
 * own gets to it. The first reaches back to the beginning of the window; reset begins anew. When there are
 * intervals_max, each two neighbours are merged, and intervals are twice as long from then on. The live file has none.
 * interval_ns: AGGSTATS_INTERVAL_MIN_NS to AGGSTATS_INTERVAL_MAX_NS; 0: no more, and the intervals so far are gone
 * intervals_max: an even number from 2 to AGGSTATS_INTERVALS_MAX; 0: AGGSTATS_INTERVALS_DEFAULT
 * Memory:  16 bytes for each bucket of each op that got a call in an interval
 * Errors:  -EINVAL, -ENOMEM, those of starting a thread; nothing has changed then
 * Threads: any but one that samples; hot paths do not notice */
int aggstats_recorder_set_interval(struct aggstats_recorder *recorder, uint64_t interval_ns, size_t intervals_max);

AGGSTATS_END_DECLARATIONS

#endif
