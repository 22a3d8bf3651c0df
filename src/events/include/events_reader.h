/* Reading events files: what is in the file, what is missing, and all calls in order of time. Pure functions on memory.
 *
 * Nothing in a file is trusted: whatever it holds, reading ends, stays inside of it, and takes memory in proportion to
 * its size. Texts may hold any bytes, also such as terminals obey. */
#ifndef EVENTS_READER_H
#define EVENTS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events_format.h"

/* Some bytes of the file; not ended by a 0. */
struct events_text {
    const char *bytes; /* NULL: there is none */
    size_t length;
    size_t true_length; /* more than length: it was cut when it was recorded */
};

/* An operation, as the file's description has it. */
struct events_op {
    char *name; /* as in profiles, without OP_; NULL: there is no op of this number */
    bool counts_bytes;
    const char *columns[EVENTS_COLUMNS_MAX]; /* names; those that each record has come first */
    unsigned column_count;
    unsigned column_count_all; /* of records with EVENTS_MORE */
    const char *texts[EVENTS_TEXTS_MAX];
    unsigned text_count;
    char *lists; /* what the names above are in */
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

/* One of the recordings that a file was merged from. */
struct events_host_seen {
    struct events_host head;
    char *name;        /* of its machine; NULL: it does not say */
    char *description; /* as in its own file */
};

/* What is not in the file, or cannot be read. */
struct events_losses {
    uint64_t dropped;    /* calls that nobody had room for; those of events_file.failures are among them */
    uint64_t missing;    /* calls in chunks that are missing here; of a ring: that were overwritten */
    uint64_t unreadable; /* calls in records that are broken */
    uint64_t disordered; /* calls that begin before the one before them in their stream has ended; they are read */
    uint64_t outside;    /* calls of impossible times: see events_is_outside(); they are read */
    uint64_t cut_bytes;  /* of the file, from the first chunk on that is not whole */
    uint64_t lost;       /* chunks that are missing between others; unknown (0) of a ring */
    uint64_t skipped;    /* chunks of a kind that this program does not know, or broken inside */
    bool is_open;        /* no mark says that recording ended, or that a ring was written: the last calls are missing */
    bool is_newer;       /* a newer program wrote it: there may be more in it than is read */
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
    struct events_mark_seen *marks; /* in the order in which they were made */
    size_t mark_count;
    struct events_run *runs; /* sorted by stream, then by first_index */
    size_t run_count;
    struct events_failure *failures; /* sorted by error: each once, with all calls that were dropped for it */
    size_t failure_count;
    struct events_host_seen *hosts; /* sorted by number; none: the file is one recording */
    size_t host_count;
    struct events_string_seen *strings; /* see events_path(), events_task() */
    size_t string_count;
    struct events_link *links; /* see events_whole_path() */
    size_t link_count;
    struct events_losses losses;
    uint64_t first_cycles; /* no call has begun before, or ended after the next; 0 and UINT64_MAX: not known */
    uint64_t last_cycles;
};

#define EVENTS_COMPLAINT_SIZE 160

/* Reads all but the records. data: stays with the caller, unchanged, until events_close().
 * Owner:   the caller closes *ret_file
 * Errors:  -EBADMSG this is no events file, or nothing of it can be read; -EPROTO of another version or byte order;
 *          ret_complaint says it in words. -ENOMEM */
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
    unsigned op; /* index of file->ops, where it is defined */
    unsigned error;
    bool is_past_eof;
    bool has_more; /* all columns, and texts */
    uint64_t columns[EVENTS_COLUMNS_MAX];
    struct events_text texts[EVENTS_TEXTS_MAX];
    uint32_t stream;
    uint32_t worker;
    uint64_t index; /* in its stream */
};

/* All calls of a file, by their start. Owner: the caller closes *ret_cursor, before the file. Errors: -ENOMEM */
struct events_cursor;
int events_cursor_open(const struct events_file *file, struct events_cursor **ret_cursor);
void events_cursor_close(struct events_cursor *cursor);

