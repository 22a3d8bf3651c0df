/* Reading the ring of a daemon's preloaded object (request_ring.h). Nothing in it is trusted. */
#ifndef RING_READER_H
#define RING_READER_H

#include "request_ring.h"

struct ring_reader {
    struct request_ring *ring;
    char *path;
    uint64_t next;            /* slot */
    int interrupted;          /* atomic; the waiting thread must go on */
    int64_t waiting_since_ns; /* for a record that is claimed and incomplete; 0: none */
    uint64_t lost;            /* such records that were never completed */
};

struct request {
    struct request_record record;
    char names[REQUEST_NAMES_MAX + 1]; /* with a NUL behind */
    size_t names_bytes;
};

/* Makes the file, which must be new, for daemons of this user alone.
 * Owner:   the caller finishes *ret_reader, which removes it
 * Errors:  -EEXIST, and others of making a file */
int ring_reader_create(const char *path, uint32_t clock_kind, bool wants_callers, struct ring_reader *ret_reader);

/* Continues reading a ring whose reader has been killed. Errors: -EBADMSG it is no ring of this user's, those of opening it */
int ring_reader_open(const char *path, struct ring_reader *ret_reader);
void ring_reader_finish(struct ring_reader *reader);

/* The next record. Returns false if there is none that is complete. */
bool ring_reader_next(struct ring_reader *reader, struct request *ret_request);

/* Waits for a record or a signal, with a timeout. is_idle: any record ends the wait; else a half full ring does. */
void ring_reader_wait(struct ring_reader *reader, bool is_idle, int64_t timeout_ns);

/* Ends the current wait, or else the next one. Signals: may be called in handlers */
void ring_reader_interrupt(struct ring_reader *reader);

/* There will be no more records: one that is claimed and incomplete is lost. */
void ring_reader_end(struct ring_reader *reader);

/* A lower bound of what was lost: records that were never completed, those for which there was no room, and answers
 * that could not be parsed. */
uint64_t ring_reader_lost(const struct ring_reader *reader);

#endif
