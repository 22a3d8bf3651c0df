/* libaggstats: latency distributions in logarithmic buckets, recorded by many threads at next to no cost.
 *
 * The OSprof method (thesis chapter 3): for every operation keep how many calls took 2^b..2^(b+1) clock
 * cycles. Invariants that everything else stands on:
 *   - A counter is written by one thread only, by relaxed stores, and only ever grows. No lock, no atomic
 *     read-modify-write, no allocation and no system call stands on the hot path.
 *   - A call is counted before it begins, its bucket after it ends; readers read in the opposite order.
 *     So calls - sum(buckets) is the number of calls in flight, never negative (thesis §5.8).
 *   - Reset and pause change what readers subtract, never a counter: nothing can be lost.
 *
 * Life cycle: aggstats_clock_detect, aggstats_recorder_create, any number of threads calling
 * aggstats_begin/aggstats_end, aggstats_recorder_snapshot at any time, aggstats_recorder_destroy.
 *
 * Functions return 0 or a negative errno value unless they say otherwise. The library never prints, logs
 * or exits. */
#ifndef AGGSTATS_H
#define AGGSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default) /* the library itself is compiled with hidden symbols */

#define AGGSTATS_OPS_MAX 64       /* operations of one recorder */
#define AGGSTATS_RESOLUTION_MAX 8 /* buckets per power of two */
#define AGGSTATS_BUCKETS_MAX (64U * AGGSTATS_RESOLUTION_MAX)
#define AGGSTATS_NAME_SIZE 32 /* an operation's name with its NUL */

/* ---- Clock ------------------------------------------------------------------------------------- */

enum aggstats_clock_kind {
    AGGSTATS_CLOCK_TSC = 1,       /* x86 time-stamp counter, constant and nonstop */
    AGGSTATS_CLOCK_CNTVCT = 2,    /* arm64 virtual counter */
    AGGSTATS_CLOCK_MONOTONIC = 3, /* clock_gettime(CLOCK_MONOTONIC), in nanoseconds */
};

struct aggstats_clock {
    uint32_t kind;         /* enum aggstats_clock_kind */
    uint64_t frequency_hz; /* cycles per second; 0 = not known (a parsed profile without it) */
};

/* Finds the best clock of this machine and its frequency: from the kernel where it tells, else measured
 * against CLOCK_MONOTONIC_RAW (takes some 0.6 ms, 4 at most).
 * Threads: any */
void aggstats_clock_detect(struct aggstats_clock *ret_clock);

/* The name of a clock kind as profiles write it: "tsc", "cntvct", "monotonic"; NULL for no such kind. */
const char *aggstats_clock_name(uint32_t kind);

/* The clock's value now, in cycles. */
static inline uint64_t aggstats_clock_now(uint32_t kind) {
#if defined(__x86_64__)
    if (__builtin_expect(kind == AGGSTATS_CLOCK_TSC, 1))
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(kind == AGGSTATS_CLOCK_CNTVCT, 1)) {
        uint64_t now;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
        return now;
    }
#endif
    (void)kind;
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/* ---- Buckets ----------------------------------------------------------------------------------- */

/* True for 1, 2, 4 and 8. */
bool aggstats_resolution_valid(unsigned resolution);

/* The bucket of a latency: floor(r * log2(latency)), exactly; 0 and 1 cycle fall in bucket 0.
 * Shape:   result < 64 * resolution
 * Source:  thesis eq. 3.4 */
unsigned aggstats_bucket_of(uint64_t latency_cycles, unsigned resolution);

/* Bounds of a bucket, [lower, upper) = [2^(b/r), 2^((b+1)/r)), and its mean latency (the midpoint), in cycles. */
double aggstats_bucket_lower(unsigned bucket, unsigned resolution);
double aggstats_bucket_upper(unsigned bucket, unsigned resolution);
double aggstats_bucket_mean(unsigned bucket, unsigned resolution);

/* ---- Values ------------------------------------------------------------------------------------ */

