/* The histogram is first cut into hills at all its local minima; then hills that no real valley separates are joined,
 * the lowest first. Heights are calls per octave at every position of a window that is an octave wide, so that they
 * mean the same at every resolution.
 *
 * Peaks of two histograms are aligned like words of two texts: each is paired or left alone, at the least total cost. */
#include "peaks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VALLEY_FACTOR 4U            /* two steps of a curve drawn by powers of two */
#define LOG_CHANCE_MAX (-6.9077553) /* ln(1/1000) */
#define HILLS_MAX AGGSTATS_BUCKETS_MAX

struct curve {
    const uint64_t *buckets;
    unsigned resolution;
    unsigned position_count;
    uint64_t heights[AGGSTATS_BUCKETS_MAX]; /* calls in [position, position + resolution) */
};

/* A local maximum, and the lowest positions between it and the next one. */
struct hill {
    uint64_t height;
    unsigned valley_first; /* position */
    unsigned valley_last;
};

static void draw_heights(struct curve *curve) {
    const unsigned resolution = curve->resolution;
    uint64_t height = 0;
    for (unsigned bucket = 0; bucket < resolution; bucket++)
        height += curve->buckets[bucket];
    for (unsigned position = 0; position < curve->position_count; position++) {
        curve->heights[position] = height;
        if (position + 1 < curve->position_count)
            height += curve->buckets[position + resolution] - curve->buckets[position];
    }
}

/* ---- Hills -------------------------------------------------------------------------------------- */

/* Goes up to each top, and down into the valley behind it, until the curve ends. */
static size_t find_hills(const struct curve *curve, struct hill *ret_hills) {
    const uint64_t *heights = curve->heights;
    const unsigned last = curve->position_count - 1;
    size_t count = 0;
    unsigned position = 0;
    do {
        struct hill *hill = &ret_hills[count++];
        while (position < last && heights[position + 1] >= heights[position])
            position++;
        *hill = (struct hill){.height = heights[position], .valley_first = position};
        for (; position < last && heights[position + 1] <= heights[position]; position++)
            if (heights[position + 1] < heights[position])
                hill->valley_first = position + 1;
        hill->valley_last = position;
    } while (position < last);
    return count;
}

/* ---- Valleys ------------------------------------------------------------------------------------ */

static uint64_t lower_height(const struct hill *hill) {
    return hill[0].height < hill[1].height ? hill[0].height : hill[1].height;
}

/* Logarithm of (a bound of) the probability that of n calls, spread evenly over top_octaves and valley_octaves, as many
 * or more fall into the top.
 * Source:  the Chernoff bound of the binomial distribution, exact for an empty valley. */
static double log_chance(double top_calls, double valley_calls, double top_octaves, double valley_octaves) {
    double calls = top_calls + valley_calls;
    double even_share = top_octaves / (top_octaves + valley_octaves);
    double share = top_calls / calls;
    if (share <= even_share)
        return 0;
    double chance = -top_calls * log(share / even_share);
    if (valley_calls > 0)
        chance -= valley_calls * log(valley_calls / calls / (1 - even_share));
    return chance;
}

/* True if the valley behind a hill separates it from the next one. */
static bool is_real_valley(const struct curve *curve, const struct hill *hill) {
    const uint64_t top = lower_height(hill);
    const unsigned width = hill->valley_last - hill->valley_first + curve->resolution;
    uint64_t calls = 0;
    if (curve->heights[hill->valley_first] >= top / VALLEY_FACTOR + (top % VALLEY_FACTOR != 0))
        return false;
    for (unsigned bucket = hill->valley_first; bucket < hill->valley_first + width; bucket++)
        calls += curve->buckets[bucket];
    const double chance_max = LOG_CHANCE_MAX - log(curve->resolution); /* there are that many more valleys to test */
    return log_chance((double)top, (double)calls, 1, (double)width / curve->resolution) < chance_max;
}

/* The hill to join with its right neighbour next: of those without a real valley the lowest, and of its two valleys the
 * higher one. Returns hill_count - 1: none */
static size_t find_unparted(const struct curve *curve, const struct hill *hills, size_t hill_count) {
    size_t found = hill_count - 1;
    for (size_t i = 0; i + 1 < hill_count; i++) {
        if (is_real_valley(curve, &hills[i]))
            continue;
        if (found < hill_count - 1) {
            uint64_t height = lower_height(&hills[i]);
            uint64_t found_height = lower_height(&hills[found]);
            if (height > found_height || (height == found_height && curve->heights[hills[i].valley_first] <=
                                                                        curve->heights[hills[found].valley_first]))
                continue;
        }
        found = i;
    }
    return found;
}

