/* From profiles of runs to words: the order of the parts of the comparison, and all ops
 * together: the common factor of each run, a median over its ops (verdict.h), how it differs between the sides and over
 * time, and how long the runs took. */
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "compare.h"
#include "statistics.h"
#include "verdict_runs.h"

#define COMMON_CALLS_MIN 30.0 /* a run: ops with fewer say too little about the machine */
#define TREND_ALPHA 0.01
#define TREND_RUNS_MIN 6U
#define TESTED_OF_ALL 3 /* effects of all ops together: the common one, and two of times */

/* Of an op's usual latencies, with equal weight for both sides; NAN: the op is not used for the factor, as it is not called
 * often in each run. */
static double centre_of(const struct verdict_runs *runs, size_t op) {
    const double *calls = verdict_values(runs, op, VERDICT_CALLS);
    const double *latencies = verdict_values(runs, op, VERDICT_USUAL);
    const struct effect effect = effect_of(latencies, runs->a_count, runs->count);
    for (size_t run = 0; run < runs->count; run++)
        if (calls[run] < log(COMMON_CALLS_MIN) || isnan(latencies[run]) || verdict_is_zero(runs, op, run))
            return NAN;
    return (effect.a + effect.b) / 2;
}

/* Of an op's usual latencies, without what is common. */
static struct effect effect_of_usual(const struct verdict_runs *runs, size_t op) {
    return effect_of(verdict_without_factors(runs, op, VERDICT_USUAL), runs->a_count, runs->count);
}

/* Of the difference between the means of two sides of values with this variance. */
static double variance_of_difference(const struct effect *effect) {
    return effect->variance * (1.0 / (double)effect->a_count + 1.0 / (double)effect->b_count);
}

/* The median variance of the differences of the means, over the ops used for the factor, as far as it comes from the
 * runs. centres, scratch: [ops] */
static double typical_variance(const struct verdict_runs *runs, const double *centres, double *scratch) {
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (isnan(centres[op]))
            continue;
        const struct effect effect = effect_of_usual(runs, op);
        scratch[count++] = variance_of_difference(&effect);
    }
    return count > 0 ? statistics_median(scratch, count) : 0;
}

/* Ops may change by more than one factor, some a little up and some down. How much they do is their spread beyond their
 * own noise; the error of a median of few such ops follows from it (1.57 is pi / 2, the variance of a median of normal
 * values over that of their mean). */
static double variance_of_factors(const struct verdict_runs *runs, const double *centres, double *scratch) {
    double noise = 0;
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (isnan(centres[op]))
            continue;
        const struct effect effect = effect_of_usual(runs, op);
        scratch[count++] = effect.difference;
        noise += variance_of_difference(&effect);
    }
    if (count < VERDICT_COMMON_OPS_MIN)
        return 0;
    /* The spread of the values around their median, as a standard deviation that outliers hardly change. */
    const double median = statistics_median(scratch, count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(scratch[i] - median);
    const double spread = 1.4826 * statistics_median(scratch, count);
    return fmax(0, spread * spread - noise / (double)count) * M_PI_2 / (double)count;
}

/* Sets the factors of the runs, 0 if they are not used, and their variance, from the ops' values.
 * Errors:  -ENOMEM */
static int find_factors(struct verdict_runs *runs) {
    const size_t op_count = runs->result->op_count;
    CLEANUP_FREE double *centres = calloc(op_count + 1, sizeof(*centres));
    CLEANUP_FREE double *scratch = calloc(op_count + 1, sizeof(*scratch));
    if (!centres || !scratch)
        return -ENOMEM;
    for (size_t op = 0; op < op_count; op++)
        centres[op] = centre_of(runs, op);
    double variance_without = typical_variance(runs, centres, scratch); /* there are no factors yet */
    for (size_t run = 0; run < runs->count; run++) {                    /* what the ops of a run have in common */
        size_t count = 0;
        for (size_t op = 0; op < op_count; op++)
            if (!isnan(centres[op]))
                scratch[count++] = verdict_values(runs, op, VERDICT_USUAL)[run] - centres[op];
        runs->factors[run] = count >= VERDICT_COMMON_OPS_MIN ? statistics_median(scratch, count) : 0;
    }
    runs->factors_variance = variance_of_factors(runs, centres, scratch);
    const double variance_with = typical_variance(runs, centres, scratch) + runs->factors_variance;
    runs->result->common.is_there = variance_with < variance_without;
    if (!runs->result->common.is_there) {
        memset(runs->factors, 0, runs->count * sizeof(*runs->factors));
        runs->factors_variance = 0;
    }
    return 0;
}

/* ---- The sides ---------------------------------------------------------------------------------- */

/* Sets the effect on the common factor, if there is one; it is judged with the others. */
static void compare_common(struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    struct verdict_ratio *common = &result->common.ratio;
    if (!result->common.is_there)
        return;
    common->effect = effect_of(runs->factors, runs->a_count, runs->count);
    common->effect.shared = runs->factors_variance;
    common->a = exp(common->effect.a);
    common->b = exp(common->effect.b);
    verdict_ratio_conclude(common);
    result->common_spread = verdict_ratio_of(sqrt(common->effect.variance));
    verdict_judge(runs, VERDICT_FAMILY_REST, &common->effect);
}

