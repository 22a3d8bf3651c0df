/* Percentiles of an op's latency. */
#include <math.h>

#include "aggstats.h"

/* ceil(count * per_mille / 1000), without overflow */
static uint64_t rank_of(uint64_t count, unsigned per_mille) {
    return count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;
}

/* What is known of the calls in a bucket. */
struct range {
    double lower_cycles;
    double upper_cycles;
    bool is_longest; /* its longest call took exactly upper_cycles */
};

static double lower_bound(unsigned bucket, unsigned resolution) {
    return bucket > 0 ? aggstats_bucket_lower(bucket, resolution) : 0;
}

/* The latency that the total leaves for one call of the last bucket, if the others took as little as their buckets
 * allow. */
static double most_left(const struct aggstats_op_profile *op, unsigned resolution, unsigned last) {
    double left_cycles = (double)op->total_cycles + lower_bound(last, resolution);
    uint64_t calls = 0;
    for (unsigned bucket = 0; bucket <= last; bucket++) {
        left_cycles -= (double)op->buckets[bucket] * lower_bound(bucket, resolution);
        calls += op->buckets[bucket];
    }
    return calls == 1 ? (double)op->total_cycles : left_cycles; /* without rounding */
}

static struct range range_of(const struct aggstats_op_profile *op, unsigned resolution, unsigned bucket,
                             uint64_t finished, bool is_last) {
    struct range range = {.lower_cycles = lower_bound(bucket, resolution),
                          .upper_cycles = aggstats_bucket_upper(bucket, resolution)};
    double most_cycles = is_last ? most_left(op, resolution, bucket) : range.upper_cycles;
    if (is_last && op->longest_cycles > 0) {
        range.upper_cycles = (double)op->longest_cycles;
        range.is_longest = true;
    } else if (most_cycles >= range.lower_cycles && most_cycles < range.upper_cycles) {
        range.upper_cycles = most_cycles;
        range.is_longest = finished == 1;
    }
    return range;
}

/* rank: of the call in the range, from 1 */
static double interpolate(const struct range *range, uint64_t rank, uint64_t calls) {
    double share = ((double)rank - 0.5) / (double)calls;
    if (range->is_longest && rank == calls)
        return range->upper_cycles;
    return range->lower_cycles > 0 ? range->lower_cycles * pow(range->upper_cycles / range->lower_cycles, share)
                                   : range->upper_cycles * share;
}

bool aggstats_percentile(const struct aggstats_op_profile *op, unsigned resolution, unsigned per_mille,
                         struct aggstats_percentile *ret_percentile) {
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        finished += op->buckets[bucket];
    uint64_t rank = rank_of(finished, per_mille);
    uint64_t behind = finished;
    for (unsigned bucket = 0; finished > 0 && bucket < 64 * resolution; bucket++) {
        const uint64_t calls = op->buckets[bucket];
        behind -= calls;
        if (rank <= calls) {
            const struct range range = range_of(op, resolution, bucket, finished, behind == 0);
            *ret_percentile = (struct aggstats_percentile){
                .bucket = bucket,
                .cycles = interpolate(&range, rank, calls),
                .lower_cycles = range.is_longest && rank == calls ? range.upper_cycles : range.lower_cycles,
                .upper_cycles = range.upper_cycles,
            };
            return true;
        }
        rank -= calls;
    }
    return false;
}
