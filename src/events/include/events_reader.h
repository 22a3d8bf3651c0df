/* Reading events files: the content, what is missing, and all calls ordered by time. Pure functions on memory.
 *
 * Nothing in a file is trusted: whatever it holds, reading ends, does not leave the buffer, and uses memory in
 * proportion to the file's size. Texts may hold any bytes, including control sequences of terminals. */
#ifndef EVENTS_READER_H
#define EVENTS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events_format.h"

/* Some bytes of the file; not terminated by 0. */
struct events_text {
    const char *bytes; /* NULL: there is none */
    size_t length;
    size_t true_length; /* if greater than length, the text was cut when it was recorded */
};

/* An operation of the file's description. */
struct events_op {
    char *name; /* as in profiles, without OP_; NULL: there is no op of this number */
    bool counts_bytes;
    const char *columns[EVENTS_COLUMNS_MAX]; /* names; the columns of all records come first */
    unsigned column_count;
    unsigned column_count_all; /* in records with EVENTS_MORE */
    const char *texts[EVENTS_TEXTS_MAX];
    unsigned text_count;
    char *lists; /* memory of the names above */
};

struct events_label {
    char *key;
    char *value;
};

struct events_mark_seen {
    struct events_mark mark;
    uint64_t sequence;                        /* of its chunk */
    const struct events_mark_stream *streams; /* [mark.stream_count], sorted by stream */
};

/* A run of calls of one stream. */
struct events_run {
    struct events_buffer buffer;
    uint64_t sequence;
    const unsigned char *records;
    size_t records_bytes;
};

/* A recording in a merged file. */
struct events_host_seen {
    struct events_host head;
    char *name;        /* of the machine; NULL: unknown */
    char *description; /* of the original file */
};

/* Calls that are missing in the file, or cannot be read. */
struct events_losses {
    uint64_t dropped;    /* calls dropped because buffers were full, or for the reasons in events_file.failures */
    uint64_t missing;    /* calls in chunks that are missing; in a ring: overwritten ones */
    uint64_t unreadable; /* calls in broken records */
    uint64_t disordered; /* calls that begin before the end of the previous call of their stream; they are read */
    uint64_t outside;    /* calls with impossible times: see events_is_outside(); they are read */
    uint64_t cut_bytes;  /* of the file, from the first incomplete chunk on */
    uint64_t lost;       /* missing chunks between others; unknown (0) in a ring */
    uint64_t skipped;    /* chunks of an unknown kind, or broken inside */
    bool is_open;        /* there is no mark STOP, WRITTEN or SLOW: the last calls are missing */
    bool is_newer;       /* written by a newer program: there may be more in it than is read */
};

struct events_file {
    uint32_t flags; /* enum events_flag */
    char *host;     /* NULL, as the next four: the file does not say */
    char *version;
    char *boot;
    uint64_t pid; /* of osproffs; 0: not known */
    char *clock_kind;
    uint64_t clock_hz; /* 0: not known */
    unsigned resolution;
    struct events_label *labels;
    size_t label_count;
    struct events_op ops[EVENTS_OPS_MAX];
    struct events_clock *clocks; /* sorted by cycles */
    size_t clock_count;
    struct events_mark_seen *marks; /* in the order of their making */
    size_t mark_count;
    struct events_run *runs; /* sorted by stream, then by first_index */
    size_t run_count;
    struct events_failure *failures; /* sorted by error: one for each error, with all calls dropped for it */
    size_t failure_count;
    struct events_host_seen *hosts; /* sorted by number; none: the file is a single recording */
    size_t host_count;
    struct events_string_seen *strings; /* see events_path(), events_task() */
    size_t string_count;
    struct events_link *links; /* see events_whole_path() */
    size_t link_count;
    struct events_losses losses;
    uint64_t first_cycles; /* no call begins before the first or ends after the last; 0 and UINT64_MAX: not known */
    uint64_t last_cycles;
};

#define EVENTS_COMPLAINT_SIZE 160

/* Reads everything except the records. data: borrowed, must not change until events_close().
 * Owner:   the caller closes *ret_file
 * Errors:  -EBADMSG this is no events file, or nothing in it can be read; -EPROTO it is of another version or byte
 *          order; ret_complaint says it in words. -ENOMEM */
int events_open(const void *data, size_t size_bytes, struct events_file **ret_file,
                char ret_complaint[EVENTS_COMPLAINT_SIZE]);
void events_close(struct events_file *file);

/* ---- Calls ---- */

/* One call. */
struct event {
    uint64_t start_cycles;
    uint64_t end_cycles;
    uint64_t latency_cycles; /* as it was counted */
    uint64_t node;
    uint32_t thread;
    uint32_t uid;
    unsigned op; /* index in file->ops of a known op */
    unsigned error;
    bool is_past_eof;
    bool has_more; /* has all columns, and texts */
    uint64_t columns[EVENTS_COLUMNS_MAX];
    struct events_text texts[EVENTS_TEXTS_MAX];
    uint32_t stream;
    uint32_t worker;
    uint64_t index; /* in its stream */
};

