/* The comparison of runs: what all of its parts use. Figures of ops, as logarithms, and how they differ between the sides:
 * latencies and calls, the share of calls in each peak, the share that failed, and the share that is slow. */
#include <math.h>

#include "base.h"
#include "usual.h"
#include "verdict_runs.h"

#define HALF_CALL 0.5                    /* replaces 0 calls, and is added to numbers of calls, for a logarithm */
#define SIDE_CALLS_MAX 0x1p62            /* of a mixture */
#define PERCENTILE_TOLERANCE_BUCKETS 0.5 /* the position of a percentile in its bucket is a guess */

#define LOG_MAX 100.0 /* of a ratio; beyond it nothing is known */

static const double family_shares[VERDICT_FAMILY_COUNT] = {
    [VERDICT_FAMILY_USUAL] = 0.7,
    [VERDICT_FAMILY_TAIL] = 0.2,
    [VERDICT_FAMILY_REST] = 0.1,
};

double *verdict_values(const struct verdict_runs *runs, size_t op, enum verdict_figure figure) {
    return &runs->values[(op * VERDICT_FIGURE_COUNT + figure) * runs->count];
}

bool verdict_is_zero(const struct verdict_runs *runs, size_t op, size_t run) {
    return verdict_values(runs, op, VERDICT_TOTAL)[run] <= log(VERDICT_HALF_CYCLE);
}

void verdict_judge(struct verdict_runs *runs, enum verdict_family family, struct effect *effect) {
    if (!effect->is_known)
        return;
    runs->tested[family][runs->tested_counts[family]++] = effect;
    runs->result->tested_count++;
}

void verdict_judge_all(struct verdict_runs *runs, enum verdict_family family, struct effect **effects, size_t count) {
    effects_moderate(effects, count);
    for (size_t i = 0; i < count; i++) {
        effect_conclude(effects[i]);
        verdict_judge(runs, family, effects[i]);
    }
}

double verdict_alpha_of_all(const struct verdict_runs *runs, enum verdict_family family) {
    return family_shares[family] * runs->result->options.alpha;
}

double verdict_alpha_of_one(const struct verdict_runs *runs, enum verdict_family family) {
    return verdict_alpha_of_all(runs, family) / fmax(1, (double)runs->tested_counts[family]);
}

bool verdict_op_is_judged(const struct verdict_op *op) {
    return op->a_calls >= VERDICT_CALLS_MIN && op->b_calls >= VERDICT_CALLS_MIN;
}

int verdict_compare_each(struct verdict_runs *runs, enum verdict_family family,
                         struct effect *(*compare)(const struct verdict_runs *runs, struct verdict_op *op)) {
    struct verdict_result *result = runs->result;
    CLEANUP_FREE struct effect **effects = calloc(result->op_count + 1, sizeof(struct effect *));
    size_t count = 0;
    if (!effects)
        return -ENOMEM;
    for (size_t i = 0; i < result->op_count; i++) {
        struct effect *effect = verdict_op_is_judged(&result->ops[i]) ? compare(runs, &result->ops[i]) : NULL;
        if (effect)
            effects[count++] = effect;
    }
    verdict_judge_all(runs, family, effects, count);
    return 0;
}

double verdict_ratio_of(double logarithm) {
    return exp(fmax(-LOG_MAX, fmin(LOG_MAX, logarithm)));
}

void verdict_ratio_conclude(struct verdict_ratio *ratio) {
    effect_conclude(&ratio->effect);
    ratio->ratio = verdict_ratio_of(ratio->effect.difference);
    ratio->low = verdict_ratio_of(ratio->effect.low);
    ratio->high = verdict_ratio_of(ratio->effect.high);
}

const double *verdict_without_factors(const struct verdict_runs *runs, size_t op, enum verdict_figure figure) {
    const double *values = verdict_values(runs, op, figure);
    for (size_t run = 0; run < runs->count; run++)
        runs->scratch[run] = values[run] - (verdict_is_zero(runs, op, run) ? 0 : runs->factors[run]);
    return runs->scratch;
}

