/* The three phases, one function each, for every op that either profile has. */
#include "compare.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "figures.h"

struct compare_options compare_defaults(enum distance_method method) {
    return (struct compare_options){
        .method = method,
        .threshold = distance_traits(method)->threshold,
        .similar_percent = 5,
        .share_percent = 1,
        .calls = 10,
        .apart_calls_percent = 75,
        .apart_latency_percent = 90,
        .peak_percent = 75,
    };
}

#define RESCALING_BUCKETS 0.5 /* narrow peaks move by at most this, as measured with normally distributed ones */
#define WHOLE_BUCKETS 0.01    /* rescaling by nearly whole buckets moves nothing */

/* ---- One clock rate, one resolution ------------------------------------------------------------- */

/* Rescaling comes first: the finer the buckets, the more exact it is. */
int compare_bring_to(struct aggstats_profile *profile, uint64_t rate_hz, unsigned resolution, bool *is_rescaled) {
    const uint64_t own_hz = profile->clock.frequency_hz;
    const uint64_t lower_hz = own_hz < rate_hz ? own_hz : rate_hz;
    if ((own_hz > rate_hz ? own_hz : rate_hz) - lower_hz > lower_hz / 1000) {
        int err = aggstats_profile_rescale(profile, rate_hz);
        if (err)
            return err;
        *is_rescaled = true;
    }
    return aggstats_profile_coarsen(profile, resolution);
}

/* Both are brought to the higher rate, so that the order does not matter; to the lower one if that does not fit. */
static int bring_together(struct compare_result *result) {
    const double rate_ratio = (double)result->a.clock.frequency_hz / (double)result->b.clock.frequency_hz;
    const unsigned resolution =
        result->a.resolution < result->b.resolution ? result->a.resolution : result->b.resolution;
    const double shift_buckets = resolution * log2(rate_ratio);
    bool a_is_slow = result->a.clock.frequency_hz <= result->b.clock.frequency_hz;
    struct aggstats_profile *slow = a_is_slow ? &result->a : &result->b;
    struct aggstats_profile *fast = a_is_slow ? &result->b : &result->a;
    const uint64_t slow_hz = slow->clock.frequency_hz;
    uint64_t rate_hz = fast->clock.frequency_hz;
    const bool both_have_ops = slow->op_count > 0 && fast->op_count > 0;
    if (slow_hz == 0 && rate_hz > 0 && !both_have_ops) {
        /* If one has no calls, the rate of the other counts, if that is known: only the elapsed time depends on it. */
        struct aggstats_profile *empty = result->a.op_count == 0 ? &result->a : &result->b;
        rate_hz = (empty == slow ? fast : slow)->clock.frequency_hz;
        empty->has_elapsed = false;
        empty->interval_count = 0;
        empty->clock.frequency_hz = rate_hz;
    }
    int err = compare_bring_to(slow, rate_hz, resolution, &result->rescaled);
    if (err == -EOVERFLOW) {
        rate_hz = slow_hz;
        err = compare_bring_to(slow, rate_hz, resolution, &result->rescaled);
    }
    if (err == 0)
        err = compare_bring_to(fast, rate_hz, resolution, &result->rescaled);
    result->rescaled = result->rescaled && both_have_ops;
    /* How much rescaling may move: each bucket's calls are spread over two of the other clock's. */
    if (err == 0 && result->rescaled && !(fabs(shift_buckets - round(shift_buckets)) < WHOLE_BUCKETS))
        result->allowance_buckets = RESCALING_BUCKETS / resolution;
    return err;
}

/* ---- The phases --------------------------------------------------------------------------------- */

/* Of the op's profile, in percent. */
static double share_percent(const struct aggstats_op_profile *op, const struct figures_sum *sum) {
    return sum->total_cycles > 0 ? 100 * (double)op->total_cycles / sum->total_cycles : 0;
}

/* The larger of a peak's shares of calls and of latency, in percent. */
static double weight_percent(const struct peak *peak, uint64_t finished) {
    return peak->calls == 0 ? 0 : 100 * fmax((double)peak->calls / (double)finished, peak->latency_share);
}

/* True if it has more than single calls that had to wait. */
static bool has_enough_calls(const struct peak *peak, uint64_t finished, double least_calls) {
    return (double)peak->calls >= fmax(least_calls, COMPARE_PEAK_CALLS * (double)finished);
}

