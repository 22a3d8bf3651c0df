/* Private: state of the merging of several recordings. */
#ifndef EVENTS_MERGE_PRIVATE_H
#define EVENTS_MERGE_PRIVATE_H

#include "events_merging.h"
#include "events_private.h"
#include "events_writer.h"

#define MERGE_CHUNK_BYTES (1U << 20) /* a chunk of this size is ended */

/* A boot of a machine, or a machine of a merged file. */
struct merge_machine {
    struct events_file clock; /* only clocks and clock_hz, as events_unix_ns() needs them. Owner of clocks: this */
    const char *boot;         /* NULL: not known, so no other recording is of the same boot */
    size_t merged_file;       /* index + 1 of the merged file that it is in; 0: none */
    uint32_t merged_machine;
};

/* One recording. */
struct merge_host {
    const struct events_file *file;
    const struct events_host_seen *seen; /* NULL: the file is a single recording */
    uint32_t machine;                    /* index in merge->machines */
    uint32_t first_stream;
    uint32_t stream_count;
    uint64_t node_bits; /* XORed with the numbers of its nodes */
    uint32_t thread_bits;
    uint64_t moved_cycles; /* the most by which a call was moved */
};

struct merge_stream {
    uint32_t from;
    uint32_t to;
    uint32_t host; /* index in merge->hosts */
};

struct merge_file {
    const struct events_file *file;
    size_t first_host;
    struct merge_stream *streams; /* [stream_count], sorted by `from` */
    size_t stream_count;
    unsigned ops[EVENTS_OPS_MAX]; /* numbers in the merged file */
};

struct merge {
    struct merge_file *files;
    size_t file_count;
    struct merge_host *hosts;
    size_t host_count;
    struct merge_machine *machines;
    size_t machine_count;
    const struct events_op *ops[EVENTS_OPS_MAX]; /* from the first file that has it */
    unsigned op_count;
    uint64_t hz;
    struct events_writer writer;
    events_merge_write_fn write;
    void *context;
};

/* Converts a time of a recording to the common time line, in cycles. */
uint64_t merge_time(const struct merge *merge, const struct merge_host *host, uint64_t cycles);

/* Returns the stream of a file; NULL: it has no calls, and the marks at the ends do not list it. */
const struct merge_stream *merge_stream_find(const struct merge_file *file, uint32_t stream);

uint64_t merge_node(const struct merge_host *host, uint64_t node);
uint32_t merge_thread(const struct merge_host *host, uint32_t thread);

/* The possible error of the times of a recording, including the most by which a call was moved. */
uint64_t merge_error_ns(const struct merge *merge, const struct merge_host *host);

/* Ends a chunk and passes it to `write`. */
int merge_chunk_end(struct merge *merge);

/* Write what comes before the calls, and what comes after them. Errors: -ENOMEM, -E2BIG, those of `write` */
int merge_write_beginning(struct merge *merge);
int merge_write_rest(struct merge *merge);

#endif
