/* Counting bpftrace's output in a recorder while it traces. Each output has all since the beginning; only what is new
 * since the last one is counted.
 *
 * An output is one line of JSON for each map, and a mark behind them. It is counted when the mark has come, or the
 * output has ended. While calls go on, bpftrace may read a total later than its histogram: so only as much of a total
 * is counted as the new calls' buckets allow, and the rest later, with its calls. */
#ifndef TRACE_COUNTS_H
#define TRACE_COUNTS_H

#include "aggstats.h"

#define TRACE_COUNTS_BUCKETS 64 /* of bpftrace's hist(): resolution 1 */

/* The counts of an operation so far. */
struct trace_counted_op {
    uint64_t buckets[TRACE_COUNTS_BUCKETS];
    uint64_t negative;
    uint64_t total;
};

struct trace_counts {
    char names[AGGSTATS_OPS_MAX][AGGSTATS_NAME_SIZE]; /* [op_count], the possible operations */
    unsigned op_count;
    struct trace_counted_op ops[AGGSTATS_OPS_MAX];
    struct aggstats_recorder *recorder; /* borrowed; its operations are those, its resolution 1, its cycles ns */
    struct aggstats_block *lane;
    char *text; /* the beginning of a line */
    size_t text_bytes;
    size_t room_bytes;
    char *histograms; /* lines of the current output */
    char *totals;
    int64_t counted_ns;   /* CLOCK_MONOTONIC; calls that had ended by then are counted, and some later ones */
    bool mount_has_ended; /* the kernel has given its number to another one */
};

/* script: one of ours, which names its operations by "@name[NUMBER] = "NAME"". Errors: -E2BIG */
int trace_counts_init(struct trace_counts *ret_counts, const char *script);
void trace_counts_finish(struct trace_counts *counts);

/* Begins to count there. Errors: -ENOMEM */
int trace_counts_start(struct trace_counts *counts, struct aggstats_recorder *recorder);

/* Reads what can be read, and counts it.
 * Returns 1: there may be more later; 0: that was all
 * Errors:  -EBADMSG with *ret_why filled, -ENOMEM, those of reading */
int trace_counts_read(struct trace_counts *counts, int fd, struct aggstats_parse_error *ret_why);

#endif
