/* From profiles of runs to words. */
#include "verdict.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "shares.h"
#include "verdict_failures.h"

#define COMMON_CALLS_MIN 30.0            /* a run: ops with fewer say too little of the machine */
#define HALF_CALL 0.5                    /* instead of no calls, for a logarithm */
#define PERCENTILE_TOLERANCE_BUCKETS 0.5 /* where in its bucket a percentile lies is a guess */
#define LOG_MAX 100.0                    /* of a ratio: beyond, nothing is known */
#define TREND_ALPHA 0.01
#define TREND_RUNS_MIN 6U

static const struct {
    const char *name;
    bool is_latency; /* of a call: beside the common factor */
    bool is_judged;
    unsigned percent; /* of a percentile */
} figures[VERDICT_FIGURE_COUNT] = {
    [VERDICT_MEAN] = {"mean", true, true, 0},    [VERDICT_P50] = {"p50", true, true, 50},
    [VERDICT_P90] = {"p90", true, true, 90},     [VERDICT_P99] = {"p99", true, true, 99},
    [VERDICT_CALLS] = {"calls", false, true, 0}, [VERDICT_TOTAL] = {"total", false, false, 0},
};

const char *verdict_word_name(enum verdict_word word) {
    static const char *const names[] = {
        [VERDICT_SLOWER] = "slower",         [VERDICT_FASTER] = "faster",    [VERDICT_FAILS_MORE] = "fails more",
        [VERDICT_FAILS_LESS] = "fails less", [VERDICT_ONLY_A] = "only in A", [VERDICT_ONLY_B] = "only in B",
        [VERDICT_UNDECIDED] = "not decided", [VERDICT_ALIKE] = "alike",      [VERDICT_FEW] = "few calls",
    };
    return names[word];
}

bool verdict_has_slowdown(const struct verdict_result *result) {
    return result->word_counts[VERDICT_SLOWER] > 0 || (result->has_common && result->common_word == VERDICT_SLOWER);
}

bool verdict_has_change(const struct verdict_result *result) {
    bool has_changed_op = result->op_count > 0 && verdict_is_change(result->ops[0].word); /* these come first */
    return has_changed_op || (result->has_common && verdict_is_change(result->common_word));
}

const char *verdict_figure_name(enum verdict_figure figure) {
    return figures[figure].name;
}

/* What is known of the runs while they are compared. */
struct runs {
    struct verdict_result *result;
    const struct aggstats_profile *profiles;
    size_t a_count;
    size_t count;
    double *factors;         /* [count] common to the ops of a run, as logarithms */
    double factors_variance; /* of the difference between the sides' factors, by what ops differ from each other */
    double *values;          /* [op][figure][run] logarithms; NAN: none */
    double *scratch;         /* [count] */
    struct effect **tested;  /* what is judged together */
};

/* ---- One clock rate, one resolution ------------------------------------------------------------- */

/* All go to the highest rate, as two profiles do. */
static int equalise_rates(struct aggstats_profile *profiles, size_t count, bool *ret_rescaled) {
    uint64_t rate_hz = 0;
    for (size_t i = 0; i < count; i++)
        rate_hz = profiles[i].clock.frequency_hz > rate_hz ? profiles[i].clock.frequency_hz : rate_hz;
    *ret_rescaled = false;
    for (size_t i = 0; i < count; i++) {
        uint64_t own_hz = profiles[i].clock.frequency_hz;
        if (rate_hz - own_hz <= own_hz / 1000) /* one rate, measured twice; or none is known */
            continue;
        if (own_hz == 0)
            return -EDOM;
        int err = aggstats_profile_rescale(&profiles[i], rate_hz);
        if (err)
            return err == -EOVERFLOW ? -ERANGE : err;
        *ret_rescaled = true;
    }
    return 0;
}

static int equalise_resolutions(struct aggstats_profile *profiles, size_t count) {
    unsigned resolution = profiles[0].resolution;
    for (size_t i = 0; i < count; i++)
        resolution = profiles[i].resolution < resolution ? profiles[i].resolution : resolution;
    for (size_t i = 0; i < count; i++) {
        int err = aggstats_profile_coarsen(&profiles[i], resolution);
        if (err)
            return err;
    }
    return 0;
}

static int add_up(struct aggstats_profile *sum, const struct aggstats_profile *profiles, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int err = aggstats_profile_add(sum, &profiles[i]);
        if (err)
            return err;
    }
    return 0;
}

