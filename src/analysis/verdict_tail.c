/* The share of an op's calls that are slow, in two sets of runs.
 *
 * The arcsine of the root of a share has a variance that depends on the number of calls alone, also if there is no slow
 * call in a run (F. J. Anscombe, The transformation of Poisson, binomial and negative-binomial data, Biometrika 35,
 * 1948). */
#include <math.h>

#include "base.h"
#include "usual.h"
#include "verdict_runs.h"

/* The first bucket of slow calls; the number of buckets if none can be slow. */
static unsigned first_slow(const struct verdict_op *op, unsigned resolution) {
    const struct verdict_ratio *usual = &op->ratios[VERDICT_USUAL];
    const double bucket = ceil(resolution * log2(VERDICT_TAIL_TIMES * fmax(usual->a, usual->b)));
    return bucket < 64 * resolution ? (unsigned)bucket : 64 * resolution;
}

static uint64_t count_slow(const struct aggstats_op_profile *op, unsigned resolution, unsigned first) {
    uint64_t count = 0;
    for (unsigned bucket = first; bucket < 64 * resolution; bucket++)
        count += op->buckets[bucket];
    return count;
}

/* Latency of slow calls per call, in cycles. */
static double slow_cycles(const struct aggstats_op_profile *op, unsigned resolution, unsigned first) {
    double cycles = 0;
    for (unsigned bucket = first; bucket < 64 * resolution; bucket++)
        cycles += (double)op->buckets[bucket] * aggstats_bucket_mean(bucket, resolution);
    return cycles / (double)figures_finished(op, resolution);
}

/* The geometric mean of slow calls, in cycles. There is one at least. */
static double middle_of_slow(const struct aggstats_op_profile *op, unsigned resolution, unsigned first) {
    double sum = 0;
    for (unsigned bucket = first; bucket < 64 * resolution; bucket++)
        sum += (double)op->buckets[bucket] * (bucket + 0.5) / resolution;
    return exp2(sum / (double)count_slow(op, resolution, first));
}

/* Twice the root of the calls of a run, a harmonic mean of both sides: brings all ops to one scale, on which a share of
 * calls that are slow independently of each other has a variance of 1. */
static double scale_of(const struct verdict_op *op) {
    return 2 * sqrt(2 * op->a_calls * op->b_calls / (op->a_calls + op->b_calls));
}

static void read_shares(const struct verdict_runs *runs, const struct verdict_op *op, double sums[2]) {
    const double scale = scale_of(op);
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        const struct aggstats_op_profile *of_run = aggstats_profile_op(profile, op->name);
        const uint64_t finished = of_run ? figures_finished(of_run, profile->resolution) : 0;
        runs->scratch[run] = NAN;
        if (finished == 0)
            continue;
        const uint64_t slow = count_slow(of_run, profile->resolution, op->tail.first);
        runs->scratch[run] = scale * asin(sqrt(((double)slow + 0.375) / ((double)finished + 0.75)));
        sums[run >= runs->a_count] += (double)slow / (double)finished;
    }
}

/* NULL: there is nothing to judge, as no call is slow, or a side has too few runs. */
static struct effect *compare_tail(const struct verdict_runs *runs, struct verdict_op *op) {
    const unsigned resolution = runs->result->a_sum.resolution;
    struct verdict_tail *tail = &op->tail;
    double sums[2] = {0, 0};
    tail->first = first_slow(op, resolution);
    read_shares(runs, op, sums);
    tail->effect = effect_of(runs->scratch, runs->a_count, runs->count);
    tail->effect.is_known &= sums[0] + sums[1] > 0 && tail->effect.a_count > 1 && tail->effect.b_count > 1;
    tail->effect.is_known &= verdict_has_ratio(&op->ratios[VERDICT_MEAN]); /* else it has changed altogether */
    if (!tail->effect.is_known)
        return NULL;
    tail->a_share = sums[0] / (double)tail->effect.a_count;
    tail->b_share = sums[1] / (double)tail->effect.b_count;
    tail->effect.variance = fmax(tail->effect.variance, 1);
    const struct aggstats_op_profile *more = tail->b_share > tail->a_share ? op->b_sum : op->a_sum;
    tail->times = middle_of_slow(more, resolution, tail->first) / op->ratios[VERDICT_USUAL].a;
    tail->cost = (slow_cycles(op->b_sum, resolution, tail->first) - slow_cycles(op->a_sum, resolution, tail->first)) /
                 op->ratios[VERDICT_MEAN].a;
    return &tail->effect;
}

static double share_of(double value, double scale) {
    const double root = sin(value / scale);
    return root * root;
}

/* Once its effect has an interval: as much of the cost as of the shares' difference is sure. */
static void find_sure_cost(struct verdict_op *op) {
    struct verdict_tail *tail = &op->tail;
    const double scale = scale_of(op);
    const double a_share = share_of(tail->effect.a, scale);
    const double moved = share_of(tail->effect.b, scale) - a_share;
    const double sure = share_of(tail->effect.a + effect_sure_difference(&tail->effect), scale) - a_share;
    tail->sure_cost = sure != 0 ? tail->cost * sure / moved : 0;
}

int verdict_compare_tails(struct verdict_runs *runs) {
    int err = verdict_compare_each(runs, VERDICT_FAMILY_TAIL, compare_tail);
    for (size_t i = 0; !err && i < runs->result->op_count; i++)
        if (runs->result->ops[i].tail.effect.is_known)
            find_sure_cost(&runs->result->ops[i]);
    return err;
}
