/* Figures computed from a profile: sums, percentiles, and consistency. Pure functions. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "aggstats.h"
#include "wide_count.h"

/* Calls of an op that have ended: the sum of its buckets. */
uint64_t figures_finished(const struct aggstats_op_profile *op, unsigned resolution);

/* A computed count, rounded to the nearest whole number; beyond 64 bits the largest. count: at least 0, not NAN */
uint64_t figures_count(double count);

/* The factor by which a percentile may be wrong: a bucket's width. */
double figures_percentile_error(unsigned resolution);

struct figures_sum {
    wide_count calls; /* as sums both may exceed 64 bits */
    double total_cycles;
};

struct figures_sum figures_sum(const struct aggstats_profile *profile);

/* The total latency of calls that wait for locks of files, in cycles. */
double figures_locking(const struct aggstats_profile *profile);

/* The possible range of an op's total latency, given its buckets: [lower, upper], in cycles. Bucket 0 also holds
 * latencies of 0 cycles, including clamped ones.
 * Source:  thesis §5.8 (extended: there only the counts are compared) */
struct figures_bounds {
    long double lower_cycles;
    long double upper_cycles;
};

struct figures_bounds figures_total_bounds(const struct aggstats_op_profile *op, unsigned resolution);

/* Sets the total to the nearest in that range. */
void figures_limit_total(struct aggstats_op_profile *op, unsigned resolution);

/* Calls that were left before they returned, of all ops; UINT64_MAX: that many or more. */
wide_count figures_left(const struct aggstats_profile *profile);

/* A share of so many trials, and half of its confidence interval of 95 %. The interval's middle is beside the share.
 * Source:  A. Agresti, B. Coull (1998); unlike Wald's it is not empty at 0 and 1 */
struct figures_interval {
    double middle;
    double half;
};

struct figures_interval figures_binomial(uint64_t hits, uint64_t trials);

/* Calls in flight that the profile lists for an op. */
uint64_t figures_in_flight(const struct aggstats_profile *profile, const char *op_name);

#endif
