/* Private: the recorder behind events_recorder.h.
 *
 * A session is one recording, from start to stop. At the end of each call, a thread reads the session's number. To end
 * the session, the number is set to 0; then the saving thread waits until each thread has been seen outside the end of
 * a call (aggstats: turns is even). After that no thread records for the session any more. A thread resets its own
 * buffers at its first call in the next session. */
#ifndef RECORDER_PRIVATE_H
#define RECORDER_PRIVATE_H

#include <pthread.h>

#include "aggstats/numbered.h"
#include "events_recorder.h"
#include "events_writer.h"
#include "number_map.h"

/* The last chunks of records, in memory, and all other chunks needed to read them. */
struct ring_chunk {
    struct ring_chunk *next;
    size_t size_bytes;
    unsigned char bytes[];
};

struct ring {
    size_t room_bytes;
    size_t size_bytes; /* of the chunks */
    struct ring_chunk *first;
    struct ring_chunk **last;
    unsigned char *beginning; /* start of the file and its description */
    size_t beginning_bytes;
    unsigned char *beside; /* other chunks: marks, clocks, strings */
    size_t beside_bytes;
    size_t beside_room_bytes;
};

enum events_half_state {
    EVENTS_HALF_FREE,    /* the thread may take it */
    EVENTS_HALF_FILLING, /* records are being added */
    EVENTS_HALF_FULL,    /* complete; free once it is saved */
};

/* A mark to be saved. */
struct pending_mark {
    struct pending_mark *next;
    struct events_mark head;
    struct events_mark_stream streams[];
};

struct events_recorder {
    struct events_hot hot; /* first: events_hot() */
    struct events_source source;
    int entry_columns[EVENTS_OPS_MAX]; /* index of the op's column with the node that it found or created; -1: none */

    pthread_mutex_t streams_lock;  /* held while a stream is added */
    struct events_stream *streams; /* atomic; newest first, never removed */
    uint32_t stream_count;

    pthread_mutex_t lock;       /* protects what follows, up to the next empty line */
    struct pending_mark *marks; /* oldest first */
    struct pending_mark **marks_end;
    struct events_state state;
    uint64_t rotations;

    uint32_t wakes;          /* a futex: changes when the saving thread is woken */
    uint32_t is_asleep;      /* atomic */
    bool is_ending;          /* atomic: the thread is to save the rest, and end */
    bool has_slow_call;      /* atomic */
    uint32_t flushes_wanted; /* under the lock, as the next two */
    uint32_t flushes_done;
    pthread_cond_t flushed; /* uses the monotonic clock */
    bool has_thread;
    pthread_t thread;

    /* Used only by the saving thread, while there is one. */
    uint64_t last_session;
    struct events_wanted wanted;
    struct events_writer beside;   /* chunks other than records, to be written */
    bool is_in_strings;            /* it ends in an unfinished chunk of strings */
    uint64_t size_bytes;           /* of the file */
    bool keeps_reserve;            /* blocks behind the file's end are reserved for its last chunks */
    struct events_failure failure; /* the current failure, error 0: none; dropped: count before it */
    struct number_map nodes;       /* nodes with paths asked for, or with names in records */
    struct number_map tasks;       /* the same for callers, with a note of process and name each */
    int64_t slow_written_ns;       /* when the ring was last written because of a slow call */
    int64_t clock_written_ns;
    pthread_mutex_t ring_lock; /* protects the ring, which others read */
    struct ring ring;
    uint64_t ring_written; /* number of parts of it ever written; atomic */
};

void ring_init(struct ring *ring, size_t room_bytes);
void ring_finish(struct ring *ring);

/* Copies the bytes. Errors: -ENOMEM */
int ring_begin(struct ring *ring, const void *bytes, size_t size_bytes);

/* Overwrites the oldest records if there is no room. */
int ring_add_records(struct ring *ring, const void *const parts[3], const size_t part_bytes[3]);

/* Errors: -ENOSPC there are too many: the oldest half is gone, so strings must be added anew; these are kept */
int ring_add_beside(struct ring *ring, const void *bytes, size_t size_bytes);

/* written_count: grows with each part that is written; atomic. Errors: those of writing */
int ring_write(const struct ring *ring, int fd, uint64_t *written_count);

/* Wakes the saving thread. Threads: any */
void events_wake(struct events_recorder *events);

#define EVENTS_END_BYTES 65536U /* reserved for the last chunks of a file when its size, or the disk, is limited */

/* Appends to the file, everything or nothing.
 * Errors:  those of writing; while keeps_reserve is set also those of reserving room for the end */
int events_output_write(struct events_recorder *events, const void *const parts[3], const size_t part_bytes[3]);

/* Notes the result of saving: 0, or the error. Calls source.tell if it has changed. */
void events_note_outcome(struct events_recorder *events, int err);

/* Nothing is saved any more except the end: notes why calls could not be saved. is_full: the file has reached its
 * maximum size */
void events_note_end(struct events_recorder *events, uint64_t unsaved, bool is_full);

/* Calls dropped since recording began, except those that could not be saved at its end. */
uint64_t events_count_dropped(const struct events_recorder *events);

/* Saves until is_ending is set; the function of a thread. */
void *events_save(void *recorder);

/* Writes the beginning of a file. Errors: those of writing */
int events_save_beginning(struct events_recorder *events);

/* An aggstats_changed_fn: queues a mark. */
void events_note_change(void *context, const struct aggstats_changed *changed);

/* Returns the next queued mark; NULL: there is none. Owner: the caller frees it */
struct pending_mark *events_take_mark(struct events_recorder *events);

/* The numbers of all streams. is_end: waits for each, for a short time, until no thread is at the end of a call.
 * Owner:   the caller frees *ret_streams; NULL: there are none, or no memory */
size_t events_streams_now(struct events_recorder *events, bool is_end, struct events_mark_stream **ret_streams);

#endif