/* ---- Figures of runs ---------------------------------------------------------------------------- */

static double *values_of(const struct runs *runs, size_t op, enum verdict_figure figure) {
    return &runs->values[(op * VERDICT_FIGURE_COUNT + figure) * runs->count];
}

static double figure_of(const struct aggstats_op_profile *op, unsigned resolution, enum verdict_figure figure) {
    uint64_t finished = op ? figures_finished(op, resolution) : 0;
    if (figure == VERDICT_CALLS)
        return op && op->calls > 0 ? (double)op->calls : HALF_CALL;
    if (finished == 0 || op->total_cycles == 0)
        return NAN;
    if (figure == VERDICT_TOTAL)
        return (double)op->total_cycles;
    if (figure == VERDICT_MEAN)
        return (double)op->total_cycles / (double)finished;
    struct aggstats_percentile percentile;
    aggstats_percentile(op, resolution, 10 * figures[figure].percent, &percentile);
    return percentile.cycles;
}

static void read_op(const struct runs *runs, size_t index) {
    struct verdict_op *op = &runs->result->ops[index];
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        const struct aggstats_op_profile *of_run = aggstats_profile_op(profile, op->name);
        for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++)
            values_of(runs, index, figure)[run] = log(figure_of(of_run, profile->resolution, figure));
        double calls = of_run ? (double)of_run->calls : 0;
        double total_cycles = of_run ? (double)of_run->total_cycles : 0;
        size_t side_count = run < runs->a_count ? runs->a_count : runs->count - runs->a_count;
        *(run < runs->a_count ? &op->a_calls : &op->b_calls) += calls / (double)side_count;
        *(run < runs->a_count ? &op->a_total_cycles : &op->b_total_cycles) += total_cycles / (double)side_count;
    }
}

/* ---- The common factor -------------------------------------------------------------------------- */

/* The op is called often, in each run. */
static bool tells_of_machine(const struct runs *runs, size_t op) {
    const double *calls = values_of(runs, op, VERDICT_CALLS);
    const double *means = values_of(runs, op, VERDICT_MEAN);
    for (size_t run = 0; run < runs->count; run++) {
        if (calls[run] < log(COMMON_CALLS_MIN) || isnan(means[run]))
            return false;
    }
    return true;
}

/* Of an op's means, as if both sides were of one size; NAN: it does not tell of the machine. */
static double centre_of(const struct runs *runs, size_t op) {
    struct effect effect = effect_of(values_of(runs, op, VERDICT_MEAN), runs->a_count, runs->count);
    return tells_of_machine(runs, op) ? (effect.a + effect.b) / 2 : NAN;
}

/* What ops of a run have in common. centres, scratch: [ops] */
static double factor_of(const struct runs *runs, size_t run, const double *centres, double *scratch) {
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (!isnan(centres[op]))
            scratch[count++] = values_of(runs, op, VERDICT_MEAN)[run] - centres[op];
    }
    return count >= VERDICT_COMMON_OPS_MIN ? gsl_stats_median(scratch, 1, count) : 0;
}

/* An op's value of a run, beside what is common. */
static const double *beside_factors(const struct runs *runs, size_t op, enum verdict_figure figure) {
    const double *values = values_of(runs, op, figure);
    for (size_t run = 0; run < runs->count; run++)
        runs->scratch[run] = values[run] - (figures[figure].is_latency ? runs->factors[run] : 0);
    return runs->scratch;
}

/* Of the ops that tell of the machine, the median variance of their means. centres, scratch: as above */
static double typical_variance(const struct runs *runs, const double *centres, double *scratch) {
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (!isnan(centres[op]))
            scratch[count++] = effect_of(beside_factors(runs, op, VERDICT_MEAN), runs->a_count, runs->count).variance;
    }
    return count > 0 ? gsl_stats_median(scratch, 1, count) : 0;
}

/* By how much values lie about their median: a standard deviation, if they are normal, that outliers hardly change.
 * Changes the values. */
