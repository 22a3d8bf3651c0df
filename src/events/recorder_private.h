/* Private: the recorder behind events_recorder.h.
 *
 * A session is one recording, from start to stop. Threads look at its number at the end of each call. When it ends, the
 * number becomes 0, and then each thread is waited for until it is not at the end of a call (aggstats: turns is even):
 * after that none records for the session any more. What belongs to a thread's buffers is begun anew by the thread
 * itself, at its first call in the next session. */
#ifndef RECORDER_PRIVATE_H
#define RECORDER_PRIVATE_H

#include <pthread.h>

#include "aggstats/numbered.h"
#include "events_recorder.h"
#include "events_writer.h"
#include "number_map.h"
#include "ring.h"

enum events_half_state {
    EVENTS_HALF_FREE,    /* the thread's to take */
    EVENTS_HALF_FILLING, /* records are being added */
    EVENTS_HALF_FULL,    /* no more are: free once it is saved */
};

/* A mark that is to be saved. */
struct pending_mark {
    struct pending_mark *next;
    struct events_mark head;
    struct events_mark_stream streams[];
};

struct events_recorder {
    struct events_hot hot; /* first: events_hot() */
    struct events_source source;
    int entry_columns[EVENTS_OPS_MAX]; /* which of an op's columns is the node that it found or made; -1: none */

    pthread_mutex_t streams_lock;  /* of those who add one */
    struct events_stream *streams; /* atomic; newest first, grows only */
    uint32_t stream_count;

    pthread_mutex_t lock;       /* of what follows, up to the next empty line */
    struct pending_mark *marks; /* oldest first */
    struct pending_mark **marks_end;
    struct events_state state;
    uint64_t rotations;

    uint32_t wakes;          /* a futex: changes when somebody wakes the saving thread */
    uint32_t is_asleep;      /* atomic */
    bool is_ending;          /* atomic: it is to save the rest, and end */
    bool has_slow_call;      /* atomic */
    uint32_t flushes_wanted; /* under the lock, as the next two */
    uint32_t flushes_done;
    pthread_cond_t flushed; /* by the monotonic clock */
    bool has_thread;
    pthread_t thread;

    /* The saving thread's, while there is one. */
    uint64_t last_session;
    struct events_wanted wanted;
    struct events_writer beside;   /* chunks other than records, on their way */
    bool is_in_strings;            /* a chunk of strings is being made there */
    uint64_t size_bytes;           /* of the file */
    bool keeps_reserve;            /* blocks behind the file's end are kept for what comes last */
    struct events_failure failure; /* that goes on, error 0: none does; dropped: before it */
    struct number_map nodes;       /* whose paths were asked for, or whose names are in records */
    struct number_map tasks;       /* and callers, with notes of what they were */
    int64_t slow_written_ns;       /* when the ring was last written for a slow call */
    int64_t clock_written_ns;
    pthread_mutex_t ring_lock; /* of the ring, which others read */
    struct ring ring;
    uint64_t ring_written; /* parts of it that were written, ever; atomic */
};

/* Wakes the saving thread. Threads: any */
void events_wake(struct events_recorder *events);

#define EVENTS_END_BYTES 65536U /* for what comes last in a file, where its size, or the disk, is limited */

/* Adds to the file, wholly or not at all.
 * Errors:  those of writing; while keeps_reserve is set also those of keeping room for the end */
int events_output_write(struct events_recorder *events, const void *const parts[3], const size_t part_bytes[3]);

/* How saving went: 0, or the error. Tells whoever wants to know of a change. */
void events_note_outcome(struct events_recorder *events, int err);

/* Nothing is saved any more but the end: of calls that were not, says why. is_full: the file's size allowed no more */
void events_note_end(struct events_recorder *events, uint64_t unsaved, bool is_full);

/* Calls dropped since recording began, but for those that could not be saved at its end. */
uint64_t events_count_dropped(const struct events_recorder *events);

/* Saves until it is to end; the function of a thread. */
void *events_save(void *recorder);

/* Writes what a file begins with. Errors: those of writing */
int events_save_beginning(struct events_recorder *events);

/* An aggstats_changed_fn: queues a mark. */
void events_note_change(void *context, const struct aggstats_changed *changed);

/* The next of the marks that were queued; NULL: there is none. Owner: the caller frees it */
struct pending_mark *events_take_mark(struct events_recorder *events);

/* Where all streams are. is_end: each is waited for, a moment at most, until no thread is at the end of a call.
 * Owner: the caller frees *ret_streams; NULL: there are none, or no memory */
size_t events_streams_now(struct events_recorder *events, bool is_end, struct events_mark_stream **ret_streams);

/* A moment on both clocks. */
void events_clock_read(uint32_t kind, struct events_clock *ret_clock);

#endif
