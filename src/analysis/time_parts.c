/* Where the time went. */
#include "time_parts.h"

#include <math.h>

#include "aggstats/numbers.h"
#include "figures.h"

#define OP_SHARE_MIN 0.01 /* of the whole: smaller operations are not named */
#define SPAN_MIN 0.02     /* of the whole: bounds that differ by less are one figure */

static void add_part(struct time_parts *parts, enum time_part_kind kind, enum time_part_bound bound, double cycles) {
    if (cycles > 0)
        parts->parts[parts->count++] = (struct time_part){.kind = kind, .bound = bound, .cycles = cycles};
}

/* Returns their sum. */
static double add_ops(const struct aggstats_profile *profile, struct time_parts *parts) {
    const enum time_part_bound bound = parts->is_wall && parts->may_overlap ? TIME_AT_MOST : TIME_EXACT;
    const struct aggstats_op_profile *last = NULL; /* of those that are not named */
    double others = 0;
    double sum = 0;
    size_t other_count = 0;
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        const double total = (double)op->total_cycles;
        sum += total;
        if (parts->count < TIME_PARTS_OPS_MAX && total >= OP_SHARE_MIN * parts->whole_cycles && total > 0) {
            add_part(parts, TIME_OP, bound, total);
            parts->parts[parts->count - 1].op = op;
        } else if (total > 0) {
            others += total;
            other_count++;
            last = op;
        }
    }
    if (other_count == 0)
        return sum;
    add_part(parts, other_count == 1 ? TIME_OP : TIME_OTHER_OPS, bound, others);
    parts->parts[parts->count - 1].op = other_count == 1 ? last : NULL;
    parts->parts[parts->count - 1].op_count = other_count;
    return sum;
}

/* Waiting for a CPU may have been within calls, too, so it is an upper bound. */
static void add_rest_of_one(const struct answer_rest *rest, double outside, struct time_parts *parts) {
    const double queued = rest->queued_most >= ANSWER_SHARE_MIN * parts->whole_cycles ? rest->queued_most : 0;
    if (rest->computing_most - rest->computing_least <= SPAN_MIN * parts->whole_cycles) {
        const double computing = fmin((rest->computing_least + rest->computing_most) / 2, outside);
        const double waiting = fmin(queued, outside - computing);
        add_part(parts, TIME_CPU, TIME_EXACT, computing);
        add_part(parts, TIME_QUEUE, TIME_AT_MOST, waiting);
        add_part(parts, TIME_WAITS, waiting > 0 ? TIME_AT_LEAST : TIME_EXACT, outside - computing - waiting);
        return;
    }
    parts->queued_most = queued;
    add_part(parts, TIME_CPU, TIME_AT_LEAST, rest->computing_least);
    add_part(parts, TIME_CPU_OR_WAITS, TIME_EXACT, outside - rest->computing_least - rest->others_least);
    add_part(parts, TIME_WAITS, TIME_AT_LEAST, rest->others_least);
}

/* The CPU time of several threads is an upper bound of the time in which any of them was on a CPU. Neither that nor latency
 * accounts for the remaining time: it was spent waiting. */
static void add_rest(const struct answer_model *model, double outside, struct time_parts *parts) {
    const struct answer_rest *rest = &model->rest;
    if (!parts->has_unmeasured && rest->kind == ANSWER_REST_ONE && !parts->may_overlap) {
        add_rest_of_one(rest, outside, parts);
    } else if (!parts->has_unmeasured && rest->kind == ANSWER_REST_SEVERAL &&
               rest->idle_least >= ANSWER_SHARE_MIN * parts->whole_cycles) {
        add_part(parts, TIME_CPU, TIME_AT_MOST, outside - rest->idle_least);
        add_part(parts, TIME_QUEUE_WAITS, TIME_AT_LEAST, rest->idle_least);
    } else {
        add_part(parts, TIME_OUTSIDE, parts->may_overlap ? TIME_AT_LEAST : TIME_EXACT, outside);
    }
}

void time_parts_make(const struct aggstats_profile *profile, const struct answer_model *model,
                     struct time_parts *ret_parts) {
    const double elapsed = profile->has_elapsed ? (double)profile->elapsed_cycles : 0;
    const bool is_one_thread = model->rest.kind == ANSWER_REST_ONE && profile->busy.most <= 1;
    *ret_parts = (struct time_parts){
        .is_wall = elapsed > 0 && model->sum.total_cycles <= elapsed,
        .may_overlap = !model->is_one_by_one && !is_one_thread,
        .has_unmeasured = aggstats_profile_has_unseen(profile) || model->witness.is_at_least ||
                          profile->in_flight_count > 0 || figures_left(profile) > 0 ||
                          aggstats_profile_label(profile, "still_running"),
    };
    ret_parts->whole_cycles = ret_parts->is_wall ? elapsed : model->sum.total_cycles;
    const double sum = add_ops(profile, ret_parts);
    if (ret_parts->is_wall)
        add_rest(model, elapsed - sum, ret_parts);
}