static double median_distance(double *values, size_t count) {
    const double median = gsl_stats_median(values, 1, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    return 1.4826 * gsl_stats_median(values, 1, count);
}

/* Ops may change by more than one factor, some a little up and some down. By how much is what they are spread beyond
 * their own noise; and a median of few such is not known better than they let it be (1.57 is pi / 2, the variance of a
 * median of normal values over that of their mean). */
static double variance_of_factors(const struct runs *runs, const double *centres, double *scratch) {
    double noise = 0;
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (isnan(centres[op]))
            continue;
        const struct effect effect = effect_of(beside_factors(runs, op, VERDICT_MEAN), runs->a_count, runs->count);
        scratch[count++] = effect.difference;
        noise += effect.variance * (1.0 / (double)effect.a_count + 1.0 / (double)effect.b_count);
    }
    if (count < VERDICT_COMMON_OPS_MIN)
        return 0;
    const double spread = median_distance(scratch, count);
    return fmax(0, spread * spread - noise / (double)count) * M_PI_2 / (double)count;
}

static int find_factors(struct runs *runs) {
    const size_t op_count = runs->result->op_count;
    CLEANUP_FREE double *centres = calloc(op_count + 1, sizeof(*centres));
    CLEANUP_FREE double *scratch = calloc(op_count + 1, sizeof(*scratch));
    if (!centres || !scratch)
        return -ENOMEM;
    for (size_t op = 0; op < op_count; op++)
        centres[op] = centre_of(runs, op);
    double variance_without = typical_variance(runs, centres, scratch); /* there are no factors yet */
    for (size_t run = 0; run < runs->count; run++)
        runs->factors[run] = factor_of(runs, run, centres, scratch);
    runs->result->has_common = variance_without > 0 && typical_variance(runs, centres, scratch) < variance_without;
    if (!runs->result->has_common)
        memset(runs->factors, 0, runs->count * sizeof(*runs->factors));
    else
        runs->factors_variance = variance_of_factors(runs, centres, scratch);
    return 0;
}

/* ---- Effects ------------------------------------------------------------------------------------ */

static void judge_with_others(struct runs *runs, struct effect *effect) {
    if (effect->is_known)
        runs->tested[runs->result->tested_count++] = effect;
}

static double tolerance_of(const struct verdict_result *result, enum verdict_figure figure) {
    return figures[figure].percent > 0 ? PERCENTILE_TOLERANCE_BUCKETS * M_LN2 / result->a_sum.resolution : 0;
}

static double ratio_of(double logarithm) {
    return exp(fmax(-LOG_MAX, fmin(LOG_MAX, logarithm)));
}

static void conclude_ratio(struct verdict_ratio *ratio) {
    effect_conclude(&ratio->effect);
    ratio->ratio = ratio_of(ratio->effect.difference);
    ratio->low = ratio_of(ratio->effect.low);
    ratio->high = ratio_of(ratio->effect.high);
}

static bool is_judged(const struct verdict_op *op) {
    return op->a_calls >= VERDICT_CALLS_MIN && op->b_calls >= VERDICT_CALLS_MIN;
}

static int moderate_figure(struct runs *runs, enum verdict_figure figure) {
    CLEANUP_FREE struct effect **effects = calloc(runs->result->op_count + 1, sizeof(struct effect *));
    size_t count = 0;
    if (!effects)
        return -ENOMEM;
    for (size_t i = 0; i < runs->result->op_count; i++) {
        struct verdict_op *op = &runs->result->ops[i];
        struct verdict_ratio *ratio = &op->ratios[figure];
        const struct effect plain = effect_of(values_of(runs, i, figure), runs->a_count, runs->count);
        ratio->a = exp(plain.a);
        ratio->b = exp(plain.b);
        ratio->effect = effect_of(beside_factors(runs, i, figure), runs->a_count, runs->count);
        ratio->effect.tolerance = tolerance_of(runs->result, figure);
        ratio->effect.shared = figures[figure].is_latency ? runs->factors_variance : 0;
        if (is_judged(op))
            effects[count++] = &ratio->effect;
    }
    effects_moderate(effects, count);
    for (size_t i = 0; i < runs->result->op_count; i++) {
        struct verdict_op *op = &runs->result->ops[i];
        conclude_ratio(&op->ratios[figure]);
        if (is_judged(op) && figures[figure].is_judged)
            judge_with_others(runs, &op->ratios[figure].effect);
    }
    return 0;
}

/* ---- Peaks -------------------------------------------------------------------------------------- */

