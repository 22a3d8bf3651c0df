/* All ops together: the common factor of each run, a median over its ops (verdict.h); how it differs between the sides
 * and over time; and how long the runs took. */
#include "verdict_runs.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "statistics.h"

#define COMMON_CALLS_MIN 30.0 /* a run: ops with fewer say too little about the machine */
#define TREND_ALPHA 0.01
#define TREND_RUNS_MIN 6U

/* ---- The factors of the runs -------------------------------------------------------------------- */

/* True if the op is called often, in each run. */
static bool tells_of_machine(const struct verdict_runs *runs, size_t op) {
    const double *calls = verdict_values(runs, op, VERDICT_CALLS);
    const double *latencies = verdict_values(runs, op, VERDICT_USUAL);
    for (size_t run = 0; run < runs->count; run++) {
        if (calls[run] < log(COMMON_CALLS_MIN) || isnan(latencies[run]) || verdict_is_zero(runs, op, run))
            return false;
    }
    return true;
}

/* Of an op's usual latencies, with equal weight for both sides; NAN: the op is not used for the factor. */
static double centre_of(const struct verdict_runs *runs, size_t op) {
    struct effect effect = effect_of(verdict_values(runs, op, VERDICT_USUAL), runs->a_count, runs->count);
    return tells_of_machine(runs, op) ? (effect.a + effect.b) / 2 : NAN;
}

/* What the ops of a run have in common. centres, scratch: [ops] */
static double factor_of(const struct verdict_runs *runs, size_t run, const double *centres, double *scratch) {
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (!isnan(centres[op]))
            scratch[count++] = verdict_values(runs, op, VERDICT_USUAL)[run] - centres[op];
    }
    return count >= VERDICT_COMMON_OPS_MIN ? statistics_median(scratch, count) : 0;
}

const double *verdict_without_factors(const struct verdict_runs *runs, size_t op, enum verdict_figure figure) {
    const double *values = verdict_values(runs, op, figure);
    for (size_t run = 0; run < runs->count; run++)
        runs->scratch[run] = values[run] - (verdict_is_zero(runs, op, run) ? 0 : runs->factors[run]);
    return runs->scratch;
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
 * runs. centres, scratch: as above */
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

/* The spread of values around their median, as a standard deviation that outliers hardly change. Changes the values. */
static double median_distance(double *values, size_t count) {
    const double median = statistics_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    return 1.4826 * statistics_median(values, count);
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
    const double spread = median_distance(scratch, count);
    return fmax(0, spread * spread - noise / (double)count) * M_PI_2 / (double)count;
}

int verdict_find_factors(struct verdict_runs *runs) {
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

void verdict_compare_common(struct verdict_runs *runs) {
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

/* Nothing is compared if a run has no such time, or no run takes any. */
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

void verdict_compare_times(struct verdict_runs *runs) {
    compare_times(runs, total_of, &runs->result->total);
    compare_times(runs, elapsed_of, &runs->result->elapsed);
}

/* The number of runs that began earlier. */
static double place_in_time(const struct verdict_runs *runs, size_t run) {
    size_t before = 0;
    for (size_t other = 0; other < runs->count; other++)
        before += runs->profiles[other].start_ns < runs->profiles[run].start_ns;
    return (double)before;
}

static bool all_tell_their_start(const struct verdict_runs *runs) {
    for (size_t run = 0; run < runs->count; run++) {
        if (!runs->profiles[run].has_start)
            return false;
    }
    return true;
}

/* Fits a line through the factors of the runs, each less its side's mean, by their order. */
void verdict_find_trend(const struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    if (!result->common.is_there || runs->count < TREND_RUNS_MIN || !all_tell_their_start(runs))
        return;
    CLEANUP_FREE double *places = calloc(runs->count, sizeof(*places));
    if (!places)
        return; /* nothing is reported then */
    for (size_t run = 0; run < runs->count; run++)
        places[run] = place_in_time(runs, run);
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
