/* Huber's location, from buckets. */
#include "usual.h"

#include <math.h>

#include "figures.h"

#define ISOLATED_MAX 0.05
#define STEPS 12

struct histogram {
    const uint64_t *buckets;
    unsigned resolution;
    unsigned first; /* bucket that is not empty */
    unsigned end;   /* after the last one */
    double calls;
    double clip; /* octaves from the location, beyond which a call counts as if it were there */
};

static double share_of_isolated(const struct histogram *it) {
    double isolated = 0;
    for (unsigned bucket = it->first; bucket < it->end; bucket++) {
        const double own = (double)it->buckets[bucket];
        const double below = bucket > it->first ? (double)it->buckets[bucket - 1] : 0;
        const double above = bucket + 1 < it->end ? (double)it->buckets[bucket + 1] : 0;
        if (fmax(below, above) < ISOLATED_MAX * own)
            isolated += own;
    }
    return isolated / it->calls;
}

/* One step: the mean, with values farther than the clip from the current one moved to that distance. */
static void improve(struct usual *usual, const struct histogram *it) {
    double sum = 0;
    double square_sum = 0;
    double unclipped = 0;
    for (unsigned bucket = it->first; bucket < it->end; bucket++) {
        const double calls = (double)it->buckets[bucket];
        const double octaves = (bucket + 0.5) / it->resolution - usual->log2_cycles;
        const double clipped = fmin(fmax(octaves, -it->clip), it->clip);
        sum += calls * clipped;
        square_sum += calls * clipped * clipped;
        unclipped += clipped == octaves ? calls : 0; /* NOLINT: it is one of the arguments */
    }
    const double step = sum / it->calls;
    const double unclipped_share = fmax(unclipped / it->calls, 0.1);
    usual->log2_cycles += step;
    usual->variance = fmax(0, square_sum / it->calls - step * step) / (it->calls * unclipped_share * unclipped_share);
}

static struct histogram histogram_of(const struct aggstats_op_profile *op, unsigned resolution) {
    struct histogram it = {.buckets = op->buckets, .resolution = resolution, .end = 64 * resolution};
    it.calls = (double)figures_finished(op, resolution);
    while (it.first < it.end && op->buckets[it.first] == 0)
        it.first++;
    while (it.end > it.first && op->buckets[it.end - 1] == 0)
        it.end--;
    return it;
}

/* The mean distance of calls from a latency, in octaves. */
static double mean_distance(const struct histogram *it, double log2_cycles) {
    double sum = 0;
    for (unsigned bucket = it->first; bucket < it->end; bucket++)
        sum += (double)it->buckets[bucket] * fabs((bucket + 0.5) / it->resolution - log2_cycles);
    return sum / it->calls;
}

struct usual usual_of(const struct aggstats_op_profile *op, unsigned resolution) {
    struct histogram it = histogram_of(op, resolution);
    struct usual usual = {0};
    if (it.calls <= 0)
        return usual;
    for (unsigned bucket = it.first; bucket < it.end; bucket++)
        usual.log2_cycles += (double)op->buckets[bucket] / it.calls * (bucket + 0.5) / resolution;
    it.clip = fmax(USUAL_CLIP_OCTAVES, mean_distance(&it, usual.log2_cycles));
    for (int step = 0; step < STEPS; step++)
        improve(&usual, &it);
    usual.isolated = share_of_isolated(&it);
    return usual;
}
