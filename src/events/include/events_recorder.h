/* Recording calls one by one into an events file.
 *
 * Each thread fills one of two buffers while a thread of the recorder saves the other. If both are full, calls are
 * dropped and counted: nobody waits for the saving. Buffers are also saved once a second, so a process that is killed
 * loses at most the last second. With a ring the latest calls are kept in memory instead, and written on demand.
 *
 * Calls are numbered while they are counted (aggstats_number_begin()), and a reset reads a thread's counters between
 * two calls: so the number of a call shows on which side of a reset it is. The fields of an event come from the op's
 * row in FS_OPS; wrappers that record are in the vector only while recording is on. */
#ifndef EVENTS_RECORDER_H
#define EVENTS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "aggstats.h"
#include "events_format.h"

struct events_recorder;

#define EVENTS_TASK_NAME_SIZE 32

/* What is to be known of what is recorded, for good. */
struct events_source {
    struct aggstats_recorder *recorder; /* that counts the calls; borrowed */
    const char *const *ops;             /* descriptions of the ops: "NAME [bytes]|COLUMNS|MORE|TEXTS"; borrowed */
    unsigned op_count;
    unsigned resolution;
    const char *version;
    const struct aggstats_label *labels; /* of the recorded profile; borrowed */
    size_t label_count;

    /* Asked by the thread that saves. Each may be NULL. */
    bool (*find_task)(void *context, uint32_t thread, uint64_t *ret_process, char ret_name[EVENTS_TASK_NAME_SIZE]);
    char *(*find_path)(void *context, uint64_t node); /* below the mount; NULL: not known. The caller frees it */
    /* A new file for the ring, since a slow call has ended. Below 0: there is none */
    int (*open_slow)(void *context);
    /* Saving begins to fail (an errno value, negative), or works again (0). */
    void (*tell)(void *context, int err);
    void *context;
};

/* What is to be recorded now. */
struct events_wanted {
    int fd;              /* a new, empty file, taken over if this succeeds; -1 with a ring */
    uint64_t size_bytes; /* the file becomes no larger: recording ends there; 0: any size */
    uint64_t ring_bytes; /* so much of the last calls is kept in memory; 0: all calls go to the file */
    bool names;          /* names and all arguments of calls, and paths of nodes, too */
};

/* How it went. */
struct events_state {
    bool is_on;
    bool is_full;      /* the size was reached */
    uint64_t recorded; /* calls that are in the file or the ring; or were in the ring */
    uint64_t dropped;  /* since recording began */
    uint64_t failed;   /* of these: because saving failed, or the size was reached; known when that is over */
    int failure;       /* of the first of them, an errno value, negative; 0: the size */
    uint64_t saved_bytes;
    int error; /* of the last attempt to save; 0: it worked */
};

/* Records nothing yet. source: copied. Owner: the caller destroys *ret_events. Errors: -ENOMEM */
int events_recorder_create(const struct events_source *source, struct events_recorder **ret_events);

/* No thread records or will, and recording was stopped. NULL is fine. */
void events_recorder_destroy(struct events_recorder *events);

/* Starts recording. Calls in flight are not recorded; those that are not recorded by events_add() are unknown to it.
 * Errors: -EBUSY it is on, -ENOMEM, those of starting a thread and of writing the file's beginning
 * Threads: any, one at a time, as the next two; while calls are recorded */
int events_recorder_start(struct events_recorder *events, const struct events_wanted *wanted);

/* Ends it, and saves all that was recorded; the ring stays until the next start. Nothing if it is off.
 * Errors: -ETIMEDOUT saving hangs, and goes on: all that it uses must stay */
int events_recorder_stop(struct events_recorder *events);

/* Writes what the ring holds to a new, empty file, which stays with the caller.
 * Errors:  -ENOENT there is no ring, those of writing; -ETIMEDOUT saving hangs */
int events_recorder_write_ring(struct events_recorder *events, int fd);

/* Grows while a ring is being written, so that it is known whether that hangs. Threads: any */
uint64_t events_recorder_ring_written(const struct events_recorder *events);

/* Threads: any */
void events_recorder_state(struct events_recorder *events, struct events_state *ret_state);

/* A slow call has ended: with a ring, what led to it is written, at most once a minute. Threads: any */
void events_note_slow(struct events_recorder *events);

/* ---- The hot path ---- */

#define EVENTS_HALF_BYTES ((size_t)512 << 10)
#define EVENTS_MET_COUNT 64U

/* One of a thread's two buffers. */
struct events_half {
    uint64_t state;     /* atomic; enum events_half_state */
    uint64_t published; /* atomic; records << 32 | bytes that may be read */
    uint64_t saved;     /* the same, of what is saved; the saving thread's */
    uint64_t first_index;
    uint64_t dropped; /* before the first */
    uint32_t worker;
    unsigned char *bytes; /* [EVENTS_HALF_BYTES] */
};

/* Where the calls of one block go. */
struct events_stream {
    unsigned char *at; /* where the next record goes; the thread's, as the next two */
    unsigned char *end;
    struct events_half *half;       /* NULL: there is none, calls are dropped */
    uint64_t session;               /* that it records for; atomic */
    uint64_t dropped;               /* atomic */
    uint32_t met[EVENTS_MET_COUNT]; /* callers met lately */
    uint32_t new_tasks[EVENTS_MET_COUNT];
    uint32_t new_written; /* atomic; by the thread */
    uint32_t new_taken;   /* by the saving thread */
    struct events_half halves[2];
    struct events_stream *next;
    const struct aggstats_block *block;
    uint32_t number;
    uint32_t worker;
};