/* True if it takes most of the time, as few slow calls may. */
static bool is_dear(const struct peak *peak, uint64_t finished, double least_calls) {
    return has_enough_calls(peak, finished, least_calls) && peak->latency_share >= COMPARE_DEAR_LATENCY;
}

bool compare_peak_matters(const struct compare_result *result, const struct compare_op *op,
                          const struct peak_pair *pair) {
    const double least_calls = result->options.calls;
    const double least_percent = result->options.peak_percent;
    double a_percent = weight_percent(&pair->a, op->a_finished);
    double b_percent = weight_percent(&pair->b, op->b_finished);
    if (pair->change == PEAK_APPEARED || pair->change == PEAK_VANISHED)
        return fmax(a_percent, b_percent) >= least_percent || is_dear(&pair->a, op->a_finished, least_calls) ||
               is_dear(&pair->b, op->b_finished, least_calls);
    if (fabs(pair->moved_octaves) <= COMPARE_MOVED_OCTAVES)
        return false;
    return fmin(a_percent, b_percent) >= least_percent || (has_enough_calls(&pair->a, op->a_finished, least_calls) &&
                                                           has_enough_calls(&pair->b, op->b_finished, least_calls));
}

static bool has_other_peaks(const struct compare_result *result, const struct compare_op *op) {
    for (size_t i = 0; i < op->peak_count; i++)
        if (compare_peak_matters(result, op, &op->peaks[i]))
            return true;
    return false;
}

/* Totals alone do not suffice: what a fast path loses is little compared with a slow one. */
static bool is_similar(const struct compare_result *result, const struct compare_op *op) {
    const double percent = result->options.similar_percent;
    return op->scores[DISTANCE_TOTOPS] < percent && op->scores[DISTANCE_TOTLAT] < percent &&
           op->scores[DISTANCE_FARMOVER] <= distance_traits(DISTANCE_FARMOVER)->threshold &&
           !has_other_peaks(result, op);
}

/* share: of the latency, in percent */
static enum compare_verdict judge(const struct compare_result *result, const struct compare_op *op, double share) {
    const struct compare_options *options = &result->options;
    const double allowance = options->method == DISTANCE_EARTHMOVER ? result->allowance_buckets : 0;
    if ((double)op->a_finished < options->calls && (double)op->b_finished < options->calls &&
        share < COMPARE_WEIGHTY_PERCENT)
        return COMPARE_RARE;
    if (op->a_finished == 0 && op->b_finished == 0) /* all in flight */
        return COMPARE_SIMILAR;
    if (op->a_finished == 0 || op->b_finished == 0)
        return COMPARE_ONE_SIDED;
    if (is_similar(result, op))
        return COMPARE_SIMILAR;
    if (op->scores[options->method] > options->threshold + allowance)
        return COMPARE_SCORE;
    if (options->score_only)
        return COMPARE_ALIKE;
    if (op->scores[DISTANCE_TOTOPS] > options->apart_calls_percent ||
        op->scores[DISTANCE_TOTLAT] > options->apart_latency_percent)
        return COMPARE_TOTALS;
    return has_other_peaks(result, op) ? COMPARE_PEAKS : COMPARE_ALIKE;
}

/* What has a small part of the latency is judged like the rest, and makes no difference. */
static void conclude(struct compare_result *result, struct compare_op *op, const struct figures_sum *a_sum,
                     const struct figures_sum *b_sum) {
    const double share = fmax(share_percent(op->a, a_sum), share_percent(op->b, b_sum));
    const enum compare_verdict verdict = judge(result, op, share);
    op->verdict = share < result->options.share_percent ? COMPARE_CHEAP : verdict;
    op->list = COMPARE_MAYBE_NOISE;
    if (compare_is_different(verdict))
        op->list = COMPARE_CHANGED;
    else if (verdict == COMPARE_SIMILAR || (op->a_finished > 0 && op->b_finished > 0 && is_similar(result, op)))
        op->list = COMPARE_SAME;
    result->different_count += compare_is_different(op->verdict);
    result->list_counts[op->list]++;
}

/* ---- Over time ---------------------------------------------------------------------------------- */

/* Borders of intervals differ between profiles, so the calls of both are spread over slots of one length. */
struct slot_histogram {
    double calls[AGGSTATS_BUCKETS_MAX];
};

