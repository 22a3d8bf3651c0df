/* Private: a recorder's profile, cut into intervals (thesis §3.1.5).
 *
 * At each border a thread of the recorder takes the difference of two snapshots, so the hot path knows nothing of it.
 * The result is sparse: a cell for each bucket that got calls in an interval. Borders are stored as they were measured;
 * the format of the thesis (§5.8) has none, and intervals without borders are read too.
 *
 * Invariant: the sum of the intervals, and of what came since the last border, is the profile; exactly, for each
 * bucket. The size is bounded: when it is full, every two neighbours are merged, and from then on intervals are twice
 * as long. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "aggstats/cells.h"
#include "window.h"

struct timeline {
    struct layout layout;
    uint64_t wanted_cycles;   /* length of an interval, as requested */
    uint64_t interval_cycles; /* its current length */
    size_t capacity;          /* intervals; even */
    uint64_t *borders;        /* [capacity]; the end of each interval, in cycles since the start of the window */
    size_t count;
    void *seen;        /* table of counters: for each bucket, the sum of all intervals */
    struct cells *ops; /* [layout.op_count] */
};

/* Empty: its first interval begins with the window. Errors: -ENOMEM */
int timeline_create(const struct layout *layout, uint64_t interval_cycles, size_t capacity,
                    struct timeline **ret_timeline);
void timeline_destroy(struct timeline *timeline);

/* Empties it, for a new window. */
void timeline_clear(struct timeline *timeline);

/* Ends an interval: it gets what the window shows now and no interval has.
 * Errors:  -ENOMEM; nothing has changed then, and the current interval goes on */
int timeline_cut(struct timeline *timeline, const struct window *window, const struct tally *tally,
                 uint64_t elapsed_cycles);

/* Adds the intervals to a profile made of the same window and tally; the current one is the last.
 * op_names: of the layout's ops.
 * Errors:  -ENOMEM; the caller finishes the profile */
int timeline_show(const struct timeline *timeline, const struct window *window, const struct tally *tally,
                  const char (*op_names)[AGGSTATS_NAME_SIZE], struct aggstats_profile *profile);

#endif