/* Both sides' calls, as if there were as many of either: where the larger is scaled down to the smaller. */
static struct aggstats_op_profile mix(const struct verdict_op *op, unsigned resolution, uint64_t *buckets) {
    const double a = (double)figures_finished(op->a_sum, resolution);
    const double b = (double)figures_finished(op->b_sum, resolution);
    struct aggstats_op_profile mixed = {.buckets = buckets};
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        buckets[bucket] = (uint64_t)llround((double)op->a_sum->buckets[bucket] * fmin(1, b / a)) +
                          (uint64_t)llround((double)op->b_sum->buckets[bucket] * fmin(1, a / b));
    return mixed;
}

/* A peak's calls in a run, and those beside it. */
static double logit_of_share(const struct aggstats_op_profile *op, unsigned resolution, const struct peak *place,
                             double *ret_share) {
    uint64_t finished = op ? figures_finished(op, resolution) : 0;
    uint64_t inside = 0;
    *ret_share = 0;
    if (finished == 0)
        return NAN;
    for (unsigned bucket = place->first; bucket <= place->last; bucket++)
        inside += op->buckets[bucket];
    *ret_share = (double)inside / (double)finished;
    return share_logit(inside, finished);
}

static void compare_peak(const struct runs *runs, const struct verdict_op *op, struct verdict_peak *peak) {
    double shares[2] = {0, 0};
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        double share;
        runs->scratch[run] =
            logit_of_share(aggstats_profile_op(profile, op->name), profile->resolution, &peak->place, &share);
        shares[run >= runs->a_count] += share;
    }
    peak->effect = effect_of(runs->scratch, runs->a_count, runs->count);
    peak->a_share = peak->effect.a_count > 0 ? shares[0] / (double)peak->effect.a_count : 0;
    peak->b_share = peak->effect.b_count > 0 ? shares[1] / (double)peak->effect.b_count : 0;
    double least = share_variance((peak->a_share + peak->b_share) / 2, (op->a_calls + op->b_calls) / 2);
    peak->effect.variance = fmax(peak->effect.variance, least);
    peak->effect.is_known &= peak->effect.a_count > 1 && peak->effect.b_count > 1;
    double moved_cycles = (peak->b_share - peak->a_share) * exp2(peak->place.centre);
    peak->cost = moved_cycles / op->ratios[VERDICT_MEAN].a;
}

/* An op with one peak has nothing to tell apart. */
static int find_peaks(const struct runs *runs, struct verdict_op *op) {
    const unsigned resolution = runs->result->a_sum.resolution;
    uint64_t buckets[AGGSTATS_BUCKETS_MAX];
    struct peak places[PEAKS_MAX];
    struct aggstats_op_profile mixed = mix(op, resolution, buckets);
    size_t count = peaks_find(&mixed, resolution, places);
    if (count < 2)
        return 0;
    op->peaks = calloc(count, sizeof(*op->peaks));
    if (!op->peaks)
        return -ENOMEM;
    op->peak_count = count;
    for (size_t i = 0; i < count; i++) {
        op->peaks[i].place = places[i];
        compare_peak(runs, op, &op->peaks[i]);
    }
    return 0;
}

static int compare_peaks(struct runs *runs) {
    size_t most = 0;
    for (size_t i = 0; i < runs->result->op_count; i++) {
        int err = is_judged(&runs->result->ops[i]) ? find_peaks(runs, &runs->result->ops[i]) : 0;
        if (err)
            return err;
        most += runs->result->ops[i].peak_count;
    }
    CLEANUP_FREE struct effect **effects = calloc(most + 1, sizeof(struct effect *));
    if (!effects)
        return -ENOMEM;
    size_t count = 0;
    for (size_t i = 0; i < runs->result->op_count; i++)
        for (size_t peak = 0; peak < runs->result->ops[i].peak_count; peak++)
            effects[count++] = &runs->result->ops[i].peaks[peak].effect;
    effects_moderate(effects, count);
    for (size_t i = 0; i < count; i++) {
        effect_conclude(effects[i]);
        judge_with_others(runs, effects[i]);
    }
    return 0;
}

/* ---- Failures ----------------------------------------------------------------------------------- */

