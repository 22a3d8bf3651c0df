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
#define AGGSTATS_SHARED_THREADS_MAX 65536U

struct aggstats_recorder;

struct aggstats_recorder_options {
    const char *const *op_names;         /* names without the OP_ prefix; copied */
    unsigned op_count;                   /* 1..AGGSTATS_OPS_MAX */
    unsigned resolution;                 /* 1, 2, 4 or 8 */
    struct aggstats_clock clock;         /* zeroed: detected */
    const struct aggstats_label *labels; /* header lines of every snapshot, in this order; copied */
    size_t label_count;
    const char *live_path;   /* counters live in this new file (mode 0600), so that they outlive the process;
                              * NULL: in anonymous memory */
    uint64_t shared_threads; /* so many threads of other processes, at one time, may count in the live file too
                              * (shared.h), 1..AGGSTATS_SHARED_THREADS_MAX; 0: it is not shared */
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
 * Fork:    in a child the recorder starts anew: empty, running, in private memory, without a live file, intervals,
 *          joint profiles and groups. Calls that the forking thread has in progress go on in both processes. A child
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
 * Signals: a handler may call aggstats_begin(), aggstats_end(), aggstats_end_with(), aggstats_count() and
 * aggstats_joint_add(), also while the thread that it interrupts is in one of them, in the recorder that this thread is
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

/* ---- Calls of other threads ----
 *
 * A call that one thread or process begins and another ends, and of which a third is told, counts in a lane: one call
 * at a time, as those of a thread do. Calls in flight, and slow ones, are seen there as elsewhere. */

/* Owner: the recorder; it stays. NULL: no memory is left. Fork: a child must not use it. Threads: any */
struct aggstats_block *aggstats_lane_create(struct aggstats_recorder *recorder);

/* Counts a call that has begun. thread: the number of the thread that works on it, as gettid(2) gives it. Ended by
 * aggstats_end_at(), whatever thread calls that.
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

/* The call of a lane is as though it had not begun: nobody will be told of its end.
 * Threads: as aggstats_lane_begin() */
static inline void aggstats_lane_forget(const struct aggstats_span *span) {
    aggstats_add(&span->counters->calls, UINT64_MAX); /* one less */
    __atomic_store_n(&span->block->current_start_cycles, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&span->block->current_op, 0, __ATOMIC_RELEASE);
}

/* Calls that somebody else has timed and counted. */
struct aggstats_counted {
    const uint64_t *buckets; /* [64 * resolution], as the recorder's */
    uint64_t total_cycles;   /* of their latencies */
    uint64_t clamped;        /* how many of bucket 0 were negative differences */
    uint64_t seen_cycles;    /* when all of them had ended, as aggstats_clock_now() tells it */
};

/* Adds them. Which was the longest is not known: so nothing is noted of that. Threads: as aggstats_lane_begin() */
void aggstats_lane_count(const struct aggstats_recorder *recorder, struct aggstats_block *lane, unsigned op,
                         const struct aggstats_counted *counted);

/* So many calls were not counted: until the next reset snapshots, and the live file, say that they are incomplete.
 * While paused it does nothing.
 * Threads: any */
void aggstats_recorder_add_lost(struct aggstats_recorder *recorder, uint64_t calls);

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
 * calls in flight, and its label "end" says when it ended. Of calls that were just ending, bytes, failure, joint
 * profile and group may be in a later window.
 * Until save() has returned snapshots still show it. Pauses, intervals and joint profiles may change meanwhile, and
 * after a reset meanwhile the reset counts. Intervals that ended meanwhile are one in the new window.
 * Errors:  what save() returned, -EBUSY a rotation is under way, and those of aggstats_recorder_snapshot(); nothing
 *          has changed then
 * Threads: any; save() is called without locks */
int aggstats_recorder_rotate(struct aggstats_recorder *recorder, aggstats_save_fn save, void *context);

/* ---- Numbered calls ----
 *
 * Who keeps calls one by one, beside the recorder, wants to know of each on which side of a reset it is. So it may
 * number them: the calls of a block, which is used by one thread at a time, have the numbers 0, 1, 2... While all calls
 * that end are numbered, windows begin and end between two of a block, and who asks is told between which. */

/* Before aggstats_end() of a call. Returns its number in span->block. */
static inline uint64_t aggstats_number_begin(const struct aggstats_span *span) {
    uint64_t turns = span->block->turns;
    __atomic_store_n(&span->block->turns, turns + 1, __ATOMIC_RELEASE); /* before what aggstats_end() adds */
    return turns / 2;
}

/* After it, and after all that is done for the call: what a side of a reset is to hold is there. */
static inline void aggstats_number_end(const struct aggstats_span *span, uint64_t number) {
    __atomic_store_n(&span->block->turns, 2 * number + 2, __ATOMIC_RELEASE);
}

/* In place of that: the call gets no number, the next call gets this one. */
static inline void aggstats_number_cancel(const struct aggstats_span *span, uint64_t number) {
    __atomic_store_n(&span->block->turns, 2 * number, __ATOMIC_RELEASE);
}

/* How far a block's calls are numbered. */
struct aggstats_numbered {
    const struct aggstats_block *block;
    uint64_t count;  /* calls with smaller numbers are before the change, the others after it */
    bool is_inexact; /* a call was being counted all the time: it may be on the other side */
};

enum aggstats_change {
    AGGSTATS_CHANGE_RESET,
    AGGSTATS_CHANGE_PAUSE, /* also if it was paused, and the next if it was running */
    AGGSTATS_CHANGE_RESUME,
    AGGSTATS_CHANGE_ROTATE,      /* the window ends here if the profile is saved: then one of the next two follows */
    AGGSTATS_CHANGE_ROTATED,     /* it was: the window begins where that one was; no blocks */
    AGGSTATS_CHANGE_NOT_ROTATED, /* it was not, or a reset came between; no blocks */
};

struct aggstats_changed {
    enum aggstats_change change;
    uint64_t cycles; /* when, as the window knows it */
    int64_t realtime_ns;
    const struct aggstats_numbered *blocks; /* those that have numbered calls */
    size_t block_count;
};

/* Is told of a change of window, while none other can happen; must not use the recorder, and be quick. */
typedef void (*aggstats_changed_fn)(void *context, const struct aggstats_changed *changed);

/* changed: NULL: tells nobody any more. Threads: any */
void aggstats_recorder_tell_changes(struct aggstats_recorder *recorder, aggstats_changed_fn changed, void *context);

/* ---- Intervals, joint profiles, groups ---- */

/* From now on snapshots tell how much of the time calls were in flight (struct aggstats_busy), and so does the live
 * file: a thread looks a hundred times a second, and while there are no calls once in some seconds. They tell stolen
 * time too, which it reads once a second, or as rarely.
 * Errors:  -EBUSY somebody looks already, -ENOMEM, those of starting a thread
 * Threads: before any thread counts */
int aggstats_recorder_watch(struct aggstats_recorder *recorder);

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

/* Relates the latencies of op to values, a set of bits (1 << AGGSTATS_SIZE), from now on; those left out are not any
 * more. Profiles then have a joint profile for each, of the calls that were given to aggstats_joint_add().
 * Memory:  for each value that was ever asked for 32 * rows * 64 * resolution bytes, 135 KB at resolution 1
 * Errors:  -EINVAL, -ENOMEM; nothing has changed then
 * Threads: any; one at a time */
int aggstats_recorder_set_joint(struct aggstats_recorder *recorder, unsigned op, unsigned values);

/* Counts a call that has ended, whose latency aggstats_end() gave, with the value's number. Nothing if it is not asked
 * for.
 * Threads: any. Not on the hot path of those that ask for none: it takes atomic operations */
void aggstats_joint_add(struct aggstats_recorder *recorder, unsigned op, enum aggstats_value value, uint64_t number,
                        uint64_t latency_cycles);

/* Which group a caller belongs to. */
struct aggstats_identity {
    uint64_t id;                         /* the group's number, such as a process's */
    uint64_t instance;                   /* tells two apart that had the same number one after the other */
    char name[AGGSTATS_GROUP_NAME_SIZE]; /* "": not known */
};

/* Finds out who a caller is: whatever its grouping; where groups have names only, id and instance do not count. False:
 * it cannot be known any more. */
typedef bool (*aggstats_identify_fn)(void *context, uint32_t caller, struct aggstats_identity *ret_identity);

/* Finds out the path of what a call works on. False: it is not known well; ret_name is what is shown until it is: what
 * it may be, or the reason, in parentheses. may_wait: false: by who takes a snapshot, which waits for nothing that
 * calls may wait for
 * Threads: any, several at a time */
typedef bool (*aggstats_name_fn)(void *context, uint64_t object, bool may_wait,
                                 char ret_name[AGGSTATS_GROUP_NAME_SIZE]);

/* Tells which object counts a call that works on another, such as the directory of a file. 0: it is not known.
 * Threads: any, one at a time; on the way of calls now and then, so that it must neither wait nor record */
typedef uint64_t (*aggstats_place_fn)(void *context, uint64_t object);

#define AGGSTATS_GROUPS_DEFAULT 256U
#define AGGSTATS_GROUPS_MIN 2U
#define AGGSTATS_GROUPS_MAX 4096U

struct aggstats_grouping_options {
    enum aggstats_grouping grouping;
    unsigned groups_max;           /* 0: AGGSTATS_GROUPS_DEFAULT */
    aggstats_identify_fn identify; /* called by a thread of the recorder's own, early and then ever more rarely, at last
                                    * each second while there are calls; NULL: a caller's number is its group's */
    void *context;
    aggstats_identify_fn identify_first; /* called by the thread that records a caller's first call, so that it must not
                                          * wait for others; instance does not count. At most 10,000 times a second. The
                                          * same, with the same context, in all groupings that have it; NULL: nobody is
                                          * asked then */
    aggstats_name_fn name_object;        /* for files and directories, in place of the other two: called by a thread of
                                          * the recorder's own, early and then ever more rarely, at last each second
                                          * while there are calls, and by who takes a snapshot, who waits for that
                                          * thread for a fifth of a second at most */
    aggstats_place_fn place_of;          /* for directories */
};

/* As aggstats_recorder_create_sized(). */
int aggstats_recorder_group_sized(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options,
                                  size_t options_bytes);

/* From now on snapshots have a profile for each group of calls too, made of the calls that are given to
 * aggstats_group_add(). Of more than groups_max those that have called least recently are added up as one; of files
 * and directories those that have taken the least time (heavy.h), so that snapshots say how much more of it each may
 * have taken. The
 * live file has none. Each grouping may be asked for once; they do not know of each other.
 * Memory:  a group's counters of each op that it has called, 528 bytes at resolution 1; 32 KB for each thread
 * Errors:  -EINVAL, -EBUSY grouped so already, -ENOMEM, those of starting a thread
 * Threads: before any thread counts */
static inline int aggstats_recorder_group(struct aggstats_recorder *recorder,
                                          const struct aggstats_grouping_options *options) {
    return aggstats_recorder_group_sized(recorder, options, sizeof(*options));
}

/* Whose a call is. */
struct aggstats_call_of {
    uint32_t thread; /* its number; 0: nobody's but the kernel's own, whose calls are a group of their own */
    uint32_t uid;    /* 0 without a thread: the kernel's own */
    uint64_t object; /* what it works on: as for aggstats_begin(). One number for one file, for good; 0: nothing */
};

/* Counts a call that has ended, whose latency aggstats_end() gave, in all groupings. Nothing if the recorder is not
 * grouped.
 * Threads: any. No lock, no atomic read-modify-write and no system call, but for a caller that this thread has not met
 *          lately, who may be asked for (identify_first), and when 1024 calls wait to be sorted
 * Signals: not in a handler */
void aggstats_group_add(struct aggstats_recorder *recorder, unsigned op, const struct aggstats_call_of *of,
                        uint64_t latency_cycles);

AGGSTATS_END_DECLARATIONS

#endif