/* ---- Figures ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    bool is_latency; /* has a part in the common factor */
    bool is_judged;
    unsigned percent; /* of a percentile */
} figures[VERDICT_FIGURE_COUNT] = {
    [VERDICT_USUAL] = {"typical", true, true, 0}, [VERDICT_MEAN] = {"mean", true, true, 0},
    [VERDICT_P50] = {"p50", true, false, 50},     [VERDICT_P90] = {"p90", true, false, 90},
    [VERDICT_P99] = {"p99", true, false, 99},     [VERDICT_CALLS] = {"calls", false, true, 0},
    [VERDICT_TOTAL] = {"total", false, false, 0},
};

const char *verdict_figure_name(enum verdict_figure figure) {
    if (figure == VERDICT_BY_TAIL)
        return "slow calls";
    if (figure == VERDICT_BY_PEAK)
        return "peak";
    return figures[figure].name;
}

static double figure_of(const struct aggstats_op_profile *op, unsigned resolution, enum verdict_figure figure) {
    uint64_t finished = op ? figures_finished(op, resolution) : 0;
    if (figure == VERDICT_CALLS)
        return op && op->calls > 0 ? (double)op->calls : HALF_CALL;
    if (finished == 0)
        return NAN;
    const double total_cycles = fmax(VERDICT_HALF_CYCLE, (double)op->total_cycles);
    if (figure == VERDICT_TOTAL)
        return total_cycles;
    if (figure == VERDICT_MEAN)
        return total_cycles / (double)finished;
    if (figure == VERDICT_USUAL)
        return exp2(usual_by_total(op, resolution).log2_cycles);
    struct aggstats_percentile percentile;
    aggstats_percentile(op, resolution, 10 * figures[figure].percent, &percentile);
    return percentile.cycles;
}

void verdict_read_op(const struct verdict_runs *runs, size_t index) {
    struct verdict_op *op = &runs->result->ops[index];
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        const struct aggstats_op_profile *of_run = aggstats_profile_op(profile, op->name);
        for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++)
            verdict_values(runs, index, figure)[run] = log(figure_of(of_run, profile->resolution, figure));
        double calls = of_run ? (double)of_run->calls : 0;
        double total_cycles = of_run ? (double)of_run->total_cycles : 0;
        size_t side_count = run < runs->a_count ? runs->a_count : runs->count - runs->a_count;
        *(run < runs->a_count ? &op->a_calls : &op->b_calls) += calls / (double)side_count;
        *(run < runs->a_count ? &op->a_total_cycles : &op->b_total_cycles) += total_cycles / (double)side_count;
    }
}

/* Sets the effects of an op, before they are moderated. */
static void compare_values(const struct verdict_runs *runs, size_t index, enum verdict_figure figure) {
    struct verdict_ratio *ratio = &runs->result->ops[index].ratios[figure];
    struct verdict_ratio *own = &runs->result->ops[index].own[figure];
    const struct verdict_op *op = &runs->result->ops[index];
    const unsigned resolution = runs->result->a_sum.resolution;
    ratio->effect = effect_of(verdict_values(runs, index, figure), runs->a_count, runs->count);
    ratio->a = (figure == VERDICT_CALLS ? op->a_calls : op->a_total_cycles) > 0 ? exp(ratio->effect.a) : 0;
    ratio->b = (figure == VERDICT_CALLS ? op->b_calls : op->b_total_cycles) > 0 ? exp(ratio->effect.b) : 0;
    const bool is_zero = ratio->a == 0 && ratio->b == 0; /* exactly, whatever buckets and factors are */
    double buckets = figures[figure].percent > 0 ? PERCENTILE_TOLERANCE_BUCKETS : 0;
    if (figure == VERDICT_USUAL && op->a_sum && op->b_sum)
        buckets = /* half a bucket on either side, if the place in its bucket is not known of any call */
            (usual_by_total(op->a_sum, resolution).isolated + usual_by_total(op->b_sum, resolution).isolated) / 2;
    ratio->effect.tolerance = is_zero ? 0 : buckets * M_LN2 / resolution;
    *own = *ratio;
    if (!figures[figure].is_latency || is_zero)
        return;
    own->effect = effect_of(verdict_without_factors(runs, index, figure), runs->a_count, runs->count);
    own->effect.tolerance = ratio->effect.tolerance;
    own->effect.shared = runs->factors_variance;
}

