/* The callers shown by osprof top, made from two snapshots with groups. Pure functions.
 *
 * Counts of a group may shrink a little from snapshot to snapshot. So differences of groups are taken bucket by bucket,
 * down to 0 at the lowest, and a group that was added to `other` is searched for there. */
#ifndef TOP_CALLERS_MODEL_H
#define TOP_CALLERS_MODEL_H

#include "top_model.h"

/* A process or user, the kernel, or others. */
struct top_caller {
    struct top_figures figures;         /* must be first, for sorting rows */
    const struct aggstats_group *group; /* its profile is the difference. Owner: the frame */
};

/* The calls of groups between two snapshots. A zeroed frame is empty, and may be finished. */
struct top_callers_frame {
    struct aggstats_profile profile; /* the difference, groups included */
    struct top_caller *rows;         /* those that made calls */
    size_t row_count;
};

/* For one grouping.
 * before: NULL: nothing, so that the frame shows the profile from its beginning
 * Owner:   the caller finishes *ret_frame; it keeps nothing of the snapshots
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_frame untouched */
int top_callers_frame_make(const struct aggstats_profile *before, const struct aggstats_profile *now,
                           enum aggstats_grouping grouping, struct top_callers_frame *ret_frame);

void top_callers_frame_finish(struct top_callers_frame *frame);

/* As top_frame_sort(). */
void top_callers_frame_sort(struct top_callers_frame *frame, enum top_order order);

#endif
