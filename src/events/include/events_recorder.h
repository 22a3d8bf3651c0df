/* Recording single calls into an events file.
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

/* What does not change from recording to recording. */
struct events_source {
    struct aggstats_recorder *recorder; /* counts the calls; borrowed */
    const char *const *ops;             /* descriptions of the ops: "NAME [bytes]|COLUMNS|MORE|TEXTS"; borrowed */
    unsigned op_count;
    unsigned resolution;
    const char *version;
    const struct aggstats_label *labels; /* of the recorded profile; borrowed */
    size_t label_count;

    /* Called by the saving thread. Each may be NULL. */
    bool (*find_task)(void *context, uint32_t thread, uint64_t *ret_process, char ret_name[EVENTS_TASK_NAME_SIZE]);
    char *(*find_path)(void *context, uint64_t node); /* below the mount; NULL: not known. The caller frees it */
    /* Returns a new file for the ring because a slow call has ended; below 0: none */
    int (*open_slow)(void *context);
    /* Called when saving begins to fail (with a negative errno), or works again (0). */
    void (*tell)(void *context, int err);
    void *context;
};

/* What a recording is to contain. */
struct events_wanted {
    int fd;              /* a new, empty file, taken over on success; -1 with a ring */
    uint64_t size_bytes; /* maximum size of the file, where recording ends; 0: none */
    uint64_t ring_bytes; /* size of the ring in memory; 0: all calls go to the file */
    bool names;          /* also names and all arguments of calls, and paths of nodes */
    bool paths;          /* also paths of nodes; names include that */
};

/* Result of a recording so far. */
struct events_state {
    bool is_on;
    bool is_full;      /* the maximum size was reached */
    uint64_t recorded; /* calls that are in the file, or are or were in the ring */
    uint64_t dropped;  /* since recording began */
    uint64_t failed;   /* of the dropped: because saving failed, or the size was reached; known when that is over */
    int failure;       /* of the first failed one, a negative errno; 0: the size */
    uint64_t saved_bytes;
    int error; /* of the last attempt to save; 0: it succeeded */
};

/* Creates a recorder that records nothing yet. source: copied.
 * Owner:   the caller destroys *ret_events.
 * Errors:  -ENOMEM */
int events_recorder_create(const struct events_source *source, struct events_recorder **ret_events);

/* Recording must have been stopped, and no thread may record any more. NULL is fine. */
void events_recorder_destroy(struct events_recorder *events);

/* Starts recording. Calls in flight are not recorded; calls that do not use events_add() are unknown to it.
 * Errors:  -EBUSY it is on, -ENOMEM, those of starting a thread and of writing the file's beginning
 * Threads: any, also while others record; one at a time for this and the next two functions */
int events_recorder_start(struct events_recorder *events, const struct events_wanted *wanted);

/* Stops recording and saves everything; the ring stays until the next start. No-op if recording is off.
 * Errors:  -ETIMEDOUT saving hangs, and continues: all memory that it uses must stay */
int events_recorder_stop(struct events_recorder *events);

/* Writes the ring to a new, empty file, which the caller still owns.
 * Errors:  -ENOENT there is no ring, those of writing; -ETIMEDOUT saving hangs */
int events_recorder_write_ring(struct events_recorder *events, int fd);

/* Grows while a ring is being written, which shows that writing does not hang. Threads: any */
uint64_t events_recorder_ring_written(const struct events_recorder *events);

/* Threads: any */
void events_recorder_state(struct events_recorder *events, struct events_state *ret_state);

/* Reports that a slow call has ended: the ring is then written, at most once a minute. Threads: any */
void events_note_slow(struct events_recorder *events);

/* ---- The hot path ---- */

#define EVENTS_HALF_BYTES ((size_t)512 << 10)
#define EVENTS_MET_COUNT 64U

