/* Private: a recorder's profile, cut into intervals (thesis §3.1.5).
 *
 * Invariant: what the intervals hold, and what has come since the last border, is the profile; of each bucket,
 * exactly. Its size is bounded: when it is full, each two neighbours become one, and from then on intervals are twice
 * as long. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "cells.h"
#include "window.h"

struct timeline {
    struct layout layout;
    uint64_t wanted_cycles;   /* length of an interval, as asked for */
    uint64_t interval_cycles; /* as it is now */
    size_t capacity;          /* intervals; even */
    uint64_t *borders;        /* [capacity]; where each interval ends, in cycles since the start of the window */
    size_t count;
    void *seen;        /* table of counters: of each bucket, the sum of all intervals */
    struct cells *ops; /* [layout.op_count] */
};

/* Empty: its first interval will begin with the window. Errors: -ENOMEM */
int timeline_create(const struct layout *layout, uint64_t interval_cycles, size_t capacity,
                    struct timeline **ret_timeline);
void timeline_destroy(struct timeline *timeline);

/* Empty again, for a new window. */
void timeline_clear(struct timeline *timeline);

/* Sets a border: what the window shows now, and no interval has, becomes the next.
 * Errors: -ENOMEM; nothing has changed then, and the interval that goes on is longer */
int timeline_cut(struct timeline *timeline, const struct window *window, const struct tally *tally,
                 uint64_t elapsed_cycles);

/* Gives the intervals to a profile made of the same window and tally; the one that goes on is the last.
 * op_names: of the layout's ops.
 * Errors:  -ENOMEM; the caller finishes the profile */
int timeline_show(const struct timeline *timeline, const struct window *window, const struct tally *tally,
                  const char (*op_names)[AGGSTATS_NAME_SIZE], struct aggstats_profile *profile);

#endif