int verdict_compare_figure(struct verdict_runs *runs, enum verdict_figure figure) {
    const size_t op_count = runs->result->op_count;
    CLEANUP_FREE struct effect **plain = calloc(op_count + 1, sizeof(struct effect *));
    CLEANUP_FREE struct effect **own = calloc(op_count + 1, sizeof(struct effect *));
    size_t count = 0;
    if (!plain || !own)
        return -ENOMEM;
    for (size_t i = 0; i < op_count; i++) {
        struct verdict_op *op = &runs->result->ops[i];
        compare_values(runs, i, figure);
        if (!verdict_op_is_judged(op))
            continue;
        plain[count] = &op->ratios[figure].effect;
        own[count++] = &op->own[figure].effect;
    }
    effects_moderate(plain, count);
    effects_moderate(own, count);
    for (size_t i = 0; i < op_count; i++) {
        struct verdict_op *op = &runs->result->ops[i];
        verdict_ratio_conclude(&op->ratios[figure]);
        verdict_ratio_conclude(&op->own[figure]);
        if (verdict_op_is_judged(op) && figures[figure].is_judged)
            verdict_judge(runs, figure == VERDICT_USUAL ? VERDICT_FAMILY_USUAL : VERDICT_FAMILY_REST,
                          &op->own[figure].effect);
    }
    return 0;
}

/* ---- Shares as values that add up --------------------------------------------------------------- */

/* The logit of a share of the finished calls, which is the ratio of those inside to those outside. NAN: no call has ended
 * ret_share: 0 then */
static double share_logit(uint64_t inside, uint64_t finished, double *ret_share) {
    *ret_share = finished > 0 ? (double)inside / (double)finished : 0;
    return finished > 0 ? log(((double)inside + HALF_CALL) / ((double)(finished - inside) + HALF_CALL)) : NAN;
}

/* The effect on a share of an op's calls. Its logits in each run are in runs->scratch, NAN if unknown.
 * sums: of the share over the runs of each side. ret_a_share, ret_b_share: its means */
static struct effect effect_of_shares(const struct verdict_runs *runs, const struct verdict_op *op,
                                      const double sums[2], double *ret_a_share, double *ret_b_share) {
    struct effect effect = effect_of(runs->scratch, runs->a_count, runs->count);
    *ret_a_share = effect.a_count > 0 ? sums[0] / (double)effect.a_count : 0;
    *ret_b_share = effect.b_count > 0 ? sums[1] / (double)effect.b_count : 0;
    /* The variance of the logit of a share of so many independent calls. Runs that agree better do so by chance. */
    const double share = (*ret_a_share + *ret_b_share) / 2;
    const double calls = (op->a_calls + op->b_calls) / 2;
    effect.variance = fmax(effect.variance, 1 / (share * calls + HALF_CALL) + 1 / ((1 - share) * calls + HALF_CALL));
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

static void compare_peak(const struct verdict_runs *runs, const struct verdict_op *op, struct verdict_peak *peak) {
    double shares[2] = {0, 0};
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        const struct aggstats_op_profile *of_run = aggstats_profile_op(profile, op->name);
        uint64_t inside = 0;
        double share;
        for (unsigned bucket = peak->place.first; of_run && bucket <= peak->place.last; bucket++)
            inside += of_run->buckets[bucket];
        runs->scratch[run] = share_logit(inside, of_run ? figures_finished(of_run, profile->resolution) : 0, &share);
        shares[run >= runs->a_count] += share;
    }
    peak->effect = effect_of_shares(runs, op, shares, &peak->a_share, &peak->b_share);
    peak->cost_of_all = exp2(peak->place.centre) / op->ratios[VERDICT_MEAN].a;
    peak->cost = (peak->b_share - peak->a_share) * peak->cost_of_all;
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
        for (size_t j = 0; j < runs->result->ops[i].peak_count; j++) {
            struct verdict_peak *peak = &runs->result->ops[i].peaks[j];
            const double sure_logit = peak->effect.a + effect_sure_difference(&peak->effect);
            peak->sure_cost = (share_of_logit(sure_logit) - share_of_logit(peak->effect.a)) * peak->cost_of_all;
        }
    return 0;
}

