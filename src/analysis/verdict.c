/* From profiles of runs to words: the order of the parts of the comparison. */
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "compare.h"
#include "verdict_runs.h"

static bool is_so(const struct verdict_change *change, enum verdict_word word) {
    return change->is_there && change->word == word;
}

static bool has_change(const struct verdict_result *result) {
    bool has_changed_op = result->op_count > 0 && verdict_is_change(result->ops[0].word); /* changes come first */
    return has_changed_op || (result->common.is_there && verdict_is_change(result->common.word));
}

static bool has_slowdown(const struct verdict_result *result) {
    for (size_t i = 0; i < result->op_count; i++) {
        const struct verdict_op *op = &result->ops[i];
        const bool has_longer_mean = op->is_changed[VERDICT_MEAN] && op->ratios[VERDICT_MEAN].effect.low > 0;
        if (op->word == VERDICT_SLOWER || op->word == VERDICT_SOME_SLOWER || has_longer_mean ||
            (op->word == VERDICT_SLOWER_THAN_REST && op->ratios[VERDICT_MEAN].ratio > 1))
            return true;
    }
    return is_so(&result->common, VERDICT_SLOWER);
}

bool verdict_is_so(const struct verdict_result *result, unsigned questions) {
    bool has_more_calls = result->calls_counts[VERDICT_MORE_CALLS] + result->word_counts[VERDICT_ONLY_B] > 0;
    return ((questions & VERDICT_ON_CHANGE) && has_change(result)) ||
           ((questions & VERDICT_ON_SLOWER) && has_slowdown(result)) ||
           ((questions & VERDICT_ON_CALLS) && has_more_calls) ||
           ((questions & VERDICT_ON_TOTAL) && is_so(&result->total, VERDICT_MORE_TIME)) ||
           ((questions & VERDICT_ON_ELAPSED) && is_so(&result->elapsed, VERDICT_MORE_TIME));
}

#define TESTED_OF_ALL 3 /* effects of all ops together: the common one, and two of times */

/* All are brought to the highest rate, as two profiles are, and to the lowest resolution. */
static int bring_together(struct aggstats_profile *profiles, size_t count, bool *ret_rescaled) {
    uint64_t rate_hz = 0;
    unsigned resolution = profiles[0].resolution;
    for (size_t i = 0; i < count; i++) {
        rate_hz = profiles[i].clock.frequency_hz > rate_hz ? profiles[i].clock.frequency_hz : rate_hz;
        resolution = profiles[i].resolution < resolution ? profiles[i].resolution : resolution;
    }
    int err = 0;
    *ret_rescaled = false;
    for (size_t i = 0; i < count && !err; i++)
        err = compare_bring_to(&profiles[i], rate_hz, resolution, ret_rescaled);
    return err == -EOVERFLOW ? -ERANGE : err;
}

static int add_up(struct aggstats_profile *sum, const struct aggstats_profile *profiles, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int err = aggstats_profile_add(sum, &profiles[i]);
        if (err)
            return err;
    }
    return 0;
}

static double moved_cycles(const struct verdict_op *op) {
    return fabs(op->b_total_cycles - op->a_total_cycles);
}

static int by_word(const void *a, const void *b) {
    const struct verdict_op *left = a;
    const struct verdict_op *right = b;
    bool left_changed = verdict_is_change(left->word);
    bool right_changed = verdict_is_change(right->word);
    if (left_changed != right_changed)
        return left_changed ? -1 : 1;
    if (!left_changed && left->word != right->word)
        return left->word < right->word ? -1 : 1;
    if (moved_cycles(left) != moved_cycles(right))
        return moved_cycles(left) > moved_cycles(right) ? -1 : 1;
    return strcmp(left->name, right->name);
}

