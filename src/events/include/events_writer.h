/* Making events files: chunks, each in a buffer that grows. What records calls makes its buffers in place instead
 * (events_recorder.h); these are for all else, and for files that are made of other files.
 *
 * After an error nothing more is added, and events_writer_finish() tells. */
#ifndef EVENTS_WRITER_H
#define EVENTS_WRITER_H

#include <stddef.h>

#include "events_format.h"

struct events_writer {
    unsigned char *bytes; /* what has been made so far; the caller may write it somewhere, and set size_bytes to 0 */
    size_t size_bytes;
    size_t room_bytes;
    size_t chunk_at; /* where the chunk that is being made begins */
    uint64_t sequence;
    int error;
};

/* Begins a file. flags: enum events_flag. *writer: zeroed */
void events_write_start(struct events_writer *writer, uint32_t flags);

/* A chunk: begun, filled, ended. head: the struct of its kind; NULL and 0: it has none. */
void events_chunk_begin(struct events_writer *writer, enum events_chunk_kind kind, const void *head, size_t head_bytes);
void events_chunk_add(struct events_writer *writer, const void *data, size_t size_bytes);
void events_chunk_end(struct events_writer *writer);

/* In a chunk of EVENTS_DESCRIPTION: a line. word: may be of several; value: any text; NULL: none */
void events_write_line(struct events_writer *writer, const char *word, const char *value);

/* In a chunk of EVENTS_STRINGS. text: any bytes but 0 */
void events_write_string(struct events_writer *writer, enum events_string_kind kind, uint64_t key, uint64_t value,
                         const char *text, size_t length);

/* In a chunk of EVENTS_BUFFER: a record. columns: as many as the op has, of records with EVENTS_MORE too if there are
 * texts; flags: enum events_record_flag, without EVENTS_LONG. texts: as many as the op has, if EVENTS_MORE */
struct events_call {
    uint64_t start_cycles;
    uint64_t latency_cycles;
    uint64_t node;
    uint32_t thread;
    uint32_t uid;
    unsigned op;
    unsigned error;
    unsigned flags;
    const uint64_t *columns;
    unsigned column_count;
    const char *const *texts;
    unsigned text_count;
};
void events_write_record(struct events_writer *writer, const struct events_call *call);

/* The number of records of the chunk of EVENTS_BUFFER that is being made. */
void events_write_record_count(struct events_writer *writer, uint32_t record_count);

/* Frees the buffer. Returns 0, or -ENOMEM: something is missing; -E2BIG: a chunk became too long */
int events_writer_finish(struct events_writer *writer);

/* The head of a chunk whose inside is in two parts. Each is a multiple of 8 bytes long. */
struct events_chunk events_chunk_seal(enum events_chunk_kind kind, uint64_t sequence, const void *head,
                                      size_t head_bytes, const void *rest, size_t rest_bytes);

#endif
