/* The methods, one function each, and the table of them. */
#include "distance.h"

#include <math.h>
#include <stdbool.h>
#include <strings.h>

#include "figures.h"
#include "peaks.h"

#define GROUP_LATENCY_PERCENT 90.0 /* totals farther apart than this need no closer look (thesis §5.7.2) */
#define GROUP_SHIFT_OCTAVES 1.0    /* peaks farther apart than this are not alike */

typedef double (*score_fn)(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b,
                           unsigned resolution);

/* |a - b| / max(a, b), in percent. */
static double difference_percent(double a, double b) {
    double larger = fmax(a, b);
    return larger > 0 ? 100 * fabs(a - b) / larger : 0;
}

/* ---- Bin by bin --------------------------------------------------------------------------------- */

static double score_totops(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b,
                           unsigned resolution) {
    return difference_percent((double)figures_finished(a, resolution), (double)figures_finished(b, resolution));
}

static double score_totlat(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b,
                           unsigned resolution) {
    (void)resolution;
    return difference_percent((double)a->total_cycles, (double)b->total_cycles);
}

/* The probability of a chi-square up to this one. What is left of 1 is a finite sum of positive terms, as the degrees of
 * freedom are a whole number. freedom: up to 511; then terms that underflow do not matter
 * Source: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 26.4.4 and 26.4.5 */
static double chi_square_within(double chi_square, unsigned freedom) {
    const bool is_odd = freedom % 2;
    const double half = chi_square / 2;
    double beyond = is_odd ? erfc(sqrt(half)) : 0;
    double term = is_odd ? sqrt(half) * M_2_SQRTPI * exp(-half) : exp(-half);
    for (unsigned order = is_odd; order < freedom; order += 2) { /* twice the order of the term */
        beyond += term;
        term *= half / (order / 2.0 + 1);
    }
    return fmax(0, 1 - beyond);
}

/* Source: W. Press et al., Numerical Recipes (which thesis §5.7 cites), chi-square test of two binned data sets with
 * unequal numbers of points */
static double score_chisquare(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b,
                              unsigned resolution) {
    double ratio = sqrt((double)figures_finished(b, resolution) / (double)figures_finished(a, resolution));
    double chi_square = 0;
    unsigned bin_count = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        double n = (double)a->buckets[bucket];
        double m = (double)b->buckets[bucket];
        if (n + m == 0)
            continue;
        double difference = n * ratio - m / ratio;
        chi_square += difference * difference / (n + m);
        bin_count++;
    }
    return bin_count < 2 ? 0 : 100 * chi_square_within(chi_square, bin_count - 1);
}

/* ---- Earth mover -------------------------------------------------------------------------------- */

/* On a line the least work is the area between the two cumulative distributions. */
double distance_earth_mover(const double *a, const double *b, unsigned resolution) {
    double a_sum = 0;
    double b_sum = 0;
    double carried = 0;
    double work = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        a_sum += a[bucket];
        b_sum += b[bucket];
    }
    if (a_sum == 0 || b_sum == 0)
        return a_sum == b_sum ? 0 : 64;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        carried += a[bucket] / a_sum - b[bucket] / b_sum;
        work += fabs(carried);
    }
    return work / resolution;
}

static double score_earthmover(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b,
                               unsigned resolution) {
    double a_counts[AGGSTATS_BUCKETS_MAX];
    double b_counts[AGGSTATS_BUCKETS_MAX];
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        a_counts[bucket] = (double)a->buckets[bucket];
        b_counts[bucket] = (double)b->buckets[bucket];
    }
    return distance_earth_mover(a_counts, b_counts, resolution);
}

/* ---- Earth mover, beyond noise ------------------------------------------------------------------ */

/* Goes through a histogram in order of latency. If the cost grows at least linearly with the distance, the total is
 * minimal if calls keep their order: the fastest hundredth of a is moved to the fastest hundredth of b. */
struct walk {
    const struct aggstats_op_profile *op;
    unsigned resolution;
    double finished;
    uint64_t calls_before;
    unsigned bucket;   /* not empty */
    double share_from; /* share of the op's calls in faster buckets */
    double share_to;
};

static void enter_bucket(struct walk *walk, unsigned bucket) {
    while (bucket < 64 * walk->resolution && walk->op->buckets[bucket] == 0)
        bucket++;
    walk->bucket = bucket;
    if (bucket == 64 * walk->resolution)
        return;
    walk->share_from = (double)walk->calls_before / walk->finished;
    walk->calls_before += walk->op->buckets[bucket];
    walk->share_to = (double)walk->calls_before / walk->finished;
}

static struct walk begin_walk(const struct aggstats_op_profile *op, unsigned resolution) {
    struct walk walk = {.op = op, .resolution = resolution, .finished = (double)figures_finished(op, resolution)};
    enter_bucket(&walk, 0);
    return walk;
}

/* The position, in octaves, of the call before which this share of all lies. */
static double place_of(const struct walk *walk, double share) {
    return (walk->bucket + (share - walk->share_from) / (walk->share_to - walk->share_from)) / walk->resolution;
}

/* Sums over calls, as shares of all, of the distance beyond noise. */
struct far_sums {
    double ways;
    double squares;
};

