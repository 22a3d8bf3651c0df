/* Percentiles of an op's latency, which are order statistics: the latency of the n-th shortest call. A histogram tells
 * its bucket. The total and the longest call, which are exact, leave less than the bucket where an op has few calls, or
 * where nearly all are in one bucket. */
#include <math.h>

#include "aggstats.h"

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

/* Bucket 0 also holds latencies of 0 cycles. */
static struct contents contents_of(const struct aggstats_op_profile *op, unsigned resolution, unsigned bucket,
                                   bool is_last) {
    struct contents contents = {.calls = op->buckets[bucket],
                                .each = {.lower = bucket > 0 ? aggstats_bucket_lower(bucket, resolution) : 0,
                                         .upper = aggstats_bucket_upper(bucket, resolution)},
                                .has_longest = is_last && op->longest_cycles > 0};
    if (contents.has_longest)
        contents.each.upper = fmaxl(contents.each.lower, (long double)op->longest_cycles);
    const long double calls = (long double)contents.calls;
    contents.sum = (struct range){.lower = calls * contents.each.lower, .upper = calls * contents.each.upper};
    if (contents.has_longest)
        contents.sum.lower += contents.each.upper - contents.each.lower;
    return contents;
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
    contents->sum.lower = fmaxl(contents->sum.lower, total - others.upper);
    contents->sum.upper = fminl(contents->sum.upper, total - others.lower);
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
    const struct range range = {.lower = fmaxl(contents->each.lower, least),
                                .upper = fminl(contents->each.upper, most)};
    return range;
}

/* rank: from 1, of the calls of the bucket. Between the bounds, calls are assumed to be spread evenly over the logarithm
 * of latency. */
static struct aggstats_percentile find_in_bucket(const struct aggstats_op_profile *op, unsigned resolution,
                                                 unsigned bucket, uint64_t rank) {
    unsigned last = 64 * resolution - 1;
    while (last > 0 && op->buckets[last] == 0)
        last--;
    struct contents contents = contents_of(op, resolution, bucket, bucket == last);
    hold_against_total(op, resolution, last, &contents);
    const struct range range = range_of_rank(&contents, rank);
    const double lower = (double)range.lower;
    const double upper = fmax((double)range.upper, lower); /* after rounding */
    const double share = ((double)rank - 0.5) / (double)contents.calls;
    const double shortest = (double)contents.each.lower;
    const double longest = (double)range_of_rank(&contents, contents.calls).upper;
    const double between = shortest > 0 ? shortest * pow(longest / shortest, share) : longest * share;
    return (struct aggstats_percentile){
        .bucket = bucket,
        .cycles = fmin(fmax(between, lower), upper),
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
    /* ceil(finished * per_mille / 1000), without overflow */
    const uint64_t rank = finished / 1000 * per_mille + (finished % 1000 * per_mille + 999) / 1000;
    return aggstats_latency_of_rank(op, resolution, rank, ret_percentile);
}
