/* libaggstats: the part that is compiled into programs, for aggstats_begin() and aggstats_end().
 *
 * This is no programming interface: nothing here is for programs to use, and anything may change with AGGSTATS_ABI. */
#ifndef AGGSTATS_HOT_H
#define AGGSTATS_HOT_H

#include <stddef.h>
#include <stdint.h>

#include "bucket.h"
#include "failure.h"

AGGSTATS_BEGIN_DECLARATIONS

struct aggstats_recorder;

/* One op's counters; buckets[64 * resolution] follow, and in tables of all ops, such as a thread's block, the
 * AGGSTATS_BESIDE counters of aggstats_beside(). In these tables the counter of a bucket is buckets[aggstats_slot()].
 */
struct aggstats_counters {
    uint64_t calls;
    uint64_t total_cycles;
    uint64_t longest_cycles; /* in a thread's block: latency of its longest call since it was last reset; else unused */
    uint64_t buckets[];
};

/* The buckets from 2^10 cycles on come first, next to the calls, and those below last: so a call of 2^10 to 2^15 cycles
 * touches one cache line of them (resolution 1). A line that has left the caches costs ten times as much as all
 * else. */
static inline unsigned aggstats_slot(unsigned bucket, unsigned resolution) {
    return (bucket - 10 * resolution) & (64 * resolution - 1);
}

/* Counters of some calls only: bytes, and failures of each kind. Behind these are the object of the longest call, and
 * the latency that this object belongs to. */
enum {
    AGGSTATS_ASKED,
    AGGSTATS_MOVED,
    AGGSTATS_FAILED,
    AGGSTATS_LONGEST_OF = AGGSTATS_FAILED + AGGSTATS_FAILURES,
    AGGSTATS_LONGEST_OBJECT,
    AGGSTATS_BESIDE,
};

static inline uint64_t *aggstats_beside(struct aggstats_counters *counters, unsigned resolution) {
    return &counters->buckets[64 * (size_t)resolution];
}

/* What one thread counts. Layout of the live file too: change AGGSTATS_LIVE_VERSION with it. */
struct aggstats_block {
    /* the innermost call in flight: op + 1, or 0 between calls; start 0: it has just begun. It is named before it is
     * counted, and until its bucket is, so that a call which is counted and not finished always has a name. */
    uint64_t current_op;
    uint64_t current_start_cycles;
    uint64_t current_object; /* the object of the call (a node of the mount), for people */
    uint64_t current_pid;    /* the caller's */
    uint64_t clamped;        /* negative differences, counted in bucket 0 */
    uint64_t thread;         /* the number of the thread that counts here, as of gettid(2) */
    uint64_t turns;          /* twice the number of numbered calls that have ended; odd while one is being counted */
    uint64_t reserved;
    /* op_count counters of counters_stride_bytes each. In a shared live file only ops that were called have counters:
     * AGGSTATS_OPS_MAX bytes tell readers where, for each op 1 + the number of its counters, or 0; the counters follow */
    unsigned char counters[] __attribute__((aligned(64)));
};

/* What the hot path needs to know of a recorder; the rest of struct aggstats_recorder is private. The kernel zeroes it
 * in a child process: so the child's first call comes to aggstats_thread_block_slow(), however the child was made. */
struct aggstats_recorder_hot {
    uint64_t id; /* atomic; never used twice in a process; 0: in a child; or AGGSTATS_ASLEEP */
    uint32_t clock_kind;
    uint32_t resolution;
    uint32_t counters_stride_bytes;
};

/* Thread-local memory that exists from the thread's start: with other models the first access may allocate it. */
#define AGGSTATS_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

#define AGGSTATS_NO_RECORDER UINT64_MAX
#define AGGSTATS_ASLEEP (UINT64_MAX - 1) /* a thread of the recorder sleeps until the next call wakes it */

struct aggstats_thread_cache {
    uint64_t recorder_id; /* AGGSTATS_NO_RECORDER: none */
    struct aggstats_block *block;
    /* of a block in a shared live file, where others may write: the thread trusts only these */
    uint32_t number;          /* of the block */
    uint32_t allocated_bytes; /* so much of the block has memory */
    unsigned char places[64]; /* of each op: 1 + the number of its counters; 0: it has none yet */
};
extern AGGSTATS_THREAD_LOCAL struct aggstats_thread_cache aggstats_thread_cache;

/* This thread's block, given to it at its first call and taken back when it exits. Never NULL: without memory the
 * thread counts in a block shared by such threads, and the snapshot says so.
 * Threads: any; takes a lock, so hot paths come here once per thread, whenever a thread changes to another recorder,
 *          and when a call must wake a thread */
struct aggstats_block *aggstats_thread_block_slow(struct aggstats_recorder *recorder);

/* Wakes a thread of the recorder that sleeps until a call begins. */
void aggstats_wake(struct aggstats_recorder *recorder);

/* Adds to a counter that only this thread writes, and others read. A signal handler of the thread may add to it too,
 * and must not come between reading and writing: so this is one instruction where that is no atomic operation, and an
 * atomic operation elsewhere. ThreadSanitizer must see the access. */
#if defined(__SANITIZE_THREAD__)
#define AGGSTATS_ADD_ATOMICALLY 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define AGGSTATS_ADD_ATOMICALLY 1
#endif
#endif
static inline void aggstats_add(uint64_t *counter, uint64_t more) {
#if defined(__x86_64__) && !defined(AGGSTATS_ADD_ATOMICALLY)
    __asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(more) : "cc", "memory");
#else
    __atomic_fetch_add(counter, more, __ATOMIC_RELEASE);
#endif
}

/* Bucket of a latency for resolutions above 1; called by the hot path. */
unsigned aggstats_bucket_fine(uint64_t latency_cycles, unsigned resolution);

/* Counts a call that failed, for aggstats_end_with(). */
void aggstats_count_failure(struct aggstats_counters *counters, unsigned resolution, int error);

/* For the hot path, of which compilers would otherwise put large parts out of line. */
#define AGGSTATS_ALWAYS_INLINE inline __attribute__((always_inline))

static inline const struct aggstats_recorder_hot *aggstats_hot(const struct aggstats_recorder *recorder) {
    return (const struct aggstats_recorder_hot *)(const void *)recorder;
}

/* The id under which a thread has cached its block. */
static inline uint64_t aggstats_id(const struct aggstats_recorder_hot *hot) {
    return __atomic_load_n(&hot->id, __ATOMIC_RELAXED);
}

/* The calling thread's block. */
static AGGSTATS_ALWAYS_INLINE struct aggstats_block *aggstats_own_block(struct aggstats_recorder *recorder) {
    return __builtin_expect(aggstats_thread_cache.recorder_id == aggstats_id(aggstats_hot(recorder)), 1)
               ? aggstats_thread_cache.block
               : aggstats_thread_block_slow(recorder);
}

/* Where a thread counts a call. */
struct aggstats_place {
    struct aggstats_block *block;
    struct aggstats_counters *counters;
};

static AGGSTATS_ALWAYS_INLINE struct aggstats_place aggstats_place_of(struct aggstats_recorder *recorder, unsigned op) {
    struct aggstats_block *block = aggstats_own_block(recorder);
    const size_t offset_bytes = (size_t)op * aggstats_hot(recorder)->counters_stride_bytes;
    struct aggstats_place place = {block, (struct aggstats_counters *)(void *)(block->counters + offset_bytes)};
    return place;
}

AGGSTATS_END_DECLARATIONS

#endif
