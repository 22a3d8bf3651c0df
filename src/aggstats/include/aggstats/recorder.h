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
    const char *live_path; /* a new file (mode 0600) for the counters, which outlives the process; NULL: none */
};

/* Called by aggstats_recorder_create(), which passes the version and size that its caller was compiled with. */
int aggstats_recorder_create_sized(unsigned abi, const struct aggstats_recorder_options *options, size_t options_bytes,
                                   struct aggstats_recorder **ret_recorder);

/* Starts recording.
 * Names:   letters, digits, '_', '-' and '.', each once. A label's key must not be one that osprof(5) defines itself
 * Errors:  -EPROTO compiled for another library (abi.h), -EINVAL (options), -E2BIG (labels of more than 1 MiB),
 *          -ENOMEM, -EEXIST and other errors of creating the live file; no file is left behind
 * Fork:    in a child the recorder starts anew: empty, running, in private memory, without a live file, and without
 *          intervals. Calls that the forking thread has in progress go on in both processes. A child of vfork() counts
 *          as its parent. A child of _Fork() or clone() itself may call aggstats_begin() and aggstats_end(), which
 *          count nothing, and no other function; nor may it end calls in progress */
static inline int aggstats_recorder_create(const struct aggstats_recorder_options *options,
                                           struct aggstats_recorder **ret_recorder) {
    return aggstats_recorder_create_sized(AGGSTATS_ABI, options, sizeof(*options), ret_recorder);
}

/* Frees the recorder; its live file stays unless removed by aggstats_recorder_unlink_live(). NULL is fine.
 * Threads: no thread may be between begin and end, or begin again; threads that used the recorder may still run and
 *          exit later. */
void aggstats_recorder_destroy(struct aggstats_recorder *recorder);

/* Removes the live file, once its counts are safe elsewhere. Returns 0 if there is none, as in a child. */
int aggstats_recorder_unlink_live(struct aggstats_recorder *recorder);

/* Path of the live file as given, also after it was removed; NULL if there is none, as in a child.
 * Owner:   the recorder. */
const char *aggstats_recorder_live_path(const struct aggstats_recorder *recorder);

/* False if some counters had to be kept outside the live file (its file system was full). */
bool aggstats_recorder_live_complete(const struct aggstats_recorder *recorder);

/* The clock in use, with the most exact frequency known so far. */
struct aggstats_clock aggstats_recorder_clock(const struct aggstats_recorder *recorder);

/* ---- Counting ----
 *
 * Signals: a handler may call aggstats_begin(), aggstats_end() and aggstats_end_with(), even if the thread that it
 *          interrupts is in one of them, in the recorder that this thread is using: each call is counted once. A
 *          thread's first call may be in a handler, if at most 30 keys were made (pthread_key_create(3)) before the
 *          first recorder: with more of them the C library allocates memory. A handler must not use another recorder
 *          than the thread it interrupts, nor any other function of the library. */

/* A call in progress: filled by begin, used by end; on the caller's stack. */
struct aggstats_span {
    struct aggstats_block *block;
    struct aggstats_counters *counters;
    uint64_t start_cycles;
};

/* For aggstats_begin(). */
static AGGSTATS_ALWAYS_INLINE struct aggstats_span aggstats_begin_in(struct aggstats_recorder *recorder,
                                                                     struct aggstats_place place, unsigned op,
                                                                     uint64_t object, uint64_t pid) {
    struct aggstats_block *block = place.block;
    __atomic_store_n(&block->current_start_cycles, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_pid, pid, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_op, (uint64_t)op + 1, __ATOMIC_RELEASE);
    aggstats_add(&place.counters->calls, 1);
    uint64_t start_cycles = aggstats_clock_now(aggstats_hot(recorder)->clock_kind);
    __atomic_store_n(&block->current_start_cycles, start_cycles, __ATOMIC_RELAXED);
    struct aggstats_span span = {block, place.counters, start_cycles};
    return span;
}

/* Counts a call of op and starts its clock. object and pid only serve to list calls in flight. */
static AGGSTATS_ALWAYS_INLINE struct aggstats_span aggstats_begin(struct aggstats_recorder *recorder, unsigned op,
                                                                  uint64_t object, uint64_t pid) {
    return aggstats_begin_in(recorder, aggstats_place_of(recorder, op), op, object, pid);
}

/* Notes that a call took longer than any before in its thread; for aggstats_end_with(). Takes members of the span, so
 * that the span can stay in registers. */
void aggstats_note_longest(const struct aggstats_block *block, struct aggstats_counters *counters, unsigned resolution,
                           uint64_t latency_cycles);

/* The outcome of a call; zeroed: nothing to count. */
struct aggstats_outcome {
    int error;      /* errno value of a call that failed; 0: success */
    bool has_bytes; /* the next two count, also if the call failed: */
    uint64_t asked_bytes;
    uint64_t moved_bytes;
};

