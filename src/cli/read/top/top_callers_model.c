/* From two snapshots to rows of callers. */
#include "top_callers_model.h"

#include <stdlib.h>

#include "base.h"
#include "figures.h"
#include "groups.h"

static struct top_caller row_of(const struct aggstats_group *group) {
    struct top_caller row = {.group = group, .figures = {.name = groups_name(group)}};
    for (size_t i = 0; i < group->profile.op_count; i++) {
        const struct aggstats_op_profile *op = &group->profile.ops[i];
        unsigned highest = top_highest_bucket(op, group->profile.resolution);
        row.figures.ended += figures_finished(op, group->profile.resolution);
        row.figures.total_cycles += (double)op->total_cycles;
        row.figures.max_bucket = highest > row.figures.max_bucket ? highest : row.figures.max_bucket;
    }
    return row;
}

static int make_rows(struct top_callers_frame *frame, enum aggstats_grouping grouping) {
    double total_cycles = 0;
    frame->rows = calloc(frame->profile.group_count + 1, sizeof(*frame->rows));
    if (!frame->rows)
        return -ENOMEM;
    for (size_t i = 0; i < frame->profile.group_count; i++) {
        const struct top_caller row = row_of(&frame->profile.groups[i]);
        if (row.group->grouping != grouping || row.figures.ended == 0)
            continue;
        frame->rows[frame->row_count++] = row;
        total_cycles += row.figures.total_cycles;
    }
    for (size_t i = 0; i < frame->row_count; i++)
        top_figures_relate(&frame->rows[i].figures, total_cycles);
    return 0;
}

int top_callers_frame_make(const struct aggstats_profile *before, const struct aggstats_profile *now,
                           enum aggstats_grouping grouping, struct top_callers_frame *ret_frame) {
    struct top_callers_frame frame = {.rows = NULL};
    int error = groups_difference(before, now, &frame.profile);
    if (error)
        return error;
    error = make_rows(&frame, grouping);
    if (error)
        top_callers_frame_finish(&frame);
    else
        *ret_frame = frame;
    return error;
}

void top_callers_frame_finish(struct top_callers_frame *frame) {
    free(frame->rows);
    aggstats_profile_finish(&frame->profile);
    *frame = (struct top_callers_frame){.rows = NULL};
}

void top_callers_frame_sort(struct top_callers_frame *frame, enum top_order order) {
    top_figures_sort(frame->rows, frame->row_count, sizeof(*frame->rows), order);
}
