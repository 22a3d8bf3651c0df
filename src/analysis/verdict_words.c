/* Words for changes, from effects and their intervals. */
#include <math.h>

#include "base.h"
#include "verdict_runs.h"

const char *verdict_word_name(enum verdict_word word) {
    static const char *const names[] = {
        [VERDICT_SLOWER] = "slower",         [VERDICT_FASTER] = "faster",    [VERDICT_FAILS_MORE] = "fails more",
        [VERDICT_FAILS_LESS] = "fails less", [VERDICT_ONLY_A] = "only in A", [VERDICT_ONLY_B] = "only in B",
        [VERDICT_UNDECIDED] = "not decided", [VERDICT_ALIKE] = "alike",      [VERDICT_FEW] = "few calls",
    };
    return names[word];
}

static double bound_of(const struct verdict_result *result) {
    return log1p(result->options.at_least);
}

static bool is_within(const struct effect *effect, double bound) {
    return effect->is_known && effect->low >= -bound && effect->high <= bound;
}

static enum verdict_word word_of_effect(const struct effect *effect, double bound) {
    if (is_within(effect, bound))
        return VERDICT_ALIKE;
    if (!effect->is_beyond)
        return VERDICT_UNDECIDED;
    return effect->difference > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
}

/* Certain, and large enough to matter. */
static bool is_change(const struct effect *effect, double bound) {
    return effect->is_beyond && !is_within(effect, bound);
}

/* Returns whether any figure of latency or calls has changed; *ret_more: the most certain one takes more time */
static bool mark_changes(struct verdict_op *op, const struct verdict_options *options, bool *ret_more) {
    const double bound = log1p(options->at_least);
    double least_p = INFINITY;
    for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++) {
        const struct effect *effect = &op->ratios[figure].effect;
        op->is_changed[figure] = is_change(effect, bound);
        if (op->is_changed[figure] && effect->p < least_p) {
            least_p = effect->p;
            *ret_more = effect->difference > 0;
        }
    }
    for (size_t i = 0; i < op->peak_count; i++) {
        struct verdict_peak *peak = &op->peaks[i];
        peak->is_changed = peak->effect.is_beyond && fabs(peak->cost) >= options->at_least;
        if (peak->is_changed && peak->effect.p < least_p) {
            least_p = peak->effect.p;
            *ret_more = (peak->place.centre > log2(op->ratios[VERDICT_MEAN].a)) == (peak->effect.difference > 0);
        }
    }
    return least_p < INFINITY;
}

/* By the change of the total, if that is clear, and else by the most certain one. */
static enum verdict_word word_of_change(const struct verdict_op *op, double bound, bool surest_is_more) {
    const struct verdict_ratio *total = &op->ratios[VERDICT_TOTAL];
    bool is_more = surest_is_more;
    if (op->is_changed[VERDICT_MEAN])
        is_more = op->ratios[VERDICT_MEAN].effect.difference > 0;
    if (total->effect.is_known && (total->effect.low > bound || total->effect.high < -bound))
        is_more = total->effect.difference > 0;
    return is_more ? VERDICT_SLOWER : VERDICT_FASTER;
}

static bool is_in_each(const struct verdict_runs *runs, const struct verdict_op *op, size_t first, size_t end) {
    for (size_t run = first; run < end; run++) {
        const struct aggstats_op_profile *of_run = aggstats_profile_op(&runs->profiles[run], op->name);
        if (!of_run || of_run->calls == 0)
            return false;
    }
    return true;
}

static enum verdict_word word_without_figures(const struct verdict_runs *runs, const struct verdict_op *op) {
    if (op->b_calls == 0 && op->a_calls >= VERDICT_CALLS_MIN && is_in_each(runs, op, 0, runs->a_count))
        return VERDICT_ONLY_A;
    if (op->a_calls == 0 && op->b_calls >= VERDICT_CALLS_MIN && is_in_each(runs, op, runs->a_count, runs->count))
        return VERDICT_ONLY_B;
    return VERDICT_FEW;
}

static size_t more_runs_for(const struct verdict_runs *runs, const struct effect *effect) {
    const struct verdict_options *options = &runs->result->options;
    size_t had = effect->a_count < effect->b_count ? effect->a_count : effect->b_count;
    size_t needed = effect_runs_needed(effect, log1p(options->at_least),
                                       options->alpha / (double)runs->result->tested_count, VERDICT_RUNS_MOST);
    return needed > had ? needed - had : needed > 0 ? 1 : 0;
}

/* Of numbers of runs, where 0 is very many. */
static size_t larger_need(size_t a, size_t b) {
    if (a == 0 || b == 0)
        return 0;
    return a > b ? a : b;
}

static void leave_undecided(const struct verdict_runs *runs, struct verdict_op *op) {
    static const enum verdict_figure deciding[] = {VERDICT_MEAN, VERDICT_CALLS};
    op->word = VERDICT_ALIKE;
    op->more_runs = 1;
    for (size_t i = 0; i < ARRAY_SIZE(deciding); i++) {
        const struct effect *effect = &op->ratios[deciding[i]].effect;
        if (is_within(effect, bound_of(runs->result)))
            continue;
        op->word = VERDICT_UNDECIDED;
        op->more_runs = larger_need(op->more_runs, more_runs_for(runs, effect));
    }
}

/* The share has certainly changed, and by as much as matters: the larger exceeds the smaller by more than at_least. */
static bool failures_changed(const struct verdict_failures *failures, double at_least) {
    double low = fmin(failures->a_share, failures->b_share);
    double high = fmax(failures->a_share, failures->b_share);
    return failures->effect.is_beyond && high > (1 + at_least) * low;
}

void verdict_find_word(const struct verdict_runs *runs, struct verdict_op *op) {
    bool surest_is_more = false;
    op->failures.is_changed = failures_changed(&op->failures, runs->result->options.at_least);
    if (!verdict_op_is_judged(op))
        op->word = word_without_figures(runs, op);
    else if (mark_changes(op, &runs->result->options, &surest_is_more))
        op->word = word_of_change(op, bound_of(runs->result), surest_is_more);
    else if (op->failures.is_changed)
        op->word = op->failures.effect.difference > 0 ? VERDICT_FAILS_MORE : VERDICT_FAILS_LESS;
    else
        leave_undecided(runs, op);
}

void verdict_find_common_word(struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    if (!result->has_common)
        return;
    result->common_word = word_of_effect(&result->common.effect, bound_of(result));
    if (result->common_word == VERDICT_UNDECIDED)
        result->common_more_runs = more_runs_for(runs, &result->common.effect);
}
