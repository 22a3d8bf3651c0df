/* libaggstats: buckets, the logarithm of latencies. */
#ifndef AGGSTATS_BUCKET_H
#define AGGSTATS_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

AGGSTATS_BEGIN_DECLARATIONS

#define AGGSTATS_RESOLUTION_MAX 8 /* buckets per power of two */
#define AGGSTATS_BUCKETS_MAX (64U * AGGSTATS_RESOLUTION_MAX)

/* True for 1, 2, 4 and 8. */
bool aggstats_resolution_valid(unsigned resolution);

/* The bucket of a latency: floor(r * log2(latency)), exactly; 0 and 1 cycle fall in bucket 0.
 * Shape:   result < 64 * resolution
 * Source:  thesis eq. 3.4 */
unsigned aggstats_bucket_of(uint64_t latency_cycles, unsigned resolution);

/* Bounds of a bucket, [lower, upper) = [2^(b/r), 2^((b+1)/r)), and its mean latency (the midpoint), in cycles. */
double aggstats_bucket_lower(unsigned bucket, unsigned resolution);
double aggstats_bucket_upper(unsigned bucket, unsigned resolution);
double aggstats_bucket_mean(unsigned bucket, unsigned resolution);

AGGSTATS_END_DECLARATIONS

#endif