/* Values that latencies may be related to (thesis §3.1.6). */
enum aggstats_value {
    AGGSTATS_SIZE,     /* bytes asked for */
    AGGSTATS_RESULT,   /* what came of it: bytes moved, entries of a directory */
    AGGSTATS_OFFSET,   /* where in the file or directory */
    AGGSTATS_ERROR,    /* errno value, 0: none */
    AGGSTATS_PAST_EOF, /* 1: nothing was left to be read */
    AGGSTATS_BLOCKED,  /* how often the thread waited: voluntary context switches */
    AGGSTATS_CPU,      /* nanoseconds of CPU time of the thread */
    AGGSTATS_VALUE_COUNT,
};

/* As in profiles: "SIZE", "PAST_EOF"; NULL for no such value. */
const char *aggstats_value_name(unsigned value);

/* The value of that name, in letters of either case; -1: none. */
int aggstats_value_of_name(const char *name);

/* A row of a joint profile stands for one value (ERROR, PAST_EOF), or for those from its first up to twice that, 0 for
 * itself.
 * Shape:   row < aggstats_value_rows(value), at most AGGSTATS_VALUE_ROWS_MAX */
#define AGGSTATS_VALUE_ROWS_MAX 134U
unsigned aggstats_value_rows(enum aggstats_value value);
unsigned aggstats_value_row(enum aggstats_value value, uint64_t number);
uint64_t aggstats_value_first(enum aggstats_value value, unsigned row);

/* ---- Recorder ---------------------------------------------------------------------------------- */

struct aggstats_label {
    char *key;   /* lower-case words as in a profile's header: "lower", "mount", "cache" */
    char *value; /* one line of text */
};

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

struct aggstats_recorder;

/* Starts recording.
 * Names:   letters, digits, '_', '-' and '.', each once. A label's key must not be one that the format defines
 *          itself (clock, resolution, start, elapsed, clamped, incomplete, in_flight, interval, borders, process, uid)
 * Errors:  -EINVAL (options), -E2BIG (labels of more than 1 MiB), -ENOMEM, -EEXIST and other errors of creating
 *          the live file, none of which is left behind
 * Fork:    a child must not count in its parent's recorder; daemons fork first */
int aggstats_recorder_create(const struct aggstats_recorder_options *options, struct aggstats_recorder **ret_recorder);

/* Frees the recorder; its live file stays unless removed by aggstats_recorder_unlink_live(). NULL is fine.
 * Threads: no thread may be between begin and end, or begin again; threads that used the recorder may
 *          still run and exit later. */
void aggstats_recorder_destroy(struct aggstats_recorder *recorder);

/* Removes the live file, once its counts are safe elsewhere. 0 when there is none. */
int aggstats_recorder_unlink_live(struct aggstats_recorder *recorder);

/* Path of the live file as it was given, also after it was removed; NULL without one. Owner: the recorder. */
const char *aggstats_recorder_live_path(const struct aggstats_recorder *recorder);

/* False if some counters had to be kept outside the live file (its file system was full). */
bool aggstats_recorder_live_complete(const struct aggstats_recorder *recorder);

/* The clock in use, its frequency as well as it is known by now. */
struct aggstats_clock aggstats_recorder_clock(const struct aggstats_recorder *recorder);

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

/* Whose calls are profiled apart, besides all together. */
enum aggstats_grouping {
    AGGSTATS_UNGROUPED,
    AGGSTATS_BY_PROCESS,
    AGGSTATS_BY_UID,
};

/* As in profiles: "process", "uid"; NULL for none. */
const char *aggstats_grouping_name(enum aggstats_grouping grouping);

#define AGGSTATS_GROUP_NAME_SIZE 64 /* with its NUL */

/* Which group a caller belongs to. */
struct aggstats_identity {
    uint64_t id;                         /* the group's number, such as a process's */
    uint64_t instance;                   /* tells two apart that had the same number one after the other */
    char name[AGGSTATS_GROUP_NAME_SIZE]; /* "": not known */
};

/* Finds out who a caller is. False: it cannot be known any more. Called by a thread of the recorder's own. */
typedef bool (*aggstats_identify_fn)(void *context, uint32_t caller, struct aggstats_identity *ret_identity);