/* Latency of all calls. */
static double total_of(const struct aggstats_profile *profile) {
    return figures_sum(profile).total_cycles;
}

/* -1: the run does not tell it */
static double elapsed_of(const struct aggstats_profile *profile) {
    return profile->has_elapsed ? (double)profile->elapsed_cycles : -1;
}

/* Sets the effect on the latency of all calls of a run, or on its elapsed time; it is judged with the others. Nothing is
 * compared if a run has no such time, or no run takes any. */
static void compare_times(struct verdict_runs *runs, double (*time_of)(const struct aggstats_profile *profile),
                          struct verdict_change *ret_change) {
    double most[2] = {0, 0}; /* of a side */
    for (size_t run = 0; run < runs->count; run++) {
        const double cycles = time_of(&runs->profiles[run]);
        if (cycles < 0)
            return;
        most[run >= runs->a_count] = fmax(most[run >= runs->a_count], cycles);
        runs->scratch[run] = log(fmax(VERDICT_HALF_CYCLE, cycles));
    }
    if (most[0] + most[1] == 0)
        return;
    struct verdict_ratio *ratio = &ret_change->ratio;
    ret_change->is_there = true;
    ratio->effect = effect_of(runs->scratch, runs->a_count, runs->count);
    ratio->a = most[0] > 0 ? exp(ratio->effect.a) : 0;
    ratio->b = most[1] > 0 ? exp(ratio->effect.b) : 0;
    verdict_ratio_conclude(ratio);
    verdict_judge(runs, VERDICT_FAMILY_REST, &ratio->effect);
}

/* Fits a line through the factors of the runs, each less its side's mean, by their order. */
static void find_trend(const struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    if (!result->common.is_there || runs->count < TREND_RUNS_MIN)
        return;
    for (size_t run = 0; run < runs->count; run++)
        if (!runs->profiles[run].has_start)
            return;
    CLEANUP_FREE double *places = calloc(runs->count, sizeof(*places));
    if (!places)
        return; /* nothing is reported then */
    for (size_t run = 0; run < runs->count; run++)
        for (size_t other = 0; other < runs->count; other++) /* the number of runs that began earlier */
            places[run] += runs->profiles[other].start_ns < runs->profiles[run].start_ns;
    const struct effect *common = &result->common.ratio.effect;
    const struct effect place = effect_of(places, runs->a_count, runs->count);
    double squares = 0;
    double products = 0;
    for (size_t run = 0; run < runs->count; run++) {
        double x = places[run] - (run < runs->a_count ? place.a : place.b);
        squares += x * x;
        products += x * (runs->factors[run] - (run < runs->a_count ? common->a : common->b));
    }
    double freedom = (double)runs->count - 3;
    double slope = squares > 0 ? products / squares : 0;
    double rest = common->variance * common->freedom - slope * products;
    result->has_trend = squares > 0 && effect_line_is_sure(slope, rest / freedom / squares, freedom, TREND_ALPHA);
    result->trend = verdict_ratio_of(slope);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

static bool is_so(const struct verdict_change *change, enum verdict_word word) {
    return change->is_there && change->word == word;
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
    bool has_change = (result->op_count > 0 && verdict_is_change(result->ops[0].word)) || /* changes come first */
                      (result->common.is_there && verdict_is_change(result->common.word));
    bool has_more_calls = result->calls_counts[VERDICT_MORE_CALLS] + result->word_counts[VERDICT_ONLY_B] > 0;
    return ((questions & VERDICT_ON_CHANGE) && has_change) ||
           ((questions & VERDICT_ON_SLOWER) && has_slowdown(result)) ||
           ((questions & VERDICT_ON_CALLS) && has_more_calls) ||
           ((questions & VERDICT_ON_TOTAL) && is_so(&result->total, VERDICT_MORE_TIME)) ||
           ((questions & VERDICT_ON_ELAPSED) && is_so(&result->elapsed, VERDICT_MORE_TIME));
}

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
    int err = find_factors(runs);
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
    compare_common(runs);
    compare_times(runs, total_of, &result->total);
    compare_times(runs, elapsed_of, &result->elapsed);
    for (enum verdict_family family = 0; family < VERDICT_FAMILY_COUNT; family++)
        effects_judge(runs->tested[family], runs->tested_counts[family], verdict_alpha_of_all(runs, family));
    verdict_judge_rare_calls(runs);
    verdict_find_words_of_all(runs);
    for (size_t op = 0; op < result->op_count; op++) {
        verdict_find_word(runs, &result->ops[op]);
        verdict_find_dilution(runs, &result->ops[op]);
        result->word_counts[result->ops[op].word]++;
        result->calls_counts[result->ops[op].calls_word]++;
    }
    find_trend(runs);
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