/* ---- Calls that failed -------------------------------------------------------------------------- */

/* NULL: there is nothing to judge, as no call has failed, or a side has too few runs. */
static struct effect *compare_failures(const struct verdict_runs *runs, struct verdict_op *op) {
    struct verdict_failures *failures = &op->failures;
    double shares[2] = {0, 0};
    if ((!op->a_sum || aggstats_failed_calls(op->a_sum) == 0) && (!op->b_sum || aggstats_failed_calls(op->b_sum) == 0))
        return NULL;
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        const struct aggstats_op_profile *of_run = aggstats_profile_op(profile, op->name);
        const uint64_t finished = of_run ? figures_finished(of_run, profile->resolution) : 0;
        const uint64_t failed = of_run ? aggstats_failed_calls(of_run) : 0;
        double share;
        runs->scratch[run] = share_logit(failed < finished ? failed : finished, finished, &share);
        shares[run >= runs->a_count] += share;
    }
    failures->effect = effect_of_shares(runs, op, shares, &failures->a_share, &failures->b_share);
    return failures->effect.is_known ? &failures->effect : NULL;
}

int verdict_compare_failures(struct verdict_runs *runs) {
    int err = verdict_compare_each(runs, VERDICT_FAMILY_REST, compare_failures);
    for (size_t i = 0; !err && i < runs->result->op_count; i++) {
        struct verdict_failures *failures = &runs->result->ops[i].failures;
        const double a_share = share_of_logit(failures->effect.a);
        const double sure_share = share_of_logit(failures->effect.a + effect_sure_difference(&failures->effect));
        failures->sure_times = fmax(a_share, sure_share) / fmin(a_share, sure_share);
    }
    return err;
}

/* ---- Failures that make a mean shorter ---------------------------------------------------------- */

#define DILUTION_TOLERANCE 0.1 /* of the failures: so many more, or fewer, calls are short */

/* The latency of the calls of a run from a bucket on, without the run's factor: the typical one, or an estimate of the
 * mean. NAN: there is no such call. */
static double rest_of(const struct verdict_runs *runs, const struct verdict_op *op, size_t run, unsigned first,
                      bool is_mean) {
    const struct aggstats_profile *profile = &runs->profiles[run];
    const struct aggstats_op_profile *of_run = aggstats_profile_op(profile, op->name);
    uint64_t buckets[AGGSTATS_BUCKETS_MAX] = {0};
    struct aggstats_op_profile rest = {.buckets = buckets};
    double cycles = 0;
    for (unsigned bucket = first; of_run && bucket < 64 * profile->resolution; bucket++) {
        buckets[bucket] = of_run->buckets[bucket];
        cycles += (double)buckets[bucket] * aggstats_bucket_mean(bucket, profile->resolution);
    }
    const double calls = (double)figures_finished(&rest, profile->resolution);
    if (calls == 0)
        return NAN;
    return log(is_mean ? cycles / calls : exp2(usual_of(&rest, profile->resolution).log2_cycles)) - runs->factors[run];
}

