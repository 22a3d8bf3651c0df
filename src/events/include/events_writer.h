/* Writes events files: chunks, each in a buffer that grows. The recorder builds its buffers in place instead
 * (events_recorder.h); this is for everything else, and for files that are made from other files.
 *
 * After an error nothing more is added, and events_writer_finish() returns the error. */
#ifndef EVENTS_WRITER_H
#define EVENTS_WRITER_H

#include <stddef.h>

#include "events_format.h"

struct events_writer {
    unsigned char *bytes; /* written so far; the caller may save it, and set size_bytes to 0 */
    size_t size_bytes;
    size_t room_bytes;
    size_t chunk_at; /* where the current chunk begins */
    uint64_t sequence;
    int error;
};

/* Begins a file. flags: enum events_flag. *writer: zeroed */
void events_write_start(struct events_writer *writer, uint32_t flags);

/* Begin, fill and end a chunk. head: the struct of its kind; NULL and 0: it has none. */
void events_chunk_begin(struct events_writer *writer, enum events_chunk_kind kind, const void *head, size_t head_bytes);
void events_chunk_add(struct events_writer *writer, const void *data, size_t size_bytes);
void events_chunk_end(struct events_writer *writer);

/* In a chunk of EVENTS_DESCRIPTION: writes a line. word: may be several words; value: any text; NULL: none */
void events_write_line(struct events_writer *writer, const char *word, const char *value);
void events_write_number(struct events_writer *writer, const char *word, uint64_t number);
void events_write_clock(struct events_writer *writer, const char *kind, uint64_t hz);
void events_write_label(struct events_writer *writer, const char *key, const char *value);

/* Writes a part of a value. The caller begins and ends the line. */
void events_write_text(struct events_writer *writer, const char *text);

/* In a chunk of EVENTS_STRINGS: writes an entry. text: any bytes except 0 */
void events_write_string(struct events_writer *writer, enum events_string_kind kind, uint64_t key, uint64_t value,
                         const char *text, size_t length);

/* In a chunk of EVENTS_BUFFER: a record. columns: as many as the op has, including those of EVENTS_MORE if there are
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

/* Sets the number of records of the current chunk of EVENTS_BUFFER. */
void events_write_record_count(struct events_writer *writer, uint32_t record_count);

/* Frees the buffer. Returns 0, or -ENOMEM: something is missing; -E2BIG: a chunk became too long */
int events_writer_finish(struct events_writer *writer);

/* Makes the head of a chunk with a content in two parts. Each is a multiple of 8 bytes long. */
struct events_chunk events_chunk_seal(enum events_chunk_kind kind, uint64_t sequence, const void *head,
                                      size_t head_bytes, const void *rest, size_t rest_bytes);

#endif
