/* The histogram is first cut into hills at all its local minima; then hills that no real valley separates are joined,
 * the lowest first. Heights are calls per octave at every position of a window that is an octave wide, so that they
 * mean the same at every resolution. */
#include "peaks.h"

#include <math.h>
#include <stdbool.h>

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

/* From position on, up to the top; returns the last position of that height. */
static unsigned climb(const struct curve *curve, unsigned position) {
    while (position + 1 < curve->position_count && curve->heights[position + 1] >= curve->heights[position])
        position++;
    return position;
}

/* From a top down into the valley behind it; returns false if the curve ends there. */
static bool descend(const struct curve *curve, unsigned position, struct hill *hill) {
    hill->valley_first = position;
    while (position + 1 < curve->position_count && curve->heights[position + 1] <= curve->heights[position]) {
        position++;
        if (curve->heights[position] < curve->heights[position - 1])
            hill->valley_first = position;
    }
    hill->valley_last = position;
    return position + 1 < curve->position_count;
}

static size_t find_hills(const struct curve *curve, struct hill *ret_hills) {
    size_t count = 0;
    unsigned position = 0;
    bool goes_on = true;
    while (goes_on) {
        position = climb(curve, position);
        ret_hills[count].height = curve->heights[position];
        goes_on = descend(curve, position, &ret_hills[count]);
        position = ret_hills[count].valley_last;
        count++;
    }
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

static void join_with_next(struct hill *hills, size_t *hill_count, size_t at) {
    uint64_t height = hills[at].height > hills[at + 1].height ? hills[at].height : hills[at + 1].height;
    (*hill_count)--;
    for (size_t i = at; i < *hill_count; i++)
        hills[i] = hills[i + 1];
    hills[at].height = height;
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
    for (size_t at; (at = find_unparted(&curve, hills, hill_count)) < hill_count - 1;)
        join_with_next(hills, &hill_count, at);
    for (size_t i = 0; i < hill_count; i++) {
        unsigned end = i + 1 < hill_count ? hills[i].valley_first + resolution / 2 : 64 * resolution;
        struct peak peak = peaks_between(op, resolution, first, end);
        if (peak.calls > 0)
            ret_peaks[count++] = peak;
        first = end;
    }
    return count;
}