/* ---- Peaks -------------------------------------------------------------------------------------- */

static double latency_between(const struct aggstats_op_profile *op, unsigned resolution, unsigned first, unsigned end) {
    double cycles = 0;
    for (unsigned bucket = first; bucket < end; bucket++)
        cycles += (double)op->buckets[bucket] * aggstats_bucket_mean(bucket, resolution);
    return cycles;
}

struct peak peaks_between(const struct aggstats_op_profile *op, unsigned resolution, unsigned first, unsigned end) {
    struct peak peak = {.first = first, .last = first, .mode = first};
    struct aggstats_percentile p50;
    uint64_t before = 0;
    double positions = 0;
    for (unsigned bucket = 0; bucket < first; bucket++)
        before += op->buckets[bucket];
    for (unsigned bucket = first; bucket < end; bucket++) {
        if (op->buckets[bucket] == 0)
            continue;
        if (peak.calls == 0)
            peak.first = bucket;
        if (peak.calls == 0 || op->buckets[bucket] > op->buckets[peak.mode])
            peak.mode = bucket;
        peak.last = bucket;
        peak.calls += op->buckets[bucket];
        positions += (double)op->buckets[bucket] * (bucket + 0.5) / resolution;
    }
    if (peak.calls == 0)
        return peak;
    peak.mode_cycles = aggstats_bucket_mean(peak.mode, resolution);
    if (aggstats_latency_of_rank(op, resolution, before + peak.calls - peak.calls / 2, &p50))
        peak.p50_cycles = p50.cycles;
    peak.centre = positions / (double)peak.calls;
    peak.latency_share =
        latency_between(op, resolution, first, end) / latency_between(op, resolution, 0, 64 * resolution);
    return peak;
}

size_t peaks_find(const struct aggstats_op_profile *op, unsigned resolution, struct peak *ret_peaks) {
    struct curve curve = {.buckets = op->buckets, .resolution = resolution, .position_count = 63 * resolution + 1};
    struct hill hills[HILLS_MAX];
    size_t count = 0;
    unsigned first = 0;
    draw_heights(&curve);
    size_t hill_count = find_hills(&curve, hills);
    for (size_t at; (at = find_unparted(&curve, hills, hill_count)) < hill_count - 1;) { /* joined with the next one */
        uint64_t height = hills[at].height > hills[at + 1].height ? hills[at].height : hills[at + 1].height;
        memmove(&hills[at], &hills[at + 1], (--hill_count - at) * sizeof(*hills));
        hills[at].height = height;
    }
    for (size_t i = 0; i < hill_count; i++) {
        unsigned end = i + 1 < hill_count ? hills[i].valley_first + resolution / 2 : 64 * resolution;
        struct peak peak = peaks_between(op, resolution, first, end);
        if (peak.calls > 0)
            ret_peaks[count++] = peak;
        first = end;
    }
    return count;
}

/* ---- Pairs of peaks ----------------------------------------------------------------------------- */

#define ALONE_COST (PEAK_PAIRS_APART_OCTAVES / 2)
#define PRESENT_SHARE 0.5

struct side {
    const struct aggstats_op_profile *op;
    struct peak peaks[PEAKS_MAX];
    size_t count;
    uint64_t calls;
};

struct matching {
    struct side a;
    struct side b;
    unsigned resolution;
    double costs[PEAKS_MAX + 1][PEAKS_MAX + 1]; /* of the first i of a and j of b */
};

static void fill_side(struct side *side, const struct aggstats_op_profile *op, unsigned resolution) {
    side->op = op;
    side->count = peaks_find(op, resolution, side->peaks);
    side->calls = 0;
    for (size_t i = 0; i < side->count; i++)
        side->calls += side->peaks[i].calls;
}

static double cost_of_pairing(const struct matching *matching, size_t i, size_t j) {
    return i > 0 && j > 0
               ? matching->costs[i - 1][j - 1] + fabs(matching->a.peaks[i - 1].centre - matching->b.peaks[j - 1].centre)
               : INFINITY;
}

static double cost_of_vanishing(const struct matching *matching, size_t i, size_t j) {
    return i > 0 ? matching->costs[i - 1][j] + ALONE_COST : INFINITY;
}

static struct peak_pair pair_of(const struct peak *a, const struct peak *b) {
    struct peak_pair pair = {.change = PEAK_STAYED, .a = *a, .b = *b, .moved_octaves = b->centre - a->centre};
    if (fabs(pair.moved_octaves) >= PEAK_PAIRS_MOVED_OCTAVES)
        pair.change = PEAK_MOVED;
    return pair;
}