static bool is_rest_no_faster(const struct verdict_runs *runs, const struct verdict_op *op, unsigned first) {
    for (unsigned is_mean = 0; is_mean < 2; is_mean++) {
        for (size_t run = 0; run < runs->count; run++)
            runs->scratch[run] = rest_of(runs, op, run, first, is_mean);
        struct effect effect = effect_of(runs->scratch, runs->a_count, runs->count);
        effect.shared = runs->factors_variance;
        effect_conclude(&effect);
        if (!effect.is_known || effect.a_count < runs->a_count || effect.b_count < runs->count - runs->a_count ||
            effect.low < -log1p(runs->result->options.at_least))
            return false;
    }
    return true;
}

/* Takes the lowest bound of short calls that fits. */
void verdict_find_dilution(const struct verdict_runs *runs, struct verdict_op *op) {
    const unsigned resolution = runs->result->a_sum.resolution;
    const double a_runs = (double)runs->a_count;
    const double b_runs = (double)(runs->count - runs->a_count);
    struct verdict_dilution dilution = {.is_there = true};
    if (!op->failures.is_changed || op->failures.effect.difference < 0 || !op->is_changed[VERDICT_MEAN] ||
        op->ratios[VERDICT_MEAN].effect.high >= 0)
        return;
    dilution.failed =
        (double)aggstats_failed_calls(op->b_sum) / b_runs - (double)aggstats_failed_calls(op->a_sum) / a_runs;
    for (unsigned bucket = 0; bucket < 64 * resolution && dilution.failed > 0; bucket++) {
        dilution.most_cycles = aggstats_bucket_upper(bucket, resolution);
        dilution.short_calls +=
            (double)op->b_sum->buckets[bucket] / b_runs - (double)op->a_sum->buckets[bucket] / a_runs;
        if (dilution.most_cycles > op->ratios[VERDICT_MEAN].a)
            return;
        if (fabs(dilution.short_calls - dilution.failed) <= DILUTION_TOLERANCE * dilution.failed &&
            is_rest_no_faster(runs, op, bucket + 1)) {
            op->dilution = dilution;
            return;
        }
    }
}

/* ---- Slow calls ----------------------------------------------------------------------------------- */

/* The arcsine of the root of a share has a variance that depends on the number of calls alone, also if there is no slow
 * call in a run (F. J. Anscombe, The transformation of Poisson, binomial and negative-binomial data, Biometrika 35, 1948). */

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
    const double first =
        ceil(resolution * log2(VERDICT_TAIL_TIMES * fmax(op->ratios[VERDICT_USUAL].a, op->ratios[VERDICT_USUAL].b)));
    tail->first = first < 64 * resolution ? (unsigned)first : 64 * resolution; /* that: none can be slow */
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
    double octaves = 0; /* of the slow calls, of which there is one at least */
    for (unsigned bucket = tail->first; bucket < 64 * resolution; bucket++)
        octaves += (double)more->buckets[bucket] * (bucket + 0.5) / resolution;
    tail->times = exp2(octaves / (double)count_slow(more, resolution, tail->first)) / op->ratios[VERDICT_USUAL].a;
    tail->cost = (slow_cycles(op->b_sum, resolution, tail->first) - slow_cycles(op->a_sum, resolution, tail->first)) /
                 op->ratios[VERDICT_MEAN].a;
    return &tail->effect;
}

