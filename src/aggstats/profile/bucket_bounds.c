/* The bounds of a bucket. Separate from bucket.c, so that a program that only counts needs no mathematical library. */
#include <math.h>

#include "aggstats.h"

double aggstats_bucket_lower(unsigned bucket, unsigned resolution) {
    return exp2((double)bucket / resolution);
}

double aggstats_bucket_upper(unsigned bucket, unsigned resolution) {
    return exp2((double)(bucket + 1) / resolution);
}

double aggstats_bucket_mean(unsigned bucket, unsigned resolution) {
    return (aggstats_bucket_lower(bucket, resolution) + aggstats_bucket_upper(bucket, resolution)) / 2;
}