static int compare_failures(struct runs *runs) {
    struct verdict_result *result = runs->result;
    CLEANUP_FREE struct effect **effects = calloc(result->op_count + 1, sizeof(struct effect *));
    size_t count = 0;
    if (!effects)
        return -ENOMEM;
    for (size_t i = 0; i < result->op_count; i++)
        if (is_judged(&result->ops[i]) &&
            verdict_failures_compare(runs->profiles, runs->a_count, runs->count, &result->ops[i], runs->scratch))
            effects[count++] = &result->ops[i].failures.effect;
    effects_moderate(effects, count);
    for (size_t i = 0; i < count; i++) {
        effect_conclude(effects[i]);
        judge_with_others(runs, effects[i]);
    }
    return 0;
}

/* ---- Words -------------------------------------------------------------------------------------- */

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

/* Sure, and more than nothing to speak of. */
static bool is_change(const struct effect *effect, double bound) {
    return effect->is_beyond && !is_within(effect, bound);
}

/* Returns whether any figure of latency or calls has changed; *ret_more: in time, by the one that is surest */
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

/* What has changed in sum, if that is clear, and else what is surest. */
static enum verdict_word word_of_change(const struct verdict_op *op, double bound, bool surest_is_more) {
    const struct verdict_ratio *total = &op->ratios[VERDICT_TOTAL];
    bool is_more = surest_is_more;
    if (op->is_changed[VERDICT_MEAN])
        is_more = op->ratios[VERDICT_MEAN].effect.difference > 0;
    if (total->effect.is_known && (total->effect.low > bound || total->effect.high < -bound))
        is_more = total->effect.difference > 0;
    return is_more ? VERDICT_SLOWER : VERDICT_FASTER;
}

static bool is_in_each(const struct runs *runs, const struct verdict_op *op, size_t first, size_t end) {
    for (size_t run = first; run < end; run++) {
        const struct aggstats_op_profile *of_run = aggstats_profile_op(&runs->profiles[run], op->name);
        if (!of_run || of_run->calls == 0)
            return false;
    }
    return true;
}

static enum verdict_word word_without_figures(const struct runs *runs, const struct verdict_op *op) {
    if (op->b_calls == 0 && op->a_calls >= VERDICT_CALLS_MIN && is_in_each(runs, op, 0, runs->a_count))
        return VERDICT_ONLY_A;
    if (op->a_calls == 0 && op->b_calls >= VERDICT_CALLS_MIN && is_in_each(runs, op, runs->a_count, runs->count))
        return VERDICT_ONLY_B;
    return VERDICT_FEW;
}