static double place_of(const struct peak_pair *pair) {
    return pair->a.calls > 0 ? pair->a.centre : pair->b.centre;
}

static int compare_places(const void *left, const void *right) {
    double difference = place_of(left) - place_of(right);
    return (difference > 0) - (difference < 0);
}

/* Follows the cheapest path backwards. */
static size_t trace(const struct matching *matching, struct peak_pair *ret_pairs) {
    size_t count = 0;
    size_t i = matching->a.count;
    size_t j = matching->b.count;
    while (i + j > 0) {
        double cost = matching->costs[i][j];
        if (cost_of_pairing(matching, i, j) <= cost) {
            i--;
            j--;
            ret_pairs[count++] = pair_of(&matching->a.peaks[i], &matching->b.peaks[j]);
        } else if (cost_of_vanishing(matching, i, j) <= cost) {
            ret_pairs[count++] = (struct peak_pair){.change = PEAK_VANISHED, .a = matching->a.peaks[--i]};
        } else {
            ret_pairs[count++] = (struct peak_pair){.change = PEAK_APPEARED, .b = matching->b.peaks[--j]};
        }
    }
    qsort(ret_pairs, count, sizeof(*ret_pairs), compare_places);
    return count;
}

/* ---- Peaks that are in a flank of the other histogram -------------------------------------------- */

static double share(uint64_t part, uint64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

static struct peak *peak_of(struct peak_pair *pair, bool of_b) {
    return of_b ? &pair->b : &pair->a;
}

/* Removes the buckets of another from a peak, and keeps the larger part of the rest. */
static struct peak without(const struct side *side, unsigned resolution, const struct peak *peak,
                           const struct peak *taken) {
    if (peak->calls == 0 || peak->last < taken->first || peak->first > taken->last)
        return *peak;
    struct peak left =
        peaks_between(side->op, resolution, peak->first, taken->first > peak->first ? taken->first : peak->first);
    struct peak right = peaks_between(side->op, resolution, taken->last + 1,
                                      peak->last > taken->last ? peak->last + 1 : taken->last + 1);
    return left.calls >= right.calls ? left : right;
}

/* side: the one without the peak; its calls in that place are taken from their neighbours. */
static void take_place(const struct matching *matching, const struct side *side, struct peak_pair *pairs, size_t count,
                       size_t at) {
    const bool of_b = side == &matching->b;
    const struct side *other = of_b ? &matching->a : &matching->b;
    const struct peak *known = peak_of(&pairs[at], !of_b);
    struct peak place = peaks_between(side->op, matching->resolution, known->first, known->last + 1);
    if (place.calls == 0 || share(place.calls, side->calls) < PRESENT_SHARE * share(known->calls, other->calls))
        return;
    for (size_t i = 0; i < count; i++) { /* not if a neighbour would have nothing left */
        const struct peak *peak = peak_of(&pairs[i], of_b);
        if (peak->calls > 0 && without(side, matching->resolution, peak, &place).calls == 0)
            return;
    }
    for (size_t i = 0; i < count; i++) {
        struct peak *peak = peak_of(&pairs[i], of_b);
        *peak = without(side, matching->resolution, peak, &place);
        if (pairs[i].a.calls > 0 && pairs[i].b.calls > 0)
            pairs[i] = pair_of(&pairs[i].a, &pairs[i].b);
    }
    *peak_of(&pairs[at], of_b) = place;
    pairs[at] = pair_of(&pairs[at].a, &pairs[at].b);
}

size_t peak_pairs_match(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned resolution,
                        struct peak_pair *ret_pairs) {
    struct matching matching = {.resolution = resolution};
    fill_side(&matching.a, a, resolution);
    fill_side(&matching.b, b, resolution);
    for (size_t i = 0; i <= matching.a.count; i++)
        for (size_t j = 0; j <= matching.b.count; j++) {
            double cost = i + j == 0 ? 0 : cost_of_pairing(&matching, i, j);
            cost = fmin(cost, cost_of_vanishing(&matching, i, j));
            matching.costs[i][j] = fmin(cost, j > 0 ? matching.costs[i][j - 1] + ALONE_COST : INFINITY);
        }
    size_t count = trace(&matching, ret_pairs);
    for (size_t i = 0; i < count; i++) {
        if (ret_pairs[i].change == PEAK_APPEARED)
            take_place(&matching, &matching.a, ret_pairs, count, i);
        else if (ret_pairs[i].change == PEAK_VANISHED)
            take_place(&matching, &matching.b, ret_pairs, count, i);
    }
    return count;
}