/* Ends a call at a time that aggstats_clock_now() returned. Returns its latency, in cycles. */
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

/* Ends the call that begin started, in the same thread, and counts its outcome. Returns its latency, in cycles. */
static AGGSTATS_ALWAYS_INLINE uint64_t aggstats_end_with(struct aggstats_recorder *recorder,
                                                         const struct aggstats_span *span,
                                                         const struct aggstats_outcome *outcome) {
    return aggstats_end_at(recorder, span, aggstats_clock_now(aggstats_hot(recorder)->clock_kind), outcome);
}

/* The same for a call that succeeded, or whose outcome is not counted, and that moved no bytes. */
static inline uint64_t aggstats_end(struct aggstats_recorder *recorder, const struct aggstats_span *span) {
    const struct aggstats_outcome none = {0, false, 0, 0};
    return aggstats_end_with(recorder, span, &none);
}

/* ---- Reading ---- */

/* What the recorder has seen since its start or last reset. Ops never called are left out.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -ENOMEM, -EBADMSG another program has written into the counters; *ret_profile untouched
 * Threads: any, while others record; calls >= sum(buckets) >= failures always. If a call is just ending, its latency
 *          may be in the total, and be the longest, before it is in a bucket; its bytes and failure may be missing
 *          then */
int aggstats_recorder_snapshot(struct aggstats_recorder *recorder, struct aggstats_profile *ret_profile);

/* reset: from now on snapshots show only later calls. That is a new window. A call belongs to the window in which it
 * ends: calls in flight are in flight in the new one. pause freezes what snapshots show. resume goes on as if the pause
 * had not been: calls that end in a pause are not counted, and while paused no call is shown in flight. Pausing while
 * paused, or resuming while running, changes nothing. After a reset while paused the recorder is paused, and empty.
 * Each window has its own longest calls. A call that ends at the very moment of the change may be missed as the
 * longest; if it is alone in the last non-empty bucket, only the bucket of the longest call is known.
 * Errors:  as aggstats_recorder_snapshot(); nothing has changed then
 * Threads: any */
int aggstats_recorder_reset(struct aggstats_recorder *recorder);
int aggstats_recorder_pause(struct aggstats_recorder *recorder);
int aggstats_recorder_resume(struct aggstats_recorder *recorder);

/* Saves a profile. Returns 0 if it is safe; any other value is returned by the calling function. May use the recorder,
 * but neither rotate nor destroy it. */
typedef int (*aggstats_save_fn)(void *context, const struct aggstats_profile *profile);

/* Rotates: saves the profile of the time since the start, the latest reset or the latest rotation. If save() succeeds,
 * a new window begins at the end of the saved profile, and each call belongs to the window in which it ends. So the
 * saved profile has no calls in flight; its label "end" is the time of its end. Bytes and failures of calls that were
 * just ending may be in a later window. Until save() has returned, snapshots still include the saved profile. Meanwhile
 * the recorder may be paused and resumed, and intervals begin and end. After a reset meanwhile nothing is subtracted.
 * Intervals that ended meanwhile are merged into one interval of the new window.
 * Errors:  the result of save(), -EBUSY a rotation is under way, and those of aggstats_recorder_snapshot(); nothing has
 *          changed then
 * Threads: any; save() is called without locks */
int aggstats_recorder_rotate(struct aggstats_recorder *recorder, aggstats_save_fn save, void *context);

/* ---- Intervals ---- */

#define AGGSTATS_INTERVAL_MIN_NS 10000000U                /* 10 ms */
#define AGGSTATS_INTERVAL_MAX_NS UINT64_C(86400000000000) /* a day */
#define AGGSTATS_INTERVALS_DEFAULT 1024U
#define AGGSTATS_INTERVALS_MAX (1U << 20)

/* From now on snapshots are sampled profiles: cut into intervals of about that length, by a thread of the recorder. The
 * first one reaches back to the beginning of the window; a reset begins anew. When there are intervals_max, every two
 * neighbours are merged, and intervals are twice as long from then on. The live file has none.
 * interval_ns: AGGSTATS_INTERVAL_MIN_NS to AGGSTATS_INTERVAL_MAX_NS; 0: stops, and drops the intervals so far
 * intervals_max: an even number from 2 to AGGSTATS_INTERVALS_MAX; 0: AGGSTATS_INTERVALS_DEFAULT
 * Memory:  16 bytes for each bucket of each op that got a call in an interval
 * Errors:  -EINVAL, -ENOMEM, those of starting a thread; nothing has changed then
 * Threads: any but one that samples; hot paths do not change */
int aggstats_recorder_set_interval(struct aggstats_recorder *recorder, uint64_t interval_ns, size_t intervals_max);

AGGSTATS_END_DECLARATIONS

#endif