static size_t more_runs_for(const struct runs *runs, const struct effect *effect) {
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

static void leave_undecided(const struct runs *runs, struct verdict_op *op) {
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

static void find_word(const struct runs *runs, struct verdict_op *op) {
    bool surest_is_more = false;
    op->failures.is_changed = verdict_failures_changed(&op->failures, runs->result->options.at_least);
    if (!is_judged(op))
        op->word = word_without_figures(runs, op);
    else if (mark_changes(op, &runs->result->options, &surest_is_more))
        op->word = word_of_change(op, bound_of(runs->result), surest_is_more);
    else if (op->failures.is_changed)
        op->word = op->failures.effect.difference > 0 ? VERDICT_FAILS_MORE : VERDICT_FAILS_LESS;
    else
        leave_undecided(runs, op);
}

/* ---- All ops together --------------------------------------------------------------------------- */

static void compare_common(struct runs *runs) {
    struct verdict_result *result = runs->result;
    if (!result->has_common)
        return;
    result->common.effect = effect_of(runs->factors, runs->a_count, runs->count);
    conclude_ratio(&result->common);
    result->common_spread = ratio_of(sqrt(result->common.effect.variance));
    judge_with_others(runs, &result->common.effect);
}

static void find_common_word(struct runs *runs) {
    struct verdict_result *result = runs->result;
    if (!result->has_common)
        return;
    result->common_word = word_of_effect(&result->common.effect, bound_of(result));
    if (result->common_word == VERDICT_UNDECIDED)
        result->common_more_runs = more_runs_for(runs, &result->common.effect);
}

static void compare_elapsed(const struct runs *runs) {
    struct verdict_result *result = runs->result;
    for (size_t run = 0; run < runs->count; run++) {
        if (!runs->profiles[run].has_elapsed || runs->profiles[run].elapsed_cycles == 0)
            return;
        runs->scratch[run] = log((double)runs->profiles[run].elapsed_cycles);
    }
    result->has_elapsed = true;
    result->elapsed.effect = effect_of(runs->scratch, runs->a_count, runs->count);
    result->elapsed.a = exp(result->elapsed.effect.a);
    result->elapsed.b = exp(result->elapsed.effect.b);
    conclude_ratio(&result->elapsed);
}

/* How many runs began before this one. */
static double place_in_time(const struct runs *runs, size_t run) {
    size_t before = 0;
    for (size_t other = 0; other < runs->count; other++)
        before += runs->profiles[other].start_ns < runs->profiles[run].start_ns;
    return (double)before;
}

static bool all_tell_their_start(const struct runs *runs) {
    for (size_t run = 0; run < runs->count; run++) {
        if (!runs->profiles[run].has_start)
            return false;
    }
    return true;
}

/* A line through the factors of the runs, each less its side's mean, by their order. */
static void find_trend(const struct runs *runs) {
    struct verdict_result *result = runs->result;
    if (!result->has_common || runs->count < TREND_RUNS_MIN || !all_tell_their_start(runs))
        return;
    CLEANUP_FREE double *places = calloc(runs->count, sizeof(*places));
    if (!places)
        return; /* nothing is said of it */
    for (size_t run = 0; run < runs->count; run++)
        places[run] = place_in_time(runs, run);
    const struct effect place = effect_of(places, runs->a_count, runs->count);
    double squares = 0;
    double products = 0;
    for (size_t run = 0; run < runs->count; run++) {
        double x = places[run] - (run < runs->a_count ? place.a : place.b);
        squares += x * x;
        products +=
            x * (runs->factors[run] - (run < runs->a_count ? result->common.effect.a : result->common.effect.b));
    }
    double freedom = (double)runs->count - 3;
    double slope = squares > 0 ? products / squares : 0;
    double rest = result->common.effect.variance * result->common.effect.freedom - slope * products;
    result->has_trend = squares > 0 && effect_line_is_sure(slope, rest / freedom / squares, freedom, TREND_ALPHA);
    result->trend = ratio_of(slope);
}

/* ---- The result --------------------------------------------------------------------------------- */

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

static int compare_ops(struct runs *runs) {
    struct verdict_result *result = runs->result;
    for (size_t op = 0; op < result->op_count; op++)
        read_op(runs, op);
    int err = find_factors(runs);
    for (enum verdict_figure figure = 0; !err && figure < VERDICT_FIGURE_COUNT; figure++)
        err = moderate_figure(runs, figure);
    if (!err)
        err = compare_peaks(runs);
    if (!err)
        err = compare_failures(runs);
    if (err)
        return err;
    compare_common(runs);
    effects_judge(runs->tested, result->tested_count, result->options.alpha);
    for (size_t op = 0; op < result->op_count; op++) {
        find_word(runs, &result->ops[op]);
        result->word_counts[result->ops[op].word]++;
    }
    find_common_word(runs);
    compare_elapsed(runs);
    find_trend(runs);
    qsort(result->ops, result->op_count, sizeof(*result->ops), by_word);
    return 0;
}

/* The result's sums and ops are there; figures are found in memory that is needed meanwhile. */
static int compare_runs(struct verdict_result *result, const struct aggstats_profile *profiles, size_t a_count,
                        size_t count) {
    const size_t tested_max = result->op_count * (VERDICT_FIGURE_COUNT + PEAKS_MAX + 1) + 1;
    CLEANUP_FREE double *values = calloc(result->op_count * VERDICT_FIGURE_COUNT * count + 1, sizeof(*values));
    CLEANUP_FREE double *factors = calloc(count, sizeof(*factors));
    CLEANUP_FREE double *scratch = calloc(count, sizeof(*scratch));
    CLEANUP_FREE struct effect **tested = calloc(tested_max, sizeof(struct effect *));
    if (!values || !factors || !scratch || !tested)
        return -ENOMEM;
    struct runs runs = {
        .result = result,
        .profiles = profiles,
        .a_count = a_count,
        .count = count,
        .factors = factors,
        .values = values,
        .scratch = scratch,
        .tested = tested,
    };
    return compare_ops(&runs);
}

int verdict_compare(struct aggstats_profile *profiles, size_t a_count, size_t count,
                    const struct verdict_options *options, struct verdict_result *ret_result) {
    struct verdict_result result = {.options = *options, .a_count = a_count, .b_count = count - a_count};
    int err = equalise_rates(profiles, count, &result.rescaled);
    if (!err)
        err = equalise_resolutions(profiles, count);
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
