/* Huber's location, from buckets. */
#include "usual.h"

#include <math.h>

#include "figures.h"

#define ISOLATED_MAX 0.05
#define STEPS 12
#define CAUTION 4    /* an error by rare calls is worse than one by the width of buckets, which is the same for all */
#define BODY_CLIPS 2 /* calls farther than so many clips above the location are far */

struct histogram {
    const uint64_t *buckets;
    unsigned resolution;
    unsigned first; /* bucket that is not empty */
    unsigned end;   /* after the last one */
    double calls;
    double clip; /* octaves from the location, beyond which a call counts as if it were there */
};

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

/* In a bucket, calls are taken to be spread evenly over the logarithm. Calls far above the location, rare ones
 * among them, are subtracted; how uncertain these are decides how much that counts. */
static void use_total(struct usual *usual, const struct histogram *it, double total_cycles) {
    const double width = M_LN2 / it->resolution; /* of a bucket, as a logarithm */
    const double end = usual->log2_cycles + BODY_CLIPS * it->clip;
    double near = 0;
    double far = 0;
    double far_variance = 0;
    double together = 0; /* probability of two calls being in the same bucket */
    for (unsigned bucket = it->first; bucket < it->end; bucket++) {
        const double calls = (double)it->buckets[bucket];
        const double cycles = calls * exp2((double)bucket / it->resolution) * expm1(width) / width;
        const bool is_near = (bucket + 0.5) / it->resolution <= end;
        *(is_near ? &near : &far) += cycles;
        far_variance += is_near ? 0 : cycles * cycles * width * width / 12;
        together += calls * calls / it->calls / it->calls;
    }
    const double unknown = together * width * width / 12;
    const double known = unknown / (unknown + CAUTION * far_variance / near / near);
    const double ratio = (total_cycles - far) / near;
    if (ratio < exp(-width) || ratio > exp(width))
        return; /* the total does not fit */
    usual->log2_cycles += known * log2(ratio);
    usual->isolated *= 1 - known;
}

/* Sets the clip, too. */
static struct usual locate(struct histogram *it) {
    struct usual usual = {0};
    if (it->calls <= 0)
        return usual;
    for (unsigned bucket = it->first; bucket < it->end; bucket++)
        usual.log2_cycles += (double)it->buckets[bucket] / it->calls * (bucket + 0.5) / it->resolution;
    double distances = 0;
    for (unsigned bucket = it->first; bucket < it->end; bucket++)
        distances += (double)it->buckets[bucket] * fabs((bucket + 0.5) / it->resolution - usual.log2_cycles);
    it->clip = fmax(USUAL_CLIP_OCTAVES, distances / it->calls);
    for (int step = 0; step < STEPS; step++)
        improve(&usual, it);
    double isolated = 0;
    for (unsigned bucket = it->first; bucket < it->end; bucket++) {
        const double own = (double)it->buckets[bucket];
        const double below = bucket > it->first ? (double)it->buckets[bucket - 1] : 0;
        const double above = bucket + 1 < it->end ? (double)it->buckets[bucket + 1] : 0;
        isolated += fmax(below, above) < ISOLATED_MAX * own ? own : 0;
    }
    usual.isolated = isolated / it->calls;
    return usual;
}

struct usual usual_of(const struct aggstats_op_profile *op, unsigned resolution) {
    struct histogram it = histogram_of(op, resolution);
    return locate(&it);
}

struct usual usual_by_total(const struct aggstats_op_profile *op, unsigned resolution) {
    struct histogram it = histogram_of(op, resolution);
    struct usual usual = locate(&it);
    if (it.calls > 0)
        use_total(&usual, &it, (double)op->total_cycles);
    return usual;
}
