/* Figures computed from a profile. */
#include "figures.h"

#include <math.h>
#include <string.h>

#include "base.h"

uint64_t figures_finished(const struct aggstats_op_profile *op, unsigned resolution) {
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        finished += op->buckets[bucket];
    return finished;
}

uint64_t figures_count(double count) {
    return count < 0x1p64 ? (uint64_t)round(count) : UINT64_MAX; /* below 2^64, also after rounding */
}

double figures_percentile_error(unsigned resolution) {
    return exp2(1.0 / resolution);
}

double figures_locking(const struct aggstats_profile *profile) {
    static const char *const locks[] = {"LOCK", "FLOCK", "SETLKW"};
    double cycles = 0;
    for (size_t i = 0; i < ARRAY_SIZE(locks); i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(profile, locks[i]);
        cycles += op ? (double)op->total_cycles : 0;
    }
    return cycles;
}

struct figures_sum figures_sum(const struct aggstats_profile *profile) {
    struct figures_sum sum = {0};
    for (size_t i = 0; i < profile->op_count; i++) {
        sum.calls += profile->ops[i].calls;
        sum.total_cycles += (double)profile->ops[i].total_cycles;
    }
    return sum;
}

struct figures_bounds figures_total_bounds(const struct aggstats_op_profile *op, unsigned resolution) {
    struct figures_bounds bounds = {0};
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        long double count = (long double)op->buckets[bucket];
        if (bucket > 0)
            bounds.lower_cycles += count * (long double)aggstats_bucket_lower(bucket, resolution);
        bounds.upper_cycles += count * (long double)aggstats_bucket_upper(bucket, resolution);
    }
    return bounds;
}

void figures_limit_total(struct aggstats_op_profile *op, unsigned resolution) {
    const struct figures_bounds bounds = figures_total_bounds(op, resolution);
    if ((long double)op->total_cycles < bounds.lower_cycles)
        op->total_cycles = bounds.lower_cycles < 0x1p64L ? (uint64_t)bounds.lower_cycles : UINT64_MAX;
    else if ((long double)op->total_cycles > bounds.upper_cycles)
        op->total_cycles = (uint64_t)bounds.upper_cycles;
}

wide_count figures_left(const struct aggstats_profile *profile) {
    wide_count count = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        count += profile->ops[i].left_calls;
    return count;
}

uint64_t figures_in_flight(const struct aggstats_profile *profile, const char *op_name) {
    uint64_t count = 0;
    for (size_t i = 0; i < profile->in_flight_count; i++)
        count += strcmp(profile->in_flight[i].op, op_name) == 0;
    return count;
}

#define NORMAL_95 1.959964 /* two-sided quantile of the normal distribution */

struct figures_interval figures_binomial(uint64_t hits, uint64_t trials) {
    const double count = (double)trials + NORMAL_95 * NORMAL_95;
    const double share = ((double)hits + NORMAL_95 * NORMAL_95 / 2) / count;
    return (struct figures_interval){share, NORMAL_95 * sqrt(share * (1 - share) / count)};
}