#define AGGSTATS_GROUPS_DEFAULT 256U
#define AGGSTATS_GROUPS_MIN 2U
#define AGGSTATS_GROUPS_MAX 4096U

struct aggstats_grouping_options {
    enum aggstats_grouping grouping;
    unsigned groups_max;           /* 0: AGGSTATS_GROUPS_DEFAULT */
    aggstats_identify_fn identify; /* NULL: a caller's number is its group's */
    void *context;
};

/* From now on snapshots have a profile for each group of callers too, made of the calls that are given to
 * aggstats_group_add(). Of more than groups_max those that have called least recently are added up as one. The live
 * file has none.
 * Memory:  a group's counters of each op that it has called, 528 bytes at resolution 1; 16 KB for each thread
 * Errors:  -EINVAL, -EBUSY grouped already, -ENOMEM, those of starting a thread
 * Threads: before any thread counts */
int aggstats_recorder_group(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options);

/* Counts a call that has ended, whose latency aggstats_end() gave, for its caller. is_kernel: it is nobody's but the
 * kernel's own, whose calls are a group of their own. Nothing if the recorder is not grouped.
 * Threads: any. No lock, no atomic read-modify-write and no system call, but for a caller that this thread has not met
 *          lately, and when 1024 calls wait to be sorted */
void aggstats_group_add(struct aggstats_recorder *recorder, unsigned op, uint32_t caller, bool is_kernel,
                        uint64_t latency_cycles);

/* From now on snapshots show only what happens from here. That is a new window. A call belongs to the window in which
 * it ends: calls in flight are in flight in the new one.
 * pause freezes what snapshots show; resume goes on as if the time between had not been: what ends in a pause is not
 * counted, and while paused nothing is shown in flight. Pausing twice, or resuming what runs, changes nothing. reset
 * while paused stays paused, and empty.
 * Errors:  as aggstats_recorder_snapshot(); nothing has changed then
 * Threads: any */
int aggstats_recorder_reset(struct aggstats_recorder *recorder);
int aggstats_recorder_pause(struct aggstats_recorder *recorder);
int aggstats_recorder_resume(struct aggstats_recorder *recorder);

/* One op's counters; buckets[64 * resolution] follow. In tables of all ops, such as a thread's block, the counter of a
 * bucket is buckets[aggstats_slot()]. */
struct aggstats_counters {
    uint64_t calls;
    uint64_t total_cycles;
    uint64_t buckets[];
};

/* The buckets from 2^10 cycles on come first, beside the calls, and those below last: so a call of 2^10 to 2^16 touches
 * one cache line of them (resolution 1). Lines that have left the caches cost ten times as much as all the rest. */
static inline unsigned aggstats_slot(unsigned bucket, unsigned resolution) {
    return (bucket - 10 * resolution) % (64 * resolution);
}

/* What one thread counts. Layout of the live file too: change AGGSTATS_LIVE_VERSION with it. */
struct aggstats_block {
    /* the innermost call in flight: op + 1, or 0 between calls; start 0: it has just begun. It is named before it is
     * counted, and until its bucket is, so that a call which is counted and not finished always has a name. */
    uint64_t current_op;
    uint64_t current_start_cycles;
    uint64_t current_object; /* what the call works on (a node of the mount), for people */
    uint64_t current_pid;    /* on whose behalf */
    uint64_t clamped;        /* negative differences, counted in bucket 0 */
    uint64_t reserved[3];
    /* op_count counters of counters_stride_bytes each */
    unsigned char counters[] __attribute__((aligned(64)));
};

/* What the hot path needs to know of a recorder; the rest of struct aggstats_recorder is private. */
struct aggstats_recorder_hot {
    uint64_t id; /* never used twice in a process */
    uint32_t clock_kind;
    uint32_t resolution;
    uint32_t counters_stride_bytes;
};

struct aggstats_thread_cache {
    uint64_t recorder_id; /* 0 = none */
    struct aggstats_block *block;
};
extern __thread struct aggstats_thread_cache aggstats_thread_cache;

