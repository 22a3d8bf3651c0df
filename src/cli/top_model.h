/* What osprof top shows, made of two snapshots of one profile. Pure functions. */
#ifndef TOP_MODEL_H
#define TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "aggstats.h"

/* An operation in the time between two snapshots. */
struct top_op {
    const struct aggstats_op_profile *profile; /* name and buckets. Owner: the frame */
    uint64_t ended;                            /* calls that returned in that time */
    double share;                              /* of the latency of all ops: 0..1 */
    double mean_cycles;                        /* this and the next are meaningful if calls have ended */
    unsigned max_bucket;                       /* the highest that got a call */
};

#define TOP_COMMAND_SIZE 64

/* A call in flight. */
struct top_call {
    const struct aggstats_call_in_flight *call; /* Owner: the frame */
    char command[TOP_COMMAND_SIZE];             /* of its process, for whoever can find it out; else "" */
};

/* All that happened between two snapshots, and what has not ended at the second. A zeroed frame is empty, and may be
 * finished. */
struct top_frame {
    struct aggstats_profile profile; /* the difference */
    struct top_op *ops;
    size_t op_count;
    struct top_call *calls; /* oldest first */
    size_t call_count;
    uint64_t ended;
    double total_cycles;

    /* not 0: buckets that any op has in the second snapshot, so that an axis over them changes little with time */
    uint64_t seen_buckets[AGGSTATS_BUCKETS_MAX];
};

/* Whether two snapshots are of one recording, with no reset between them. Rates of the clock do not matter: that of a
 * recorder may have become better known. */
bool top_is_one_recording(const struct aggstats_profile *before, const struct aggstats_profile *now);

/* before: NULL: nothing, so that the frame shows the profile from its beginning
 * Owner:   the caller finishes *ret_frame; it keeps nothing of the snapshots
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_frame untouched */
int top_frame_make(const struct aggstats_profile *before, const struct aggstats_profile *now,
                   struct top_frame *ret_frame);

void top_frame_finish(struct top_frame *frame);

/* How operations may be ordered. A key of the screen, and a word of the command line, for each. */
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

/* Largest first, by name from A on. Equals are ordered by share, then by name. */
void top_frame_sort(struct top_frame *frame, enum top_order order);

#endif