/* One of a thread's two buffers. */
struct events_half {
    uint64_t state;     /* atomic; enum events_half_state */
    uint64_t published; /* atomic; records << 32 | bytes that may be read */
    uint64_t saved;     /* the same for what is saved; used by the saving thread */
    uint64_t first_index;
    uint64_t dropped; /* before the first record */
    uint32_t worker;
    unsigned char *bytes; /* [EVENTS_HALF_BYTES] */
};

/* Receives the calls of one block. */
struct events_stream {
    unsigned char *at; /* where the next record goes; used by the thread, as the next two */
    unsigned char *end;
    struct events_half *half;       /* NULL: none, calls are dropped */
    uint64_t session;               /* for which it records; atomic */
    uint64_t dropped;               /* atomic */
    uint32_t met[EVENTS_MET_COUNT]; /* callers seen lately */
    uint32_t new_tasks[EVENTS_MET_COUNT];
    uint32_t new_written; /* atomic; written by the thread */
    uint32_t new_taken;   /* written by the saving thread */
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
    uint64_t session; /* never reused in a process */
    const struct aggstats_block *block;
    struct events_stream *stream;
};
extern AGGSTATS_THREAD_LOCAL struct events_thread_cache events_thread_cache;

static inline const struct events_hot *events_hot(const struct events_recorder *events) {
    return (const struct events_hot *)(const void *)events;
}

/* True if texts and further columns are to be recorded. */
static inline bool events_wants_names(const struct events_recorder *events) {
    return events_hot(events)->names;
}

/* Returns the stream of this thread's calls; NULL: recording is off, or there is no memory. */
struct events_stream *events_stream_find(struct events_recorder *events, const struct aggstats_block *block);

/* Makes room for a record in the other buffer. False: the record is dropped. */
bool events_stream_turn(struct events_recorder *events, struct events_stream *stream, uint64_t number);

/* Adds a caller that was not seen lately, so that its process and name are looked up. */
void events_stream_meet(struct events_recorder *events, struct events_stream *stream, uint32_t thread);

/* A call that has ended; latency_cycles: from aggstats_end(). */
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

/* Further fields of a call, for recordings with names. */
struct events_more {
    const uint64_t *columns;
    unsigned column_count;
    const char *const *texts;
    unsigned text_count;
};

/* The thread's stream, if it is recording now. */
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

/* Adds a record with a latency of more than 32 bits, or with texts (more: else NULL). */
void events_add_long(struct events_recorder *events, struct events_stream *stream, uint64_t number,
                     uint64_t start_cycles, struct events_ended call, const struct events_more *more);

/* Records a call, after aggstats_end() and before aggstats_number_end(). number: from aggstats_number_begin(). Returns
 * false if recording is off: then aggstats_number_cancel() must be called instead.
 * Threads: any. No lock, no atomic read-modify-write, no memory allocation and no system call, except for a thread's
 *          first call; for one call in some thousands, which switches to the other buffer and may wake the saving
 *          thread; and for a caller that was not seen lately, which wakes it too */
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

/* The same for recordings with names. */
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

/* ---- Calls of other threads, in lanes (aggstats/lane.h) ---- */

/* The stream of a lane, for this recording. Calls of a lane do not overlap, and come in the order in which they began.
 * Owner:   the recorder
 * Errors:  NULL: recording is off, or there is no memory
 * Threads: one at a time in a lane, like the next two */
struct events_stream *events_lane_stream(struct events_recorder *events, const struct aggstats_block *lane);

/* Records a call that has ended. Does nothing if recording has ended. more: its further fields,
 * which say who made it; NULL: it has none, and its thread is looked up */
void events_lane_add(struct events_recorder *events, struct events_stream *stream, struct aggstats_block *lane,
                     uint64_t start_cycles, const struct events_ended *call, const struct events_more *more);

/* Counts calls as dropped of which only their number is known. Does nothing if recording has ended. */
void events_lane_drop(struct events_recorder *events, struct events_stream *stream, struct aggstats_block *lane,
                      uint64_t count);

#endif