/* Adds the positive part of a straight line over that share. */
static void add_line(struct far_sums *sums, double share, double from, double to) {
    double higher = fmax(from, to);
    double lower = fmin(from, to);
    if (higher <= 0)
        return;
    if (lower < 0) {
        share *= higher / (higher - lower);
        lower = 0;
    }
    sums->ways += share * (lower + higher) / 2;
    sums->squares += share * (lower * lower + lower * higher + higher * higher) / 3;
}

/* Adds the calls between two shares, which lie in one bucket of either histogram. */
static void add_ways(struct far_sums *sums, const struct walk *a, const struct walk *b, double from, double to) {
    double way_from = place_of(a, from) - place_of(b, from);
    double way_to = place_of(a, to) - place_of(b, to);
    add_line(sums, to - from, way_from - DISTANCE_NOISE_OCTAVES, way_to - DISTANCE_NOISE_OCTAVES);
    add_line(sums, to - from, -way_from - DISTANCE_NOISE_OCTAVES, -way_to - DISTANCE_NOISE_OCTAVES);
}

static double score_farmover(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b,
                             unsigned resolution) {
    const unsigned end = 64 * resolution;
    struct walk a_walk = begin_walk(a, resolution);
    struct walk b_walk = begin_walk(b, resolution);
    struct far_sums sums = {0};
    double share = 0;
    while (a_walk.bucket < end && b_walk.bucket < end) {
        double share_to = fmin(a_walk.share_to, b_walk.share_to);
        if (share_to > share) /* one call of 2^60 has a share of 0 after rounding */
            add_ways(&sums, &a_walk, &b_walk, share, share_to);
        share = share_to;
        if (a_walk.share_to <= share)
            enter_bucket(&a_walk, a_walk.bucket + 1);
        if (b_walk.share_to <= share)
            enter_bucket(&b_walk, b_walk.bucket + 1);
    }
    double variance = fmax(0, sums.squares - sums.ways * sums.ways);
    return fmax(0, sums.ways - sqrt(variance / fmin(a_walk.finished, b_walk.finished)));
}

/* ---- Peak by peak ------------------------------------------------------------------------------- */

static double score_group(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned resolution,
                          bool by_latency) {
    struct peak_pair pairs[PEAK_PAIRS_MAX];
    double differences = 0;
    double larger = 0;
    if (score_totlat(a, b, resolution) > GROUP_LATENCY_PERCENT)
        return 100;
    size_t count = peak_pairs_match(a, b, resolution, pairs);
    for (size_t i = 0; i < count; i++) {
        const struct peak *a_peak = &pairs[i].a;
        const struct peak *b_peak = &pairs[i].b;
        if (pairs[i].change == PEAK_APPEARED || pairs[i].change == PEAK_VANISHED ||
            fabs(pairs[i].moved_octaves) > GROUP_SHIFT_OCTAVES)
            return 100; /* not alike */
        double a_weight = by_latency ? a_peak->latency_share * (double)a->total_cycles : (double)a_peak->calls;
        double b_weight = by_latency ? b_peak->latency_share * (double)b->total_cycles : (double)b_peak->calls;
        differences += fabs(a_weight - b_weight);
        larger += fmax(a_weight, b_weight);
    }
    return larger > 0 ? 100 * differences / larger : 0;
}

static double score_groupops(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b,
                             unsigned resolution) {
    return score_group(a, b, resolution, false);
}

static double score_grouplat(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b,
                             unsigned resolution) {
    return score_group(a, b, resolution, true);
}

/* ---- The table ---------------------------------------------------------------------------------- */

static const struct method {
    struct distance_traits traits;
    score_fn score;
} methods[] = {
    [DISTANCE_TOTOPS] = {{"TOTOPS", "difference of the numbers of calls", "%", 100, 10}, score_totops},
    [DISTANCE_TOTLAT] = {{"TOTLAT", "difference of the total latencies", "%", 100, 64}, score_totlat},
    [DISTANCE_CHISQUARE] = {{"CHISQUARE", "certainty that it is no chance", "%", 100, 99.9}, score_chisquare},
    [DISTANCE_EARTHMOVER] = {{"EARTHMOVER", "how far calls have moved on the average", "buckets", 64, 0.69},
                             score_earthmover},
    [DISTANCE_GROUPOPS] = {{"GROUPOPS", "difference of the numbers of calls, peak by peak", "%", 100, 90},
                           score_groupops},
    [DISTANCE_GROUPLAT] = {{"GROUPLAT", "difference of the latencies, peak by peak", "%", 100, 90}, score_grouplat},
    [DISTANCE_FARMOVER] = {{"FARMOVER", "how far calls have moved on the average, beyond noise", "buckets", 64, 0.1},
                           score_farmover},
};

const struct distance_traits *distance_traits(enum distance_method method) {
    return &methods[method].traits;
}

int distance_method_of_name(const char *name) {
    for (int method = 0; method < DISTANCE_METHOD_COUNT; method++)
        if (strcasecmp(methods[method].traits.name, name) == 0)
            return method;
    return -1;
}

double distance_score(enum distance_method method, const struct aggstats_op_profile *a,
                      const struct aggstats_op_profile *b, unsigned resolution) {
    const bool a_is_empty = figures_finished(a, resolution) == 0;
    const bool b_is_empty = figures_finished(b, resolution) == 0;
    if (a_is_empty || b_is_empty)
        return a_is_empty && b_is_empty ? 0 : methods[method].traits.score_max;
    return methods[method].score(a, b, resolution);
}
