/* From two snapshots to rows of callers; and asking a mount for its callers, again and again. */
#include "top_callers.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "control_socket.h"
#include "figures.h"
#include "groups.h"
#include "live_files.h"
#include "path.h"

static int make_rows(struct top_callers_frame *frame, enum aggstats_grouping grouping) {
    double total_cycles = 0;
    frame->rows = calloc(frame->profile.group_count + 1, sizeof(*frame->rows));
    if (!frame->rows)
        return -ENOMEM;
    for (size_t i = 0; i < frame->profile.group_count; i++) {
        const struct aggstats_group *group = &frame->profile.groups[i];
        struct top_caller row = {.group = group, .figures = {.name = groups_name(group)}};
        for (size_t j = 0; group->grouping == grouping && j < group->profile.op_count; j++) {
            const struct aggstats_op_profile *op = &group->profile.ops[j];
            const unsigned highest = top_highest_bucket(op, group->profile.resolution);
            row.figures.ended += figures_finished(op, group->profile.resolution);
            row.figures.total_cycles += (double)op->total_cycles;
            row.figures.max_bucket = highest > row.figures.max_bucket ? highest : row.figures.max_bucket;
        }
        if (row.figures.ended == 0)
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

static bool is_there(const struct aggstats_profile *profile) {
    return profile->resolution > 0;
}

static void forget_snapshots(struct top_callers *callers) {
    aggstats_profile_finish(&callers->mark);
    aggstats_profile_finish(&callers->previous);
    aggstats_profile_finish(&callers->latest);
}

void top_callers_finish(struct top_callers *callers) {
    control_reader_finish(&callers->reader);
    forget_snapshots(callers);
    top_callers_frame_finish(&callers->frame);
    free(callers->path);
    *callers = (struct top_callers){.path = NULL};
}

/* ---- Asking ------------------------------------------------------------------------------------- */

void top_callers_ask(struct top_callers *callers, const struct aggstats_profile *of, const char *path) {
    callers->is_fresh = false;
    if (callers->reader.pid > 0)
        return;
    free(callers->path);
    callers->path = path ? strdup(path) : control_path(of);
    CLEANUP_FREE char *asked = path ? strdup(path) : live_control(of);
    callers->is_in_mount = !asked || !control_socket_is_at(asked);
    callers->error = asked ? control_reader_begin(&callers->reader, asked) : -ENOTCONN;
}

/* ---- Answers ------------------------------------------------------------------------------------ */

static int make_frame(struct top_callers *callers, bool summing, enum top_order order) {
    const struct aggstats_profile *before = summing ? &callers->mark : &callers->previous;
    struct top_callers_frame frame;
    if (!is_there(before))
        before = NULL;
    int error = top_callers_frame_make(before, &callers->latest, callers->grouping, &frame);
    if (error)
        return error;
    top_callers_frame_sort(&frame, order);
    top_callers_frame_finish(&callers->frame);
    callers->frame = frame;
    callers->since_beginning = !before;
    return 0;
}

void top_callers_update(struct top_callers *callers, bool summing, enum top_order order) {
    if (!is_there(&callers->latest))
        return;
    int error = make_frame(callers, summing, order);
    if (error == -ERANGE) { /* counts from before the recording began anew do not matter any more */
        aggstats_profile_finish(&callers->mark);
        aggstats_profile_finish(&callers->previous);
        error = make_frame(callers, summing, order);
    }
    if (error)
        callers->error = error;
}

void top_callers_regroup(struct top_callers *callers, bool summing, enum top_order order) {
    callers->grouping = groups_next(&callers->latest, callers->grouping);
    callers->by = AGGSTATS_UNGROUPED;
    top_callers_update(callers, summing, order);
}

static void set_mark(struct top_callers *callers) {
    struct aggstats_profile mark;
    callers->mark_next = false;
    int error = aggstats_profile_copy(&callers->latest, &mark);
    if (error) {
        callers->error = error;
        return;
    }
    aggstats_profile_finish(&callers->mark);
    callers->mark = mark;
}

void top_callers_begin_here(struct top_callers *callers) {
    callers->mark_next = callers->wanted == TOP_CALLERS_UNWANTED || !is_there(&callers->latest);
    if (!callers->mark_next)
        set_mark(callers);
}

/* Errors: why the answer cannot be used */
static int check(const struct top_callers *callers, const struct aggstats_profile *answer,
                 const struct aggstats_profile *of) {
    if (!top_is_one_recording(of, answer))
        return -ESTALE;
    if (answer->groupings == 0) {
        /* A profile without calls has no groups, whether or not they are recorded. */
        wide_count ended = 0;
        for (size_t i = 0; i < answer->op_count; i++)
            ended += figures_finished(&answer->ops[i], answer->resolution);
        return ended == 0 ? 0 : -ENODATA;
    }
    return callers->by == AGGSTATS_UNGROUPED || answer->groupings & 1U << callers->by ? 0 : -EBUSY;
}

static void take(struct top_callers *callers, const struct aggstats_profile *answer, bool summing,
                 enum top_order order) {
    if (is_there(&callers->latest) && !top_is_one_recording(&callers->latest, answer))
        forget_snapshots(callers);
    aggstats_profile_finish(&callers->previous);
    callers->previous = callers->latest;
    callers->latest = *answer;
    callers->error = 0;
    if (answer->groupings != 0 && !(answer->groupings & 1U << callers->grouping))
        callers->grouping = callers->by != AGGSTATS_UNGROUPED ? callers->by : groups_first(answer);
    if (callers->mark_next)
        set_mark(callers);
    if (!callers->error)
        top_callers_update(callers, summing, order);
}

bool top_callers_collect(struct top_callers *callers, const struct aggstats_profile *of, bool summing,
                         enum top_order order) {
    struct aggstats_profile answer;
    int error = control_reader_collect(&callers->reader, &answer);
    if (error == -EAGAIN) { /* it is new that the answer is late, or nothing is */
        const bool was_late = callers->is_late;
        callers->is_late = control_reader_age_ns(&callers->reader) >= TOP_CALLERS_PATIENCE_NS;
        return callers->is_late && !was_late;
    }
    callers->is_late = false;
    callers->is_fresh = true;
    callers->error = error == -ENOENT || error == -ENOTDIR || error == -ECONNABORTED ? -ENOTCONN : error;
    if (error)
        return true;
    callers->error = check(callers, &answer, of);
    if (callers->error)
        aggstats_profile_finish(&answer);
    else
        take(callers, &answer, summing, order);
    return true;
}

/* ---- Waiting ------------------------------------------------------------------------------------ */

int top_callers_fd(const struct top_callers *callers) {
    return callers->wanted != TOP_CALLERS_UNWANTED && callers->reader.pid > 0 ? callers->reader.fd : -1;
}

int64_t top_callers_due_ns(const struct top_callers *callers) {
    if (top_callers_fd(callers) < 0 || callers->is_late)
        return -1;
    int64_t left_ns = TOP_CALLERS_PATIENCE_NS - control_reader_age_ns(&callers->reader);
    return left_ns > 0 ? left_ns : 0;
}
