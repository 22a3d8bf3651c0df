/* The share of calls in each peak of an op, in two sets of runs. */
#include "verdict_peaks.h"

#include <math.h>

#include "base.h"
#include "shares.h"

#define SIDE_CALLS_MAX 0x1p62 /* of a mixture */

/* Both sides' calls, as if there were as many of either: where the larger is scaled down to the smaller, and both to
 * what may be added in 64 bits. */
static struct aggstats_op_profile mix(const struct verdict_op *op, unsigned resolution, uint64_t *buckets) {
    const double a = (double)figures_finished(op->a_sum, resolution);
    const double b = (double)figures_finished(op->b_sum, resolution);
    const double calls = fmin(fmin(a, b), SIDE_CALLS_MAX); /* 0 / 0 below is no number, and 1 then */
    struct aggstats_op_profile mixed = {.buckets = buckets};
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        buckets[bucket] = figures_count((double)op->a_sum->buckets[bucket] * fmin(1, calls / a)) +
                          figures_count((double)op->b_sum->buckets[bucket] * fmin(1, calls / b));
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

static void compare_peak(const struct verdict_runs *runs, const struct verdict_op *op, struct verdict_peak *peak) {
    double shares[2] = {0, 0};
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        double share;
        runs->scratch[run] =
            logit_of_share(aggstats_profile_op(profile, op->name), profile->resolution, &peak->place, &share);
        shares[run >= runs->a_count] += share;
    }
    peak->effect = verdict_effect_of_shares(runs, op, shares, &peak->a_share, &peak->b_share);
    double moved_cycles = (peak->b_share - peak->a_share) * exp2(peak->place.centre);
    peak->cost = moved_cycles / op->ratios[VERDICT_MEAN].a;
}

/* An op with one peak has nothing to tell apart. */
static int find_peaks(const struct verdict_runs *runs, struct verdict_op *op) {
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
    verdict_judge_all(runs, effects, count);
    return 0;
}