int verdict_compare_tails(struct verdict_runs *runs) {
    int err = verdict_compare_each(runs, VERDICT_FAMILY_TAIL, compare_tail);
    for (size_t i = 0; !err && i < runs->result->op_count; i++) {
        const struct verdict_op *op = &runs->result->ops[i];
        struct verdict_tail *tail = &runs->result->ops[i].tail;
        if (!tail->effect.is_known)
            continue;
        /* As much of the cost as of the shares' difference is sure. */
        const double scale = scale_of(op);
        const double a_share = pow(sin(tail->effect.a / scale), 2);
        const double moved = pow(sin(tail->effect.b / scale), 2) - a_share;
        const double sure = pow(sin((tail->effect.a + effect_sure_difference(&tail->effect)) / scale), 2) - a_share;
        tail->sure_cost = sure != 0 ? tail->cost * sure / moved : 0;
    }
    return err;
}

/* ---- Ops with few calls --------------------------------------------------------------------------- */

/* Ops with too few calls for a t test: how often they are called.
 *
 * With few calls, one call more is a large part, and the variance of their number says little. But a number that is the
 * same in all runs of a side, and another in all runs of the other, is exact, and so is the difference. It is chance only
 * if the number of a run is drawn. Take an op that draws one of two numbers, and r runs on each side. Its runs are split
 * like this with a probability of at most 2 / 4^r. For each op that is split so, at least (4^r - 4) / 2 ops are expected
 * that are mixed: a side has both numbers. So the number of mixed ops bounds how many splits are by chance. As with the
 * controls of R. F. Barber, E. J. Candes, Controlling the false discovery rate via knockoffs, Ann. Stat. 43, 2015, one is
 * added to it: without mixed ops the bound is 1 in 30 with three runs on each side, and 1 in 510 with five. Two runs on
 * each side prove nothing. */

enum kind { KIND_SAME, KIND_SPLIT, KIND_MIXED, KIND_VARIED };

static uint64_t calls_of(const struct verdict_runs *runs, const struct verdict_op *op, size_t run) {
    const struct aggstats_op_profile *of_run = aggstats_profile_op(&runs->profiles[run], op->name);
    return of_run ? of_run->calls : 0;
}

static enum kind kind_of(const struct verdict_runs *runs, const struct verdict_op *op) {
    const uint64_t first = calls_of(runs, op, 0);
    uint64_t other = first;
    bool is_split = true;
    for (size_t run = 1; run < runs->count; run++) {
        const uint64_t calls = calls_of(runs, op, run);
        if (calls != first && other != first && calls != other)
            return KIND_VARIED;
        other = calls != first ? calls : other;
        is_split &= (calls != first) == (run >= runs->a_count);
    }
    return other == first ? KIND_SAME : is_split ? KIND_SPLIT : KIND_MIXED;
}

/* A bound of the probability that any op is split by chance. side_count: runs of the smaller side */
static double chance_of_split(size_t side_count, size_t mixed_count) {
    if (side_count < 2)
        return 1;
    return fmin(1, (double)(mixed_count + 1) * 2 / (exp2(2 * (double)side_count) - 4));
}

void verdict_judge_rare_calls(struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    const size_t side_count = result->a_count < result->b_count ? result->a_count : result->b_count;
    size_t mixed_count = 0;
    for (size_t i = 0; i < result->op_count; i++) {
        struct verdict_op *op = &result->ops[i];
        const enum kind kind = verdict_op_is_judged(op) ? KIND_VARIED : kind_of(runs, op);
        op->has_exact_calls = kind == KIND_SPLIT;
        mixed_count += kind == KIND_MIXED;
    }
    const double chance = chance_of_split(side_count, mixed_count);
    size_t needed_count = side_count;
    while (chance_of_split(needed_count, mixed_count) > result->options.alpha && needed_count < VERDICT_RUNS_MOST)
        needed_count++;
    for (size_t i = 0; i < result->op_count; i++) {
        struct verdict_op *op = &result->ops[i];
        struct effect *effect = &op->own[VERDICT_CALLS].effect;
        if (!op->has_exact_calls)
            continue;
        effect->p = chance;
        effect->is_beyond = chance <= result->options.alpha;
        op->more_runs = needed_count - side_count;
    }
}
