/* Percentiles of an op's latency, which are order statistics: the latency of the n-th shortest call. A histogram tells
 * its bucket. The total and the longest call, which are exact, leave less than the bucket where an op has few calls, or
 * where nearly all are in one bucket. */
#include <math.h>

#include "aggstats.h"

/* ceil(count * per_mille / 1000), without overflow */
static uint64_t rank_of(uint64_t count, unsigned per_mille) {
    return count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;
}

/* In cycles. Long double holds totals exactly. */
struct range {
    long double lower;
    long double upper;
};

/* What is known of the calls of a bucket. */
struct contents {
    uint64_t calls;
    struct range each;
    struct range sum;
    bool has_longest; /* its longest call took exactly each.upper */
};

static long double larger(long double a, long double b) {
    return a > b ? a : b;
}

static long double smaller(long double a, long double b) {
    return a < b ? a : b;
}

/* Bucket 0 also holds latencies of 0 cycles. */
static struct contents contents_of(const struct aggstats_op_profile *op, unsigned resolution, unsigned bucket,
                                   bool is_last) {
    struct contents contents = {.calls = op->buckets[bucket],
                                .each = {.lower = bucket > 0 ? aggstats_bucket_lower(bucket, resolution) : 0,
                                         .upper = aggstats_bucket_upper(bucket, resolution)},
                                .has_longest = is_last && op->longest_cycles > 0};
    if (contents.has_longest)
        contents.each.upper = larger(contents.each.lower, (long double)op->longest_cycles);
    const long double calls = (long double)contents.calls;
    contents.sum = (struct range){.lower = calls * contents.each.lower, .upper = calls * contents.each.upper};
    if (contents.has_longest)
        contents.sum.lower += contents.each.upper - contents.each.lower;
    return contents;
}

static unsigned last_bucket(const struct aggstats_op_profile *op, unsigned resolution) {
    unsigned bucket = 64 * resolution - 1;
    while (bucket > 0 && op->buckets[bucket] == 0)
        bucket--;
    return bucket;
}

/* Narrows what the calls of a bucket can have taken together to what the total leaves for them. Totals that contradict
 * the buckets tell nothing. */
static void hold_against_total(const struct aggstats_op_profile *op, unsigned resolution, unsigned last,
                               struct contents *contents) {
    const long double total = (long double)op->total_cycles;
    struct range all = {0};
    for (unsigned bucket = 0; bucket <= last; bucket++) {
        const struct range sum = contents_of(op, resolution, bucket, bucket == last).sum;
        all.lower += sum.lower;
        all.upper += sum.upper;
    }
    if (total < all.lower || total > all.upper)
        return;
    const struct range others = {.lower = all.lower - contents->sum.lower, .upper = all.upper - contents->sum.upper};
    contents->sum.lower = larger(contents->sum.lower, total - others.upper);
    contents->sum.upper = smaller(contents->sum.upper, total - others.lower);
}

/* rank: from 1, of the calls of the bucket. The calls before it take at least each.lower and those behind it at most
 * each.upper; the longest, if it is known, is not among them. */
static struct range range_of_rank(const struct contents *contents, uint64_t rank) {
    const long double longest = contents->has_longest ? contents->each.upper : 0;
    const uint64_t calls = contents->calls - contents->has_longest;
    if (rank > calls)
        return (struct range){longest, longest};
    const long double most = (contents->sum.upper - longest - (long double)(rank - 1) * contents->each.lower) /
                             (long double)(calls - rank + 1);
    const long double least =
        (contents->sum.lower - longest - (long double)(calls - rank) * contents->each.upper) / (long double)rank;
    const struct range range = {.lower = larger(contents->each.lower, least),
                                .upper = smaller(contents->each.upper, most)};
    return range;
}

/* The position of a rank, if the calls of a bucket are spread evenly over the logarithm of latency. */
static double interpolate(const struct contents *contents, uint64_t rank) {
    const double share = ((double)rank - 0.5) / (double)contents->calls;
    const double lower = (double)contents->each.lower;
    const double upper = (double)range_of_rank(contents, contents->calls).upper;
    return lower > 0 ? lower * pow(upper / lower, share) : upper * share;
}

/* rank: from 1, of the calls of the bucket */
static struct aggstats_percentile find_in_bucket(const struct aggstats_op_profile *op, unsigned resolution,
                                                 unsigned bucket, uint64_t rank) {
    const unsigned last = last_bucket(op, resolution);
    struct contents contents = contents_of(op, resolution, bucket, bucket == last);
    hold_against_total(op, resolution, last, &contents);
    const struct range range = range_of_rank(&contents, rank);
    const double lower = (double)range.lower;
    const double upper = fmax((double)range.upper, lower); /* after rounding */
    return (struct aggstats_percentile){
        .bucket = bucket,
        .cycles = fmin(fmax(interpolate(&contents, rank), lower), upper),
        .lower_cycles = lower,
        .upper_cycles = upper,
    };
}

bool aggstats_latency_of_rank(const struct aggstats_op_profile *op, unsigned resolution, uint64_t rank,
                              struct aggstats_percentile *ret_percentile) {
    for (unsigned bucket = 0; rank > 0 && bucket < 64 * resolution; bucket++) {
        if (rank <= op->buckets[bucket]) {
            *ret_percentile = find_in_bucket(op, resolution, bucket, rank);
            return true;
        }
        rank -= op->buckets[bucket];
    }
    return false;
}

bool aggstats_percentile(const struct aggstats_op_profile *op, unsigned resolution, unsigned per_mille,
                         struct aggstats_percentile *ret_percentile) {
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        finished += op->buckets[bucket];
    return aggstats_latency_of_rank(op, resolution, rank_of(finished, per_mille), ret_percentile);
}