static double length_of(const struct aggstats_profile *profile) {
    return profile->interval_count > 0 ? (double)profile->borders[profile->interval_count - 1] : 0;
}

/* Chooses the length and number of the slots, so that none is shorter than an interval; none unless both are
 * sampled. */
static void plan_slots(struct compare_result *result) {
    const struct aggstats_profile *a = &result->a;
    const struct aggstats_profile *b = &result->b;
    double length = fmax(length_of(a), length_of(b));
    if (a->interval_count == 0 || b->interval_count == 0 || length == 0)
        return;
    double interval = fmax(length_of(a) / (double)a->interval_count, length_of(b) / (double)b->interval_count);
    result->slot_count = (size_t)fmax(1, fmin(COMPARE_SLOTS_MAX, floor(length / interval + 1e-9)));
    result->slot_cycles = length / (double)result->slot_count;
}

/* Spreads calls over the time [from, to). */
static void pour(struct slot_histogram *slots, const struct compare_result *result, double from, double to,
                 const struct aggstats_cell *cell) {
    size_t last = result->slot_count - 1;
    size_t at = (size_t)fmin((double)last, from / result->slot_cycles);
    size_t end = (size_t)fmin((double)last, to / result->slot_cycles);
    double length = to - from;
    if (at == end || length <= 0) {
        slots[at].calls[cell->bucket] += (double)cell->count;
        return;
    }
    for (; at <= end; at++) {
        double part_from = fmax(from, (double)at * result->slot_cycles);
        double part_to = at == end ? to : (double)(at + 1) * result->slot_cycles;
        slots[at].calls[cell->bucket] += (double)cell->count * (part_to - part_from) / length;
    }
}

static struct slot_histogram *fill_histograms(const struct compare_result *result,
                                              const struct aggstats_profile *profile,
                                              const struct aggstats_op_profile *op) {
    struct slot_histogram *slots = calloc(result->slot_count, sizeof(*slots));
    for (size_t i = 0; slots && i < op->sample_count; i++) {
        const struct aggstats_cell *cell = &op->samples[i];
        double from = cell->row > 0 ? (double)profile->borders[cell->row - 1] : 0;
        pour(slots, result, from, (double)profile->borders[cell->row], cell);
    }
    return slots;
}

static void sum_up(const struct slot_histogram *slot, unsigned resolution, double *ret_calls,
                   double *ret_latency_cycles) {
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        *ret_calls += slot->calls[bucket];
        *ret_latency_cycles += slot->calls[bucket] * aggstats_bucket_mean(bucket, resolution);
    }
}

static int fill_slots(const struct compare_result *result, struct compare_op *op) {
    const unsigned resolution = result->a.resolution;
    if (result->slot_count == 0)
        return 0;
    CLEANUP_FREE struct slot_histogram *a = fill_histograms(result, &result->a, op->a);
    CLEANUP_FREE struct slot_histogram *b = fill_histograms(result, &result->b, op->b);
    op->slots = calloc(result->slot_count, sizeof(*op->slots));
    if (!a || !b || !op->slots)
        return -ENOMEM;
    for (size_t i = 0; i < result->slot_count; i++) {
        struct compare_slot *slot = &op->slots[i];
        sum_up(&a[i], resolution, &slot->a_calls, &slot->a_latency_cycles);
        sum_up(&b[i], resolution, &slot->b_calls, &slot->b_latency_cycles);
        slot->score = distance_earth_mover(a[i].calls, b[i].calls, resolution);
    }
    return 0;
}

/* ---- All ops ------------------------------------------------------------------------------------ */

/* Lists the ops of a, then the ops that only b has. */
static int list_ops(struct compare_result *result) {
    result->ops = calloc(result->a.op_count + result->b.op_count + 1, sizeof(*result->ops));
    result->absent.buckets = calloc((size_t)AGGSTATS_BUCKETS_MAX, sizeof(*result->absent.buckets));
    if (!result->ops || !result->absent.buckets)
        return -ENOMEM;
    for (size_t i = 0; i < result->a.op_count; i++) {
        const struct aggstats_op_profile *a = &result->a.ops[i];
        const struct aggstats_op_profile *b = aggstats_profile_op(&result->b, a->name);
        result->ops[result->op_count++] = (struct compare_op){.name = a->name, .a = a, .b = b ? b : &result->absent};
    }
    for (size_t i = 0; i < result->b.op_count; i++) {
        const struct aggstats_op_profile *b = &result->b.ops[i];
        if (!aggstats_profile_op(&result->a, b->name))
            result->ops[result->op_count++] = (struct compare_op){.name = b->name, .a = &result->absent, .b = b};
    }
    return 0;
}