/* This thread's block, given to it at its first call and back when it exits. Never NULL: where no memory is
 * left the thread counts in a block shared by such threads, and the snapshot says so.
 * Threads: any; takes a lock, so hot paths come here once per thread, and whenever a thread turns from one
 *          recorder to another */
struct aggstats_block *aggstats_thread_block_slow(struct aggstats_recorder *recorder);

/* A call in progress: filled by begin, used by end; on the caller's stack. */
struct aggstats_span {
    struct aggstats_block *block;
    struct aggstats_counters *counters;
    uint64_t start_cycles;
};

/* Bucket of a latency for resolutions above 1; called by the hot path. */
unsigned aggstats_bucket_fine(uint64_t latency_cycles, unsigned resolution);

static inline const struct aggstats_recorder_hot *aggstats_hot(const struct aggstats_recorder *recorder) {
    return (const struct aggstats_recorder_hot *)(const void *)recorder;
}

/* Counts a call of op and starts its clock. object and pid only serve to list calls in flight. */
static inline struct aggstats_span aggstats_begin(struct aggstats_recorder *recorder, unsigned op, uint64_t object,
                                                  uint64_t pid) {
    const struct aggstats_recorder_hot *hot = aggstats_hot(recorder);
    struct aggstats_block *block = __builtin_expect(aggstats_thread_cache.recorder_id == hot->id, 1)
                                       ? aggstats_thread_cache.block
                                       : aggstats_thread_block_slow(recorder);
    struct aggstats_counters *counters =
        (struct aggstats_counters *)(void *)(block->counters + (size_t)op * hot->counters_stride_bytes);
    __atomic_store_n(&block->current_start_cycles, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_pid, pid, __ATOMIC_RELAXED);
    __atomic_store_n(&block->current_op, (uint64_t)op + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&counters->calls, counters->calls + 1, __ATOMIC_RELEASE);
    uint64_t start_cycles = aggstats_clock_now(hot->clock_kind);
    __atomic_store_n(&block->current_start_cycles, start_cycles, __ATOMIC_RELAXED);
    struct aggstats_span span = {block, counters, start_cycles};
    return span;
}

/* Ends the call that begin started, in the same thread. Returns its latency, in cycles. */
static inline uint64_t aggstats_end(struct aggstats_recorder *recorder, const struct aggstats_span *span) {
    const struct aggstats_recorder_hot *hot = aggstats_hot(recorder);
    uint64_t latency_cycles = aggstats_clock_now(hot->clock_kind) - span->start_cycles;
    struct aggstats_counters *counters = span->counters;
    if (__builtin_expect((int64_t)latency_cycles < 0, 0)) {
        __atomic_store_n(&span->block->clamped, span->block->clamped + 1, __ATOMIC_RELAXED);
        latency_cycles = 0;
    }
    unsigned slot = __builtin_expect(hot->resolution == 1, 1)
                        ? aggstats_slot(63U - (unsigned)__builtin_clzll(latency_cycles | 1), 1)
                        : aggstats_slot(aggstats_bucket_fine(latency_cycles, hot->resolution), hot->resolution);
    __atomic_store_n(&counters->total_cycles, counters->total_cycles + latency_cycles, __ATOMIC_RELAXED);
    __atomic_store_n(&counters->buckets[slot], counters->buckets[slot] + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&span->block->current_op, 0, __ATOMIC_RELEASE);
    return latency_cycles;
}

/* ---- Profiles ---------------------------------------------------------------------------------- */

/* A cell of a sparse table that is not empty: what one bucket got in one interval, or together with one value. */
struct aggstats_cell {
    uint32_t row;
    uint32_t bucket;
    uint64_t count; /* above 0 */
};

/* One operation's profile. */
struct aggstats_op_profile {
    char name[AGGSTATS_NAME_SIZE]; /* without OP_ */
    uint64_t calls;
    uint64_t total_cycles;
    uint64_t *buckets;             /* [64 * resolution of the profile] */
    struct aggstats_cell *samples; /* of a sampled profile: by interval, then bucket; for each bucket they add up to
                                    * it exactly */
    size_t sample_count;
};

