/* Reading what a daemon's preloaded object writes into its ring (request_ring.h). Nothing in it is trusted. */
#ifndef RING_READER_H
#define RING_READER_H

#include "request_ring.h"

struct ring_reader {
    struct request_ring *ring;
    char *path;
    uint64_t next;            /* slot */
    int interrupted;          /* atomic; whoever waits is to go on */
    int64_t waiting_since_ns; /* for a record that is claimed, and not whole; 0: none */
    uint64_t lost;            /* such records, which came to nothing */
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

/* Goes on with one whose reader has been killed. Errors: -EBADMSG it is none, those of opening it */
int ring_reader_open(const char *path, struct ring_reader *ret_reader);
void ring_reader_finish(struct ring_reader *reader);

/* The next record. False: there is none that is whole. */
bool ring_reader_next(struct ring_reader *reader, struct request *ret_request);

/* Waits for a record, a signal, or as long as that. is_idle: any record ends it; else a ring that is half full does. */
void ring_reader_wait(struct ring_reader *reader, bool is_idle, int64_t timeout_ns);

/* Ends the wait that there is, or is to be the next. Signals: may be called in handlers */
void ring_reader_interrupt(struct ring_reader *reader);

/* There are no more: one that is claimed, and not whole, is lost. */
void ring_reader_end(struct ring_reader *reader);

/* What was lost, at least: records that came to nothing, those for which there was no room, and answers that nobody
 * could look at. */
uint64_t ring_reader_lost(const struct ring_reader *reader);

#endif