static int compare_op(struct compare_result *result, struct compare_op *op, const struct figures_sum *a_sum,
                      const struct figures_sum *b_sum) {
    const unsigned resolution = result->a.resolution;
    struct peak_pair pairs[PEAK_PAIRS_MAX];
    op->a_finished = figures_finished(op->a, resolution);
    op->b_finished = figures_finished(op->b, resolution);
    for (int method = 0; method < DISTANCE_METHOD_COUNT; method++)
        op->scores[method] = distance_score((enum distance_method)method, op->a, op->b, resolution);
    op->peak_count = peak_pairs_match(op->a, op->b, resolution, pairs);
    op->peaks = calloc(op->peak_count + 1, sizeof(*op->peaks));
    if (!op->peaks)
        return -ENOMEM;
    memcpy(op->peaks, pairs, op->peak_count * sizeof(*pairs));
    int err = fill_slots(result, op);
    if (op->a_finished > 0 && op->b_finished > 0) {
        const double a_mean = (double)op->a->total_cycles / (double)op->a_finished;
        const double b_mean = (double)op->b->total_cycles / (double)op->b_finished;
        op->mean_ratio = a_mean > 0 && b_mean > 0 ? b_mean / a_mean : 0;
        op->calls_ratio = (double)op->b->calls / (double)op->a->calls;
    }
    conclude(result, op, a_sum, b_sum);
    result->is_identical &= op->a->calls == op->b->calls && op->a->total_cycles == op->b->total_cycles &&
                            memcmp(op->a->buckets, op->b->buckets, sizeof(*op->a->buckets) * 64 * resolution) == 0;
    return err;
}

static double change_of(const struct compare_op *op) {
    return fabs((double)op->a->total_cycles - (double)op->b->total_cycles);
}

/* Different ops come first, then other changed ops, then the rest. */
static int rank_of(const struct compare_op *op) {
    return compare_is_different(op->verdict) ? 0 : op->list == COMPARE_CHANGED ? 1 : 2;
}

static int compare_ranks(const void *left, const void *right) {
    const struct compare_op *a = left;
    const struct compare_op *b = right;
    if (rank_of(a) != rank_of(b))
        return rank_of(a) - rank_of(b);
    double difference = change_of(b) - change_of(a);
    if (difference == 0)
        difference = (double)b->a->total_cycles - (double)a->a->total_cycles;
    if (difference != 0)
        return difference > 0 ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* result points to its own member absent, so it must not be moved. */
int compare_profiles(const struct aggstats_profile *a, const struct aggstats_profile *b,
                     const struct compare_options *options, struct compare_result *ret_result) {
    struct compare_result former = *ret_result;
    *ret_result = (struct compare_result){.options = *options};
    int err = aggstats_profile_copy(a, &ret_result->a);
    if (err == 0)
        err = aggstats_profile_copy(b, &ret_result->b);
    if (err == 0)
        err = bring_together(ret_result);
    if (err == 0)
        err = list_ops(ret_result);
    if (err == 0) {
        const struct figures_sum a_sum = figures_sum(&ret_result->a);
        const struct figures_sum b_sum = figures_sum(&ret_result->b);
        plan_slots(ret_result);
        ret_result->is_identical = true;
        for (size_t i = 0; i < ret_result->op_count && err == 0; i++)
            err = compare_op(ret_result, &ret_result->ops[i], &a_sum, &b_sum);
    }
    if (err == 0)
        qsort(ret_result->ops, ret_result->op_count, sizeof(*ret_result->ops), compare_ranks);
    if (err < 0) {
        compare_finish(ret_result);
        *ret_result = former;
    }
    return err;
}

void compare_finish(struct compare_result *result) {
    for (size_t i = 0; i < result->op_count; i++) {
        free(result->ops[i].peaks);
        free(result->ops[i].slots);
    }
    free(result->ops);
    free(result->absent.buckets);
    aggstats_profile_finish(&result->a);
    aggstats_profile_finish(&result->b);
    *result = (struct compare_result){0};
}