/* All calls of a file ordered by their start. Owner: the caller closes *ret_cursor, before the file. Errors: -ENOMEM */
struct events_cursor;
int events_cursor_open(const struct events_file *file, struct events_cursor **ret_cursor);
void events_cursor_close(struct events_cursor *cursor);

/* Returns the next call. False: there is none. */
bool events_next(struct events_cursor *cursor, struct event *ret_event);

/* Calls `each` for all calls, ordered by their start, until it returns non-zero; returns that. Errors: -ENOMEM */
typedef int (*events_each_fn)(void *context, const struct event *event);
int events_each(const struct events_file *file, events_each_fn each, void *context);

/* True if a call is wanted. */
typedef bool (*events_wants_fn)(void *context, const struct event *event);

/* Index of a column in struct event; -1: the op does not have it, or only with EVENTS_MORE (has_more). */
int events_column(const struct events_file *file, unsigned op, const char *name, bool has_more);

/* The column's value; 0 if there is none. */
uint64_t events_value(const struct events_file *file, const struct event *event, const char *name);

/* The text of that name; bytes is NULL if the call has none. */
struct events_text events_text_of(const struct events_file *file, const struct event *event, const char *name);

/* What the file's description says of its calls by EVENTS_LABEL_ONLY. NULL: all calls are to be in it
 * Owner:   the file */
const char *events_only(const struct events_file *file);

/* True if a call's times are impossible: it begins or ends more than an hour away from all other moments in the file,
 * or ends before it begins. */
bool events_is_outside(const struct events_file *file, const struct event *event);

/* True if a call is on the earlier side of a mark. */
bool events_is_before(const struct events_mark_seen *mark, const struct event *event);

/* ---- Recordings of several hosts ---- */

/* The recording that a stream belongs to. NULL: the file was not merged */
const struct events_host_seen *events_host_of(const struct events_file *file, uint32_t stream);

/* A caller's number on its own machine. */
static inline uint32_t events_thread_number(const struct events_file *file, uint64_t thread) {
    return file->host_count ? (uint32_t)thread & ((1U << EVENTS_HOST_THREAD_SHIFT) - 1) : (uint32_t)thread;
}

/* The same for a node. */
static inline uint64_t events_node_number(const struct events_file *file, uint64_t node) {
    return file->host_count ? node & ((UINT64_C(1) << EVENTS_HOST_NODE_SHIFT) - 1) : node;
}

/* Checks the order of calls of different machines.
 * Owner:   the caller frees *ret_order with free().
 * Errors:  -ENOMEM */
struct events_order;
int events_order_create(const struct events_file *file, struct events_order **ret_order);

/* True if a call may have begun before one that was passed earlier, of another machine: the difference is less than the
 * possible error of the clocks. Calls are passed by their start, as events_next() returns them. */
bool events_is_unordered(struct events_order *order, const struct event *event);

/* ---- Strings ---- */

/* The latest path of a node that was known at that time; if there is none, the next known path. bytes is NULL: none. */
struct events_text events_path(const struct events_file *file, uint64_t node, uint64_t cycles);

/* Reads all records, once, as events_whole_path() needs it. Errors: -ENOMEM, and the file is to be closed */
int events_find_links(struct events_file *file);

/* The same. If no path was recorded, and after events_find_links(), the path is derived from the call that last found
 * or created the node: the path of the directory and the name in the call's record. A longer path is cut. The path may
 * hold any bytes. Returns the length of the path; 0: not known */
#define EVENTS_PATH_SIZE 4608
size_t events_whole_path(const struct events_file *file, uint64_t node, uint64_t cycles,
                         char ret_path[EVENTS_PATH_SIZE]);

/* The path of a call's object: with the name, if it has one. "": unknown. Cut if it is longer. Any bytes. */
void events_path_of(const struct events_file *file, const struct event *event, char ret_path[EVENTS_PATH_SIZE]);

/* Returns the process of a call's caller, and its name: those that the record has, else the last ones that its thread had in
 * the string table. 0: not known. */
uint64_t events_task(const struct events_file *file, const struct event *event, struct events_text *ret_name);

/* ---- Time ---- */

/* Converts a time to the wall clock: on the line through the pairs before and after it, outside all pairs through the
 * nearest two, with a single pair by the clock's rate. 0: there is no pair, or no rate. */
int64_t events_unix_ns(const struct events_file *file, uint64_t cycles);

/* Bound on the error of that time: the kernel's bound on its wall clock's error at the nearest pairs, the error of
 * reading these, and, between two pairs, by how much the clock was set between them. UINT64_MAX: nobody sets that
 * clock, so it cannot be compared with other machines. */
uint64_t events_error_ns(const struct events_file *file, uint64_t cycles);

#endif
