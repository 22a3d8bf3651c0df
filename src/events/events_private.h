/* Private: an events file that is being read. */
#ifndef EVENTS_PRIVATE_H
#define EVENTS_PRIVATE_H

#include "events_reader.h"

/* A function for qsort(): by a member, ascending. */
#define EVENTS_ORDER(name, type, member)                                                                               \
    static int name(const void *a, const void *b) {                                                                    \
        const type *one = a;                                                                                           \
        const type *other = b;                                                                                         \
        return (one->member > other->member) - (one->member < other->member);                                          \
    }

struct events_string_seen {
    struct events_string head;
    uint64_t sequence;
    const char *bytes;
    size_t length;
};

/* A call that found or created a node: its name in a directory. */
struct events_link {
    uint64_t node;
    uint64_t cycles; /* the end of the call */
    uint64_t directory;
    struct events_text name;
};

/* Reads one line of the description, and may change it. Unknown lines are ignored. Errors: -ENOMEM */
int events_describe(struct events_file *file, char *line);
void events_description_free(struct events_file *file);

/* Decodes the record at the start of some bytes. Returns its length, or 0 if it is broken or its op is not known. */
size_t events_decode(const struct events_file *file, const unsigned char *bytes, size_t size_bytes,
                     struct event *ret_event);

/* By cycles, for qsort(). */
int events_clock_order(const void *a, const void *b);

/* The first mark of a kind; NULL: there is none. */
const struct events_mark_seen *events_mark_of_kind(const struct events_file *file, enum events_mark_kind kind);

/* Sorts what a mark says of streams by their numbers. */
void events_mark_sort(struct events_mark_stream *streams, size_t count);

/* The entry of a stream in a mark; NULL: it has none. */
const struct events_mark_stream *events_mark_find(const struct events_mark_seen *mark, uint32_t stream);

/* The index of the first run after `run` of another stream. */
size_t events_stream_end(const struct events_file *file, size_t run);

/* Finds the period in which calls can lie, after all chunks are read and sorted. */
void events_find_span(struct events_file *file);

#endif
