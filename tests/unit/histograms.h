/* Histograms for tests of the analysis, drawn by a generator that gives the same numbers everywhere. */
#ifndef HISTOGRAMS_H
#define HISTOGRAMS_H

#include <math.h>
#include <string.h>

#include "aggstats.h"

struct histogram {
    uint64_t buckets[AGGSTATS_BUCKETS_MAX];
    struct aggstats_op_profile op;
};

/* From 0 to below 1. Source: G. Marsaglia, Xorshift RNGs (2003) */
static inline double random_share(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Approximately a normal distribution of mean 0 and deviation 1. */
static inline double random_normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_share(state);
    return sum;
}

static inline void histogram_init(struct histogram *histogram) {
    memset(histogram, 0, sizeof(*histogram));
    histogram->op.buckets = histogram->buckets;
    strcpy(histogram->op.name, "READ");
}

static inline void histogram_add(struct histogram *histogram, unsigned bucket, uint64_t calls, unsigned resolution) {
    histogram->buckets[bucket] += calls;
    histogram->op.calls += calls;
    histogram->op.total_cycles += (uint64_t)((double)calls * aggstats_bucket_mean(bucket, resolution));
}

/* Adds a path through the system: log2 of its latencies has a normal distribution. */
static inline void histogram_add_path(struct histogram *histogram, unsigned resolution, uint64_t *state, unsigned calls,
                                      double octave, double deviation) {
    for (unsigned i = 0; i < calls; i++) {
        double at = octave + deviation * random_normal(state);
        at = at < 0 ? 0 : at > 62 ? 62 : at;
        histogram_add(histogram, (unsigned)(at * resolution), 1, resolution);
    }
}

#endif