static int list_ops(struct verdict_result *result) {
    size_t most = result->a_sum.op_count + result->b_sum.op_count;
    result->ops = calloc(most + 1, sizeof(*result->ops));
    if (!result->ops)
        return -ENOMEM;
    for (size_t i = 0; i < result->a_sum.op_count; i++)
        result->ops[result->op_count++].name = result->a_sum.ops[i].name;
    for (size_t i = 0; i < result->b_sum.op_count; i++) {
        if (!aggstats_profile_op(&result->a_sum, result->b_sum.ops[i].name))
            result->ops[result->op_count++].name = result->b_sum.ops[i].name;
    }
    for (size_t i = 0; i < result->op_count; i++) {
        result->ops[i].a_sum = aggstats_profile_op(&result->a_sum, result->ops[i].name);
        result->ops[i].b_sum = aggstats_profile_op(&result->b_sum, result->ops[i].name);
    }
    return 0;
}

static int compare_ops(struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    for (size_t op = 0; op < result->op_count; op++)
        verdict_read_op(runs, op);
    int err = verdict_find_factors(runs);
    for (enum verdict_figure figure = 0; !err && figure < VERDICT_FIGURE_COUNT; figure++)
        err = verdict_compare_figure(runs, figure);
    if (!err)
        err = verdict_compare_tails(runs);
    if (!err)
        err = verdict_compare_peaks(runs);
    if (!err)
        err = verdict_compare_failures(runs);
    if (err)
        return err;
    verdict_compare_common(runs);
    verdict_compare_times(runs);
    verdict_judge_families(runs);
    verdict_judge_rare_calls(runs);
    verdict_find_words_of_all(runs);
    for (size_t op = 0; op < result->op_count; op++) {
        verdict_find_word(runs, &result->ops[op]);
        result->word_counts[result->ops[op].word]++;
        result->calls_counts[result->ops[op].calls_word]++;
    }
    verdict_find_trend(runs);
    qsort(result->ops, result->op_count, sizeof(*result->ops), by_word);
    return 0;
}

/* The result has its sums and ops already; figures are found in temporary memory. */
static int compare_runs(struct verdict_result *result, const struct aggstats_profile *profiles, size_t a_count,
                        size_t count) {
    const size_t rest_max = result->op_count * (VERDICT_FIGURE_COUNT + PEAKS_MAX + 1) + TESTED_OF_ALL;
    CLEANUP_FREE double *values = calloc(result->op_count * VERDICT_FIGURE_COUNT * count + 1, sizeof(*values));
    CLEANUP_FREE double *factors = calloc(count, sizeof(*factors));
    CLEANUP_FREE double *scratch = calloc(count, sizeof(*scratch));
    CLEANUP_FREE struct effect **usual = calloc(result->op_count + 1, sizeof(struct effect *));
    CLEANUP_FREE struct effect **tails = calloc(result->op_count + 1, sizeof(struct effect *));
    CLEANUP_FREE struct effect **rest = calloc(rest_max, sizeof(struct effect *));
    if (!values || !factors || !scratch || !usual || !tails || !rest)
        return -ENOMEM;
    struct verdict_runs runs = {
        .result = result,
        .profiles = profiles,
        .a_count = a_count,
        .count = count,
        .factors = factors,
        .values = values,
        .scratch = scratch,
        .tested = {[VERDICT_FAMILY_USUAL] = usual, [VERDICT_FAMILY_TAIL] = tails, [VERDICT_FAMILY_REST] = rest},
    };
    return compare_ops(&runs);
}

int verdict_compare(struct aggstats_profile *profiles, size_t a_count, size_t count,
                    const struct verdict_options *options, struct verdict_result *ret_result) {
    struct verdict_result result = {.options = *options, .a_count = a_count, .b_count = count - a_count};
    int err = bring_together(profiles, count, &result.rescaled);
    if (!err)
        err = add_up(&result.a_sum, profiles, a_count);
    if (!err)
        err = add_up(&result.b_sum, profiles + a_count, count - a_count);
    if (!err)
        err = list_ops(&result);
    if (!err)
        err = compare_runs(&result, profiles, a_count, count);
    if (err)
        verdict_finish(&result);
    else
        *ret_result = result;
    return err;
}

void verdict_finish(struct verdict_result *result) {
    for (size_t i = 0; i < result->op_count; i++)
        free(result->ops[i].peaks);
    free(result->ops);
    aggstats_profile_finish(&result->a_sum);
    aggstats_profile_finish(&result->b_sum);
    *result = (struct verdict_result){0};
}
