/* The share of an op's calls in each of its peaks, and the share that failed, in two sets of runs. */
#include <math.h>

#include "base.h"
#include "verdict_runs.h"

#define SIDE_CALLS_MAX 0x1p62 /* of a mixture */
#define HALF_CALL 0.5         /* added to numbers of calls, so that they have a logarithm */

/* ---- Shares as values that add up --------------------------------------------------------------- */

/* The logit of a share: the ratio of those inside to those outside. */
static double share_logit(uint64_t inside, uint64_t calls) {
    return log(((double)inside + HALF_CALL) / ((double)(calls - inside) + HALF_CALL));
}

/* Variance of the logit of a share of so many independent calls: runs that agree better do so by chance. */
static double share_variance(double share, double calls) {
    double inside = share * calls + HALF_CALL;
    double outside = (1 - share) * calls + HALF_CALL;
    return 1 / inside + 1 / outside;
}

/* The effect on a share of an op's calls. Its logits in each run are in runs->scratch, NAN if unknown.
 * sums: of the share over the runs of each side. ret_a_share, ret_b_share: its means */
static struct effect effect_of_shares(const struct verdict_runs *runs, const struct verdict_op *op,
                                      const double sums[2], double *ret_a_share, double *ret_b_share) {
    struct effect effect = effect_of(runs->scratch, runs->a_count, runs->count);
    *ret_a_share = effect.a_count > 0 ? sums[0] / (double)effect.a_count : 0;
    *ret_b_share = effect.b_count > 0 ? sums[1] / (double)effect.b_count : 0;
    double least = share_variance((*ret_a_share + *ret_b_share) / 2, (op->a_calls + op->b_calls) / 2);
    effect.variance = fmax(effect.variance, least);
    effect.is_known &= effect.a_count > 1 && effect.b_count > 1;
    return effect;
}

/* The share of which this is the logit. */
static double share_of_logit(double logit) {
    return 1 / (1 + exp(-logit));
}

/* ---- Peaks -------------------------------------------------------------------------------------- */

/* The calls of both sides with equal weight: the larger is scaled down to the smaller, and both to what can be added in
 * 64 bits. */
static struct aggstats_op_profile mix(const struct verdict_op *op, unsigned resolution, uint64_t *buckets) {
    const double a = (double)figures_finished(op->a_sum, resolution);
    const double b = (double)figures_finished(op->b_sum, resolution);
    const double calls = fmin(fmin(a, b), SIDE_CALLS_MAX); /* 0 / 0 below is NAN, and becomes 1 */
    struct aggstats_op_profile mixed = {.buckets = buckets};
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        buckets[bucket] = figures_count((double)op->a_sum->buckets[bucket] * fmin(1, calls / a)) +
                          figures_count((double)op->b_sum->buckets[bucket] * fmin(1, calls / b));
    return mixed;
}

/* Of a peak's calls in a run. */
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

static void compare_peak(const struct verdict_runs *runs, const struct verdict_op *op, struct verdict_peak *peak) {
    double shares[2] = {0, 0};
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        double share;
        runs->scratch[run] =
            logit_of_share(aggstats_profile_op(profile, op->name), profile->resolution, &peak->place, &share);
        shares[run >= runs->a_count] += share;
    }
    peak->effect = effect_of_shares(runs, op, shares, &peak->a_share, &peak->b_share);
    peak->cost_of_all = exp2(peak->place.centre) / op->ratios[VERDICT_MEAN].a;
    peak->cost = (peak->b_share - peak->a_share) * peak->cost_of_all;
}

/* Once its effect has an interval. */
static void find_sure_cost(struct verdict_peak *peak) {
    const double sure_logit = peak->effect.a + effect_sure_difference(&peak->effect);
    peak->sure_cost = (share_of_logit(sure_logit) - share_of_logit(peak->effect.a)) * peak->cost_of_all;
}

/* An op with one peak has no shares to compare. One that takes no time on a side has changed altogether. */
static int find_peaks(const struct verdict_runs *runs, struct verdict_op *op) {
    const unsigned resolution = runs->result->a_sum.resolution;
    uint64_t buckets[AGGSTATS_BUCKETS_MAX];
    struct peak places[PEAKS_MAX];
    if (!verdict_has_ratio(&op->ratios[VERDICT_MEAN]))
        return 0;
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

int verdict_compare_peaks(struct verdict_runs *runs) {
    size_t most = 0;
    for (size_t i = 0; i < runs->result->op_count; i++) {
        int err = verdict_op_is_judged(&runs->result->ops[i]) ? find_peaks(runs, &runs->result->ops[i]) : 0;
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
    verdict_judge_all(runs, VERDICT_FAMILY_REST, effects, count);
    for (size_t i = 0; i < runs->result->op_count; i++)
        for (size_t peak = 0; peak < runs->result->ops[i].peak_count; peak++)
            find_sure_cost(&runs->result->ops[i].peaks[peak]);
    return 0;
}

/* ---- Calls that failed -------------------------------------------------------------------------- */

/* Of a run. NAN: no call has ended */
static double logit_of_failures(const struct aggstats_profile *profile, const char *name, double *ret_share) {
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, name);
    uint64_t finished = op ? figures_finished(op, profile->resolution) : 0;
    uint64_t failed = op ? aggstats_failed_calls(op) : 0;
    *ret_share = 0;
    if (finished == 0)
        return NAN;
    failed = failed < finished ? failed : finished;
    *ret_share = (double)failed / (double)finished;
    return share_logit(failed, finished);
}

static bool any_failed(const struct verdict_op *op) {
    return (op->a_sum && aggstats_failed_calls(op->a_sum) > 0) || (op->b_sum && aggstats_failed_calls(op->b_sum) > 0);
}

/* NULL: there is nothing to judge, as no call has failed, or a side has too few runs. */
static struct effect *compare_failures(const struct verdict_runs *runs, struct verdict_op *op) {
    struct verdict_failures *failures = &op->failures;
    double shares[2] = {0, 0};
    if (!any_failed(op))
        return NULL;
    for (size_t run = 0; run < runs->count; run++) {
        double share;
        runs->scratch[run] = logit_of_failures(&runs->profiles[run], op->name, &share);
        shares[run >= runs->a_count] += share;
    }
    failures->effect = effect_of_shares(runs, op, shares, &failures->a_share, &failures->b_share);
    return failures->effect.is_known ? &failures->effect : NULL;
}

static void find_sure_times(struct verdict_failures *failures) {
    const double a_share = share_of_logit(failures->effect.a);
    const double sure_share = share_of_logit(failures->effect.a + effect_sure_difference(&failures->effect));
    failures->sure_times = fmax(a_share, sure_share) / fmin(a_share, sure_share);
}

int verdict_compare_failures(struct verdict_runs *runs) {
    int err = verdict_compare_each(runs, VERDICT_FAMILY_REST, compare_failures);
    for (size_t i = 0; !err && i < runs->result->op_count; i++)
        find_sure_times(&runs->result->ops[i].failures);
    return err;
}
