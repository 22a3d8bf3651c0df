/* The model of osprof top, made from two snapshots of one profile. Pure functions. */
#ifndef TOP_MODEL_H
#define TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "aggstats.h"
#include "wide_count.h"

/* The calls between two snapshots. */
struct top_figures {
    const char *name; /* of the op or group. Owner: the frame */
    wide_count ended; /* calls that returned in that time */
    double total_cycles;
    double share;            /* of the latency of all calls: 0..1 */
    double mean_cycles;      /* this and the next are valid if calls have ended */
    unsigned max_bucket;     /* the highest with a call */
    double p999_cycles;      /* for operations: 99.9 % of calls took at most this long */
    uint64_t longest_cycles; /* for operations: latency of the longest; 0: only its bucket is known */
};

/* An operation. */
struct top_op {
    struct top_figures figures;                /* must be first, for sorting rows */
    const struct aggstats_op_profile *profile; /* buckets. Owner: the frame */
};

/* All that happened between two snapshots, and the calls in flight at the second. A zeroed frame is empty, and may be
 * finished. */
struct top_frame {
    struct aggstats_profile profile; /* the difference */
    struct top_op *ops;
    size_t op_count;
    const struct aggstats_call **calls; /* oldest first. Owner: the frame */
    size_t call_count;
    wide_count ended;
    double total_cycles;
    wide_count failed;      /* calls */
    wide_count moved_bytes; /* each operation's modulo 2^64 */

    /* not 0: buckets that any op has in the second snapshot, so that an axis over them changes little with time */
    uint64_t seen_buckets[AGGSTATS_BUCKETS_MAX];
};

/* True if two snapshots are of one recording, without a reset between them. Their clock rates may differ: a recorder's
 * is improved over time. */
bool top_is_one_recording(const struct aggstats_profile *before, const struct aggstats_profile *now);

/* The difference of two snapshots, at the better known clock rate.
 * Owner:   the caller finishes *ret_difference
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_difference untouched */
int top_subtract(const struct aggstats_profile *before, const struct aggstats_profile *now,
                 struct aggstats_profile *ret_difference);

/* before: NULL: nothing, so that the frame shows the profile from its beginning
 * Owner:   the caller finishes *ret_frame; it keeps nothing of the snapshots
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_frame untouched */
int top_frame_make(const struct aggstats_profile *before, const struct aggstats_profile *now,
                   struct top_frame *ret_frame);

void top_frame_finish(struct top_frame *frame);

/* The orders of operations. Each has a key on the screen, and a word on the command line. */
enum top_order {
    TOP_BY_SHARE,
    TOP_BY_CALLS,
    TOP_BY_MEAN,
    TOP_BY_MAX,
    TOP_BY_NAME,
    TOP_ORDER_COUNT,
};

extern const struct top_order_row {
    int key;
    const char *name;
} top_orders[TOP_ORDER_COUNT];

/* Largest first; by name from A on. Ties are ordered by share, then by name. */
void top_frame_sort(struct top_frame *frame, enum top_order order);

/* The same for an array of anything that begins with figures. */
void top_figures_sort(void *rows, size_t count, size_t row_bytes, enum top_order order);

/* Sets share and mean from the other figures. total_cycles: of all rows */
void top_figures_relate(struct top_figures *figures, double total_cycles);

/* The highest bucket that has a call; 0 if none has. */
unsigned top_highest_bucket(const struct aggstats_op_profile *op, unsigned resolution);

#endif