/* The first member of struct events_recorder. */
struct events_hot {
    uint64_t session; /* atomic; 0: nothing is recorded */
    bool names;
};

struct events_thread_cache {
    uint64_t session; /* never used twice in a process */
    const struct aggstats_block *block;
    struct events_stream *stream;
};
extern AGGSTATS_THREAD_LOCAL struct events_thread_cache events_thread_cache;

static inline const struct events_hot *events_hot(const struct events_recorder *events) {
    return (const struct events_hot *)(const void *)events;
}

/* Whether texts and further columns are wanted. */
static inline bool events_wants_names(const struct events_recorder *events) {
    return events_hot(events)->names;
}

/* The stream for this thread's calls; NULL: nothing is recorded now, or no memory is left. */
struct events_stream *events_stream_find(struct events_recorder *events, const struct aggstats_block *block);

/* Room for a record, in the other buffer. False: it is dropped. */
bool events_stream_turn(struct events_recorder *events, struct events_stream *stream, uint64_t number);

/* A caller that was not met lately: who that is will be asked for. */
void events_stream_meet(struct events_recorder *events, struct events_stream *stream, uint32_t thread);

/* What is recorded of a call that has ended; its latency is what aggstats_end() gave. */
struct events_ended {
    uint64_t latency_cycles;
    uint64_t node;
    uint32_t thread;
    uint32_t uid;
    unsigned op;
    unsigned error;
    unsigned flags;
    const uint64_t *columns;
    unsigned column_count;
};

/* And where names are wanted. */
struct events_more {
    const uint64_t *columns;
    unsigned column_count;
    const char *const *texts;
    unsigned text_count;
};

/* The thread's stream, if it records now. */
static AGGSTATS_ALWAYS_INLINE struct events_stream *events_own_stream(struct events_recorder *events,
                                                                      const struct aggstats_block *block) {
    uint64_t session = __atomic_load_n(&events_hot(events)->session, __ATOMIC_RELAXED);
    if (__builtin_expect(events_thread_cache.session == session && events_thread_cache.block == block, 1))
        return events_thread_cache.stream;
    return events_stream_find(events, block);
}

static AGGSTATS_ALWAYS_INLINE void events_publish(struct events_stream *stream, size_t size_bytes) {
    struct events_half *half = stream->half;
    stream->at += size_bytes;
    __atomic_store_n(&half->published, half->published + (UINT64_C(1) << 32 | size_bytes), __ATOMIC_RELEASE);
}

static AGGSTATS_ALWAYS_INLINE void events_fill(unsigned char *at, const struct events_ended *call,
                                               uint64_t start_cycles, unsigned words) {
    const struct events_record record = {
        .start_cycles = start_cycles,
        .node = call->node,
        .latency_cycles = (uint32_t)call->latency_cycles,
        .thread = call->thread,
        .uid = call->uid,
        .head = events_head(call->op, words, call->error, call->flags),
    };
    memcpy(at, &record, sizeof(record));
}

/* A record with a latency of more than 32 bits, or with texts (more: else NULL). */
void events_add_long(struct events_recorder *events, struct events_stream *stream, uint64_t number,
                     uint64_t start_cycles, struct events_ended call, const struct events_more *more);

/* Records a call, after aggstats_end() and before aggstats_number_end(). number: from aggstats_number_begin(). False:
 * nothing is recorded now: aggstats_number_cancel() is to be called instead.
 * Threads: any. No lock, no atomic read-modify-write, no memory allocated and no system call, except a thread's first
 *          call, one in some thousands, which turns to the other buffer and may wake the saving thread, and for a
 *          caller that was not met lately, which wakes it too */
static AGGSTATS_ALWAYS_INLINE bool events_add(struct events_recorder *events, const struct aggstats_span *span,
                                              uint64_t number, const struct events_ended *call) {
    const size_t size_bytes = sizeof(struct events_record) + call->column_count * sizeof(uint64_t);
    struct events_stream *stream = events_own_stream(events, span->block);
    if (__builtin_expect(!stream, 0))
        return false;
    if (__builtin_expect(stream->met[call->thread % EVENTS_MET_COUNT] != call->thread, 0))
        events_stream_meet(events, stream, call->thread);
    if (__builtin_expect(call->latency_cycles > UINT32_MAX, 0)) {
        events_add_long(events, stream, number, span->start_cycles, *call, NULL);
        return true;
    }
    if (__builtin_expect((size_t)(stream->end - stream->at) < size_bytes, 0) &&
        !events_stream_turn(events, stream, number))
        return true;
    events_fill(stream->at, call, span->start_cycles, (unsigned)(size_bytes / 8));
    memcpy(stream->at + sizeof(struct events_record), call->columns, call->column_count * sizeof(uint64_t));
    events_publish(stream, size_bytes);
    return true;
}

/* The same where names are wanted. */
static inline bool events_add_named(struct events_recorder *events, const struct aggstats_span *span, uint64_t number,
                                    struct events_ended call, const struct events_more *more) {
    struct events_stream *stream = events_own_stream(events, span->block);
    if (!stream)
        return false;
    if (stream->met[call.thread % EVENTS_MET_COUNT] != call.thread)
        events_stream_meet(events, stream, call.thread);
    events_add_long(events, stream, number, span->start_cycles, call, more);
    return true;
}

#endif
