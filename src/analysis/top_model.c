/* From two snapshots to rows. */
#include "top_model.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "figures.h"

const struct top_order_row top_orders[TOP_ORDER_COUNT] = {
    [TOP_BY_SHARE] = {'s', "share"}, [TOP_BY_CALLS] = {'c', "calls"}, [TOP_BY_MEAN] = {'m', "mean"},
    [TOP_BY_MAX] = {'x', "max"},     [TOP_BY_NAME] = {'n', "name"},
};

/* ---- The difference ----------------------------------------------------------------------------- */

/* A reset changes the start. Without one, counters only grow. */
bool top_is_one_recording(const struct aggstats_profile *before, const struct aggstats_profile *now) {
    return before->resolution == now->resolution && before->clock.kind == now->clock.kind &&
           before->has_start == now->has_start && before->start_ns == now->start_ns;
}

int top_subtract(const struct aggstats_profile *before, const struct aggstats_profile *now,
                 struct aggstats_profile *ret_difference) {
    if (!top_is_one_recording(before, now))
        return -ERANGE;
    struct aggstats_profile difference;
    int error = aggstats_profile_copy(now, &difference);
    if (error)
        return error;
    difference.clock = before->clock; /* subtraction requires equal clocks; the better rate is set below */
    error = aggstats_profile_subtract(&difference, before);
    difference.clock = now->clock;
    if (error)
        aggstats_profile_finish(&difference);
    else
        *ret_difference = difference;
    return error;
}

/* ---- Rows --------------------------------------------------------------------------------------- */

unsigned top_highest_bucket(const struct aggstats_op_profile *op, unsigned resolution) {
    unsigned bucket = 64 * resolution - 1;
    while (bucket > 0 && op->buckets[bucket] == 0)
        bucket--;
    return bucket;
}

void top_figures_relate(struct top_figures *figures, double total_cycles) {
    if (total_cycles > 0)
        figures->share = figures->total_cycles / total_cycles;
    if (figures->ended > 0)
        figures->mean_cycles = figures->total_cycles / (double)figures->ended;
}

static struct top_figures figures_of(const struct aggstats_op_profile *op, unsigned resolution) {
    struct top_figures figures = {.name = op->name,
                                  .ended = figures_finished(op, resolution),
                                  .total_cycles = (double)op->total_cycles,
                                  .max_bucket = top_highest_bucket(op, resolution),
                                  .longest_cycles = op->longest_cycles};
    struct aggstats_percentile percentile;
    if (aggstats_percentile(op, resolution, 999, &percentile))
        figures.p999_cycles = percentile.cycles;
    return figures;
}

static int make_ops(struct top_frame *frame) {
    const struct aggstats_profile *profile = &frame->profile;
    frame->total_cycles = figures_sum(profile).total_cycles;
    frame->ops = calloc(profile->op_count + 1, sizeof(*frame->ops));
    if (!frame->ops)
        return -ENOMEM;
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        struct top_op *row = &frame->ops[frame->op_count++];
        row->profile = op;
        row->figures = figures_of(op, profile->resolution);
        top_figures_relate(&row->figures, frame->total_cycles);
        frame->ended += row->figures.ended;
        frame->failed += aggstats_failed_calls(op);
        frame->moved_bytes += op->moved_bytes;
    }
    return 0;
}

static int compare_ages(const void *left, const void *right) {
    const struct aggstats_call *a = *(const struct aggstats_call *const *)left;
    const struct aggstats_call *b = *(const struct aggstats_call *const *)right;
    if (a->latency_cycles != b->latency_cycles)
        return a->latency_cycles > b->latency_cycles ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

int top_frame_make(const struct aggstats_profile *before, const struct aggstats_profile *now,
                   struct top_frame *ret_frame) {
    struct top_frame frame = {0};
    int error = before ? top_subtract(before, now, &frame.profile) : aggstats_profile_copy(now, &frame.profile);
    if (!error)
        error = make_ops(&frame);
    frame.calls = calloc(frame.profile.in_flight_count + 1,
                         sizeof(*frame.calls)); /* NOLINT(bugprone-sizeof-expression): of pointers */
    if (!error && !frame.calls)
        error = -ENOMEM;
    if (error) {
        top_frame_finish(&frame);
        return error;
    }
    for (size_t i = 0; i < frame.profile.in_flight_count; i++)
        frame.calls[frame.call_count++] = &frame.profile.in_flight[i];
    qsort(frame.calls, frame.call_count, sizeof(*frame.calls), compare_ages); /* NOLINT(bugprone-sizeof-expression) */
    for (size_t i = 0; i < now->op_count; i++)
        for (unsigned bucket = 0; bucket < 64 * now->resolution; bucket++)
            frame.seen_buckets[bucket] |= now->ops[i].buckets[bucket];
    top_frame_sort(&frame, TOP_BY_SHARE);
    *ret_frame = frame;
    return 0;
}

void top_frame_finish(struct top_frame *frame) {
    free(frame->ops);
    free(frame->calls);
    aggstats_profile_finish(&frame->profile);
    *frame = (struct top_frame){0};
}

/* ---- Order -------------------------------------------------------------------------------------- */

/* Larger ones first. */
static int compare_numbers(double a, double b) {
    return (a < b) - (a > b);
}

static int compare_shares(const void *left, const void *right) {
    const struct top_figures *a = left;
    const struct top_figures *b = right;
    int order = compare_numbers(a->share, b->share);
    return order ? order : strcmp(a->name, b->name);
}

static int compare_calls(const void *left, const void *right) {
    const struct top_figures *a = left;
    const struct top_figures *b = right;
    int order = (a->ended < b->ended) - (a->ended > b->ended);
    return order ? order : compare_shares(a, b);
}

static int compare_means(const void *left, const void *right) {
    int order = compare_numbers(((const struct top_figures *)left)->mean_cycles,
                                ((const struct top_figures *)right)->mean_cycles);
    return order ? order : compare_shares(left, right);
}

/* Ops without ended calls come after those whose calls took hardly any time. */
static int compare_max(const void *left, const void *right) {
    const struct top_figures *a = left;
    const struct top_figures *b = right;
    int order = (a->max_bucket < b->max_bucket) - (a->max_bucket > b->max_bucket);
    if (order == 0 && a->longest_cycles > 0 && b->longest_cycles > 0)
        order = (a->longest_cycles < b->longest_cycles) - (a->longest_cycles > b->longest_cycles);
    if (order == 0)
        order = (a->ended == 0) - (b->ended == 0);
    return order ? order : compare_shares(a, b);
}

/* Several processes may have one name. */
static int compare_by_name(const void *left, const void *right) {
    int order = strcmp(((const struct top_figures *)left)->name, ((const struct top_figures *)right)->name);
    return order ? order : compare_shares(left, right);
}

void top_figures_sort(void *rows, size_t count, size_t row_bytes, enum top_order order) {
    static int (*const comparisons[TOP_ORDER_COUNT])(const void *, const void *) = {
        [TOP_BY_SHARE] = compare_shares, [TOP_BY_CALLS] = compare_calls,  [TOP_BY_MEAN] = compare_means,
        [TOP_BY_MAX] = compare_max,      [TOP_BY_NAME] = compare_by_name,
    };
    if (count > 1) /* qsort() takes no null pointer */
        qsort(rows, count, row_bytes, comparisons[order]);
}

void top_frame_sort(struct top_frame *frame, enum top_order order) {
    top_figures_sort(frame->ops, frame->op_count, sizeof(*frame->ops), order);
}