/* A call that had not returned when the snapshot was taken. */
struct aggstats_call_in_flight {
    char op[AGGSTATS_NAME_SIZE];
    uint64_t age_cycles;
    uint64_t object;
    uint64_t pid;
    char *path; /* of the object, where somebody has found it out; NULL: not known. Owner: the profile */
};

/* How the latencies of an op go together with a value. */
struct aggstats_joint_profile {
    char op[AGGSTATS_NAME_SIZE];
    enum aggstats_value value;
    struct aggstats_cell *cells; /* by row, then bucket */
    size_t cell_count;
};

struct aggstats_group;

/* A complete profile: plain data, free to change. Ops are sorted by total latency, largest first.
 * A zeroed profile is empty and may be finished. */
struct aggstats_profile {
    unsigned resolution;
    struct aggstats_clock clock; /* frequency_hz 0: not known */
    int64_t start_ns;            /* Unix time; meaningful if has_start */
    uint64_t elapsed_cycles;     /* meaningful if has_elapsed */
    uint64_t clamped;            /* negative latencies, counted in bucket 0 */
    bool has_start;
    bool has_elapsed;
    bool incomplete; /* memory ran out and updates may be lost; or, of a live file, some counters are not in it */
    struct aggstats_label *labels;
    size_t label_count;
    struct aggstats_op_profile *ops;
    size_t op_count;
    struct aggstats_call_in_flight *in_flight;
    size_t in_flight_count;

    /* Of a sampled profile (thesis §3.1.5) */
    uint64_t interval_cycles; /* length of an interval as it was wanted; 0: not sampled */
    uint64_t *borders;        /* where each interval ends, as measured: ascending, in cycles since the start */
    size_t interval_count;

    struct aggstats_joint_profile *joints; /* by op, then value, as they were asked for */
    size_t joint_count;

    enum aggstats_grouping grouping; /* what the groups are */
    struct aggstats_group *groups;   /* by total latency, largest first */
    size_t group_count;
};

enum aggstats_who {
    AGGSTATS_WHO_ID,     /* a process, a user */
    AGGSTATS_WHO_KERNEL, /* the kernel of itself */
    AGGSTATS_WHO_OTHER,  /* all that there were too many of */
};

/* As in profiles: "kernel", "other"; NULL for AGGSTATS_WHO_ID. */
const char *aggstats_who_name(enum aggstats_who who);

/* The calls of one group. */
struct aggstats_group {
    enum aggstats_who who;
    uint64_t id;                         /* meaningful for AGGSTATS_WHO_ID */
    char name[AGGSTATS_GROUP_NAME_SIZE]; /* "": not known */
    struct aggstats_profile profile;     /* clock, resolution and ops, of calls that have ended; nothing else */
};

/* Frees what a profile owns and zeroes it. */
void aggstats_profile_finish(struct aggstats_profile *profile);

/* Deep copy. Errors: -ENOMEM, *ret_copy untouched */
int aggstats_profile_copy(const struct aggstats_profile *profile, struct aggstats_profile *ret_copy);

/* Whether it names files, which may be nobody else's business: a path of a call in flight is known. */
bool aggstats_profile_has_paths(const struct aggstats_profile *profile);

/* The value of a header line, or NULL. Owner: the profile. */
const char *aggstats_profile_label(const struct aggstats_profile *profile, const char *key);

/* Appends a header line; both are copied. Errors: -ENOMEM; *profile untouched */
int aggstats_profile_add_label(struct aggstats_profile *profile, const char *key, const char *value);

/* The op of that name, or NULL. Owner: the profile. */
const struct aggstats_op_profile *aggstats_profile_op(const struct aggstats_profile *profile, const char *name);

/* What the recorder has seen since its start or last reset. Ops never called are left out.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -ENOMEM, -EBADMSG someone else has written into the counters; *ret_profile untouched
 * Threads: any, while others record; calls >= sum(buckets) always. A total may already hold the latency of a call
 *          that is just ending and not yet in its bucket */
int aggstats_recorder_snapshot(struct aggstats_recorder *recorder, struct aggstats_profile *ret_profile);