/* The next call. False: there is none. */
bool events_next(struct events_cursor *cursor, struct event *ret_event);

/* Calls `each` for all calls, by their start, until it returns other than 0, which is then returned. Errors: -ENOMEM */
typedef int (*events_each_fn)(void *context, const struct event *event);
int events_each(const struct events_file *file, events_each_fn each, void *context);

/* Where a column of that name is in struct event; -1: the op has none, or not without EVENTS_MORE (has_more). */
int events_column(const struct events_file *file, unsigned op, const char *name, bool has_more);

/* The column's value; 0 if there is none. */
uint64_t events_value(const struct events_file *file, const struct event *event, const char *name);

/* The text of that name; bytes is NULL if there is none. */
struct events_text events_text_of(const struct events_file *file, const struct event *event, const char *name);

/* Whether a call's times are none that it can have: it begins or ends more than an hour apart from all moments that are
 * in the file besides, or ends before it begins. */
bool events_is_outside(const struct events_file *file, const struct event *event);

/* Whether a call is before a mark: that is, on the earlier side of what the mark did to the recorded profile. */
bool events_is_before(const struct events_mark_seen *mark, const struct event *event);

/* ---- Recordings of several hosts ---- */

/* Whose calls are in that stream. NULL: the file was not merged */
const struct events_host_seen *events_host_of(const struct events_file *file, uint32_t stream);

/* A caller's number as its own machine gave it. */
static inline uint32_t events_thread_number(const struct events_file *file, uint64_t thread) {
    return file->host_count ? (uint32_t)thread & ((1U << EVENTS_HOST_THREAD_SHIFT) - 1) : (uint32_t)thread;
}

/* The same of a node. */
static inline uint64_t events_node_number(const struct events_file *file, uint64_t node) {
    return file->host_count ? node & ((UINT64_C(1) << EVENTS_HOST_NODE_SHIFT) - 1) : node;
}

/* What is known of the order of calls of different machines.
 * Owner:   the caller frees *ret_order with free().
 * Errors:  -ENOMEM */
struct events_order;
int events_order_create(const struct events_file *file, struct events_order **ret_order);

/* Whether a call may have begun before one of those that were given before, of another machine: the two lie within what
 * their clocks may be off. Calls are given by their start, as events_next() does. */
bool events_is_unordered(struct events_order *order, const struct event *event);

/* ---- Strings ---- */

/* What was known of a node's path at that time, else at the next. bytes is NULL: nothing. */
struct events_text events_path(const struct events_file *file, uint64_t node, uint64_t cycles);

/* Reads all records for what events_whole_path() needs; once. Errors: -ENOMEM, and the file is to be closed */
int events_find_links(struct events_file *file);

/* The same; where no path was recorded, and after events_find_links(), that which follows from how the node was last
 * found or made: the name in the call's record, behind the path of the directory. Cut if it is longer; any bytes.
 * Returns its length; 0: not known */
#define EVENTS_PATH_SIZE 4608
size_t events_whole_path(const struct events_file *file, uint64_t node, uint64_t cycles,
                         char ret_path[EVENTS_PATH_SIZE]);

/* A caller's process, and its name. 0: not known. */
uint64_t events_task(const struct events_file *file, uint32_t thread, struct events_text *ret_name);

/* ---- Time ---- */

/* The wall clock's time of a moment: between two pairs by the line through them, before and after all by the nearest
 * two; with a single one by the clock's rate. 0: there is no pair, or no rate. */
int64_t events_unix_ns(const struct events_file *file, uint64_t cycles);

/* By how much that may be off: the kernel's bound of its wall clock's error at the nearest pairs, how well these were
 * read, and, where both are there, by how much the clock was set between them. UINT64_MAX: nobody sets that clock, so
 * nothing is known of other machines' time. */
uint64_t events_error_ns(const struct events_file *file, uint64_t cycles);

#endif
