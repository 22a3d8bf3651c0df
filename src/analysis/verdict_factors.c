/* The common factor of each run: a median over its ops. */
#include "verdict_factors.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "base.h"

#define COMMON_CALLS_MIN 30.0 /* a run: ops with fewer say too little of the machine */

/* The op is called often, in each run. */
static bool tells_of_machine(const struct verdict_runs *runs, size_t op) {
    const double *calls = verdict_values(runs, op, VERDICT_CALLS);
    const double *means = verdict_values(runs, op, VERDICT_MEAN);
    for (size_t run = 0; run < runs->count; run++) {
        if (calls[run] < log(COMMON_CALLS_MIN) || isnan(means[run]))
            return false;
    }
    return true;
}

/* Of an op's means, as if both sides were of one size; NAN: it does not tell of the machine. */
static double centre_of(const struct verdict_runs *runs, size_t op) {
    struct effect effect = effect_of(verdict_values(runs, op, VERDICT_MEAN), runs->a_count, runs->count);
    return tells_of_machine(runs, op) ? (effect.a + effect.b) / 2 : NAN;
}

/* What ops of a run have in common. centres, scratch: [ops] */
static double factor_of(const struct verdict_runs *runs, size_t run, const double *centres, double *scratch) {
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (!isnan(centres[op]))
            scratch[count++] = verdict_values(runs, op, VERDICT_MEAN)[run] - centres[op];
    }
    return count >= VERDICT_COMMON_OPS_MIN ? gsl_stats_median(scratch, 1, count) : 0;
}

const double *verdict_beside_factors(const struct verdict_runs *runs, const double *values) {
    for (size_t run = 0; run < runs->count; run++)
        runs->scratch[run] = values[run] - runs->factors[run];
    return runs->scratch;
}

/* Of an op's means, beside what is common. */
static struct effect effect_of_means(const struct verdict_runs *runs, size_t op) {
    return effect_of(verdict_beside_factors(runs, verdict_values(runs, op, VERDICT_MEAN)), runs->a_count, runs->count);
}

/* Of the ops that tell of the machine, the median variance of their means. centres, scratch: as above */
static double typical_variance(const struct verdict_runs *runs, const double *centres, double *scratch) {
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (!isnan(centres[op]))
            scratch[count++] = effect_of_means(runs, op).variance;
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
static double variance_of_factors(const struct verdict_runs *runs, const double *centres, double *scratch) {
    double noise = 0;
    size_t count = 0;
    for (size_t op = 0; op < runs->result->op_count; op++) {
        if (isnan(centres[op]))
            continue;
        const struct effect effect = effect_of_means(runs, op);
        scratch[count++] = effect.difference;
        noise += effect.variance * (1.0 / (double)effect.a_count + 1.0 / (double)effect.b_count);
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
    runs->result->has_common = variance_without > 0 && typical_variance(runs, centres, scratch) < variance_without;
    if (!runs->result->has_common)
        memset(runs->factors, 0, runs->count * sizeof(*runs->factors));
    else
        runs->factors_variance = variance_of_factors(runs, centres, scratch);
    return 0;
}