/* ---- Profile arithmetic ------------------------------------------------------------------------- */

/* Adds b to a, op by op, exactly: counts, totals, clamped; the finer one is first brought to the coarser
 * resolution. Elapsed times add up; a keeps its labels, start and calls in flight. The sum has no intervals, and those
 * joint profiles that both have, and no groups. A zeroed a becomes a copy of b. Rates that differ by less than
 * 1/1000 are one rate, measured twice.
 * Errors:  -EDOM clock rates differ (rescale one first), -EOVERFLOW, -ENOMEM; *a untouched */
int aggstats_profile_add(struct aggstats_profile *a, const struct aggstats_profile *b);

/* Takes b (an earlier snapshot of the same recorder) from a. Calls in flight in b are in the difference, where they
 * ended. Ops that reach 0 calls are dropped. The difference starts where b ended, and has no
 * intervals, joint profiles or groups.
 * Errors:  -EDOM as above or resolutions differ, -ERANGE b is not contained in a, -ENOMEM; *a untouched */
int aggstats_profile_subtract(struct aggstats_profile *a, const struct aggstats_profile *b);

/* Coarser resolution, exactly (r buckets per octave become r'). Errors: -EINVAL no resolution, or a finer one */
int aggstats_profile_coarsen(struct aggstats_profile *profile, unsigned resolution);

/* Expresses the profile in cycles of another clock rate. Calls and the number of calls per op stay exact;
 * totals are rounded; a bucket's calls are spread over the buckets its shifted bounds overlap, in
 * proportion to the overlap, rounded by largest remainder so that sums are kept. Below 1 cycle is bucket 0.
 * Errors:  -EDOM own rate not known, -EINVAL frequency_hz 0, -EOVERFLOW, -ENOMEM; *profile untouched */
int aggstats_profile_rescale(struct aggstats_profile *profile, uint64_t frequency_hz);

/* Sorts ops by total latency, largest first (then by name). */
void aggstats_profile_sort(struct aggstats_profile *profile);

/* ---- Text format: osprof(5) --------------------------------------------------------------------- */

/* Writes the profile as text and flushes the stream.
 * Errors:  the stream's -errno, -EINVAL a name or label that could not be read back */
int aggstats_profile_write(const struct aggstats_profile *profile, FILE *stream);

/* The same into memory, NUL-terminated. Owner: the caller frees *ret_text. */
int aggstats_profile_format(const struct aggstats_profile *profile, char **ret_text, size_t *ret_size_bytes);

/* Where and why a text is not a profile. */
struct aggstats_parse_error {
    size_t line;       /* from 1; 0: not about one line */
    char message[160]; /* what was expected and what was found, no newline */
};

/* Reads one profile up to the end of the stream.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -EBADMSG with *ret_error filled, -ENOMEM, the stream's -errno; *ret_profile untouched */
int aggstats_profile_parse(FILE *stream, struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error);

/* ---- Live file ---------------------------------------------------------------------------------- */

#define AGGSTATS_LIVE_VERSION 2

struct aggstats_live_info {
    int64_t pid;    /* of the process that records or recorded */
    bool recording; /* it still runs */
    bool paused;
};

/* True if the file begins as a live file does. */
bool aggstats_live_is(int fd);

/* The profile in a live file, of a process that runs, hangs or has died. Reads only; hostile contents give
 * an error, never a crash. Elapsed time and ages reach to now while the process records; after that to the last
 * moment known: its orderly end, or the latest of its last call's beginning, last snapshot and last reset.
 * Owner:   the caller finishes *ret_profile; ret_info and ret_error may be NULL
 * Errors:  -EBADMSG not a live file, or broken (*ret_error filled), -EAGAIN reset again and again meanwhile,
 *          -ENOMEM, errors of reading
 * Locks:   takes a shared flock(2) on fd for an instant, to see whether the process still holds its own */
int aggstats_live_read(int fd, struct aggstats_profile *ret_profile, struct aggstats_live_info *ret_info,
                       struct aggstats_parse_error *ret_error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
