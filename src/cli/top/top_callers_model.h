/* Whose calls osprof top shows, made of two snapshots with groups. Pure functions.
 *
 * Differences of groups are taken bucket by bucket as far as there is something to be taken from, and a group that was
 * added to the others is looked for there: counts of a group may shrink a little from snapshot to snapshot. */
#ifndef TOP_CALLERS_MODEL_H
#define TOP_CALLERS_MODEL_H

#include "top_model.h"

/* Process or user, the kernel, or others. */
struct top_caller {
    struct top_figures figures;         /* first, so that rows can be ordered */
    const struct aggstats_group *group; /* its profile is what it did in that time. Owner: the frame */
};

/* What they did between two snapshots. A zeroed frame is empty, and may be finished. */
struct top_callers_frame {
    struct aggstats_profile profile; /* the difference, groups included */
    struct top_caller *rows;         /* of those that called */
    size_t row_count;
};

/* Of one grouping.
 * before: NULL: nothing, so that the frame shows the profile from its beginning
 * Owner:   the caller finishes *ret_frame; it keeps nothing of the snapshots
 * Errors:  -ERANGE they are not of one recording, -ENOMEM; *ret_frame untouched */
int top_callers_frame_make(const struct aggstats_profile *before, const struct aggstats_profile *now,
                           enum aggstats_grouping grouping, struct top_callers_frame *ret_frame);

void top_callers_frame_finish(struct top_callers_frame *frame);

/* As top_frame_sort(). */
void top_callers_frame_sort(struct top_callers_frame *frame, enum top_order order);

#endif
