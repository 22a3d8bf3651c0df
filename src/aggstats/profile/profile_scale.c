/* Profiles expressed otherwise: in fewer buckets, or in cycles of another clock. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/cells.h"
#include "aggstats/counted.h"
#include "facts.h"
#include "profile_owned.h"

/* ---- Resolution ---- */

static void coarsen_cells(struct aggstats_cell *cells, size_t *count, unsigned factor) {
    struct cells samples = {.cells = cells, .count = *count};
    cells_merge(&samples, 1, factor);
    *count = samples.count;
}

static void coarsen_buckets(uint64_t *buckets, unsigned count, unsigned factor) {
    for (unsigned bucket = 0; bucket < count; bucket++) {
        uint64_t moved = buckets[bucket];
        buckets[bucket] = 0;
        buckets[bucket / factor] += moved;
    }
}

void profile_coarsen(struct aggstats_profile *profile, unsigned resolution) {
    unsigned factor = profile->resolution / resolution;
    unsigned count = profile_bucket_count(profile);
    for (size_t i = 0; i < profile->cause_count; i++)
        if (profile->causes[i].buckets)
            coarsen_buckets(profile->causes[i].buckets, count, factor);
    for (size_t i = 0; i < profile->op_count; i++) {
        coarsen_buckets(profile->ops[i].buckets, count, factor);
        coarsen_cells(profile->ops[i].samples, &profile->ops[i].sample_count, factor);
    }
    for (size_t i = 0; i < profile->joint_count; i++)
        coarsen_cells(profile->joints[i].cells, &profile->joints[i].cell_count, factor);
    for (size_t i = 0; i < profile->group_count; i++)
        profile_coarsen(&profile->groups[i].profile, resolution);
    profile->resolution = resolution;
}

int aggstats_profile_coarsen(struct aggstats_profile *profile, unsigned resolution) {
    if (!aggstats_resolution_valid(resolution) || resolution > profile->resolution)
        return -EINVAL;
    profile_coarsen(profile, resolution);
    return 0;
}

/* ---- Clock rate ---- */

/* What a change of rate does to buckets. All buckets of a profile are equally wide on a logarithmic scale, so each is
 * shifted by the same number of buckets and overlaps the same share of two neighbours. */
struct shift {
    uint64_t from_hz;
    uint64_t to_hz;
    int buckets;           /* whole buckets, rounded down */
    long double low_share; /* of a bucket's range, what lies in the lower of the two; linear in cycles */
};

/* Latencies below 1 cycle fall in bucket 0. */
static int add_shifted(uint64_t *buckets, int bucket, int count, uint64_t calls) {
    if (calls == 0)
        return 0;
    if (bucket >= count)
        return -EOVERFLOW;
    buckets[bucket < 0 ? 0 : bucket] += calls;
    return 0;
}

/* How many of a bucket's calls go to the lower one. With two shares, rounding one and giving the rest to the other is
 * the method of the largest remainder. */
static uint64_t low_part(const struct shift *shift, uint64_t calls) {
    long double low_exact = roundl((long double)calls * shift->low_share);
    return low_exact >= (long double)calls ? calls : (uint64_t)low_exact;
}

static int shift_buckets(uint64_t *buckets, unsigned count, const struct shift *shift) {
    uint64_t shifted[AGGSTATS_BUCKETS_MAX] = {0};
    for (int bucket = 0; bucket < (int)count; bucket++) {
        uint64_t calls = buckets[bucket];
        uint64_t low = low_part(shift, calls);
        if (add_shifted(shifted, bucket + shift->buckets, (int)count, low) < 0 ||
            add_shifted(shifted, bucket + shift->buckets + 1, (int)count, calls - low) < 0)
            return -EOVERFLOW;
    }
    memcpy(buckets, shifted, count * sizeof(*shifted));
    return 0;
}

/* Appends calls of a row to cells, in ascending order of buckets; there must be room. sum: as below */
static int append_shifted(struct cells *cells, uint32_t row, int bucket, unsigned count, uint64_t calls,
                          uint64_t *sum) {
    int err = add_shifted(sum, bucket, (int)count, calls);
    if (err < 0 || calls == 0)
        return err;
    assert(cells->cells);
    struct aggstats_cell *last = cells->count > 0 ? &cells->cells[cells->count - 1] : NULL;
    unsigned at = bucket < 0 ? 0 : (unsigned)bucket;
    if (last && last->row == row && last->bucket == at)
        last->count += calls;
    else
        cells->cells[cells->count++] = (struct aggstats_cell){.row = row, .bucket = at, .count = calls};
    return 0;
}

/* Each row is shifted by itself. ret_sum: of all rows, [count] */
static int shift_cells(struct aggstats_cell **cells, size_t *cell_count, unsigned count, const struct shift *shift,
                       uint64_t *ret_sum) {
    struct cells shifted = {.cells = NULL};
    int err = cells_reserve(&shifted, 2 * *cell_count + 1);
    memset(ret_sum, 0, count * sizeof(*ret_sum));
    for (size_t at = 0; at < *cell_count && err == 0; at++) {
        const struct aggstats_cell *cell = &(*cells)[at];
        int bucket = (int)cell->bucket + shift->buckets;
        uint64_t low = low_part(shift, cell->count);
        err = append_shifted(&shifted, cell->row, bucket, count, low, ret_sum);
        if (err == 0)
            err = append_shifted(&shifted, cell->row, bucket + 1, count, cell->count - low, ret_sum);
    }
    free(*cells);
    *cells = shifted.cells;
    *cell_count = shifted.count;
    return err;
}

/* A sampled op is the sum of its intervals. Buckets are shifted as a whole, so the longest call may seem to be in
 * another bucket. */
static int rescale_op(struct aggstats_op_profile *op, unsigned resolution, const struct shift *shift) {
    assert(op->buckets);
    int err = cycles_rescale(&op->total_cycles, shift->from_hz, shift->to_hz);
    if (err == 0)
        err = op->sample_count > 0 ? shift_cells(&op->samples, &op->sample_count, 64 * resolution, shift, op->buckets)
                                   : shift_buckets(op->buckets, 64 * resolution, shift);
    if (err == 0)
        err = cycles_rescale(&op->longest_cycles, shift->from_hz, shift->to_hz);
    if (err == 0)
        profile_settle_longest(op, resolution);
    return err;
}

static int rescale_cause(struct aggstats_cause *cause, unsigned resolution, const struct shift *shift) {
    int err = cycles_rescale(&cause->total_cycles, shift->from_hz, shift->to_hz);
    if (err == 0)
        err = cycles_rescale(&cause->longest_cycles, shift->from_hz, shift->to_hz);
    return err == 0 && cause->buckets ? shift_buckets(cause->buckets, 64 * resolution, shift) : err;
}

static int rescale(struct aggstats_profile *profile, uint64_t frequency_hz) {
    const unsigned resolution = profile->resolution;
    const uint64_t old_hz = profile->clock.frequency_hz;
    const long double shifted = resolution * log2l((long double)frequency_hz / old_hz);
    const long double whole = floorl(shifted);
    const long double low_width = exp2l((1 - (shifted - whole)) / resolution) - 1;
    const long double width = exp2l(1.0L / resolution) - 1;
    const struct shift shift = {
        .from_hz = old_hz, .to_hz = frequency_hz, .buckets = (int)whole, .low_share = low_width / width};
    uint64_t sum[AGGSTATS_BUCKETS_MAX]; /* not used */
    int err = cycles_rescale(&profile->slow_cycles, old_hz, frequency_hz);
    for (const struct fact *fact = facts; fact->key && err == 0; fact++)
        err = fact_rescale(fact, profile, old_hz, frequency_hz);
    for (size_t i = 0; i < profile->op_count && err == 0; i++)
        err = rescale_op(&profile->ops[i], resolution, &shift);
    for (size_t i = 0; i < profile->joint_count && err == 0; i++)
        err = shift_cells(&profile->joints[i].cells, &profile->joints[i].cell_count, 64 * resolution, &shift, sum);
    for (size_t i = 0; i < profile->cause_count && err == 0; i++)
        err = rescale_cause(&profile->causes[i], resolution, &shift);
    for (size_t i = 0; i < profile->group_count && err == 0; i++) {
        uint64_t *missed_cycles_max = &profile->groups[i].missed_cycles_max;
        err = rescale(&profile->groups[i].profile, frequency_hz);
        if (err == 0)
            err = cycles_rescale(missed_cycles_max, old_hz, frequency_hz);
        *missed_cycles_max += *missed_cycles_max > 0 && *missed_cycles_max < UINT64_MAX; /* an upper bound */
    }
    profile->clock.frequency_hz = frequency_hz;
    return err;
}

int aggstats_profile_rescale(struct aggstats_profile *profile, uint64_t frequency_hz) {
    if (profile->clock.frequency_hz == 0)
        return -EDOM;
    if (frequency_hz == 0)
        return -EINVAL;
    CLEANUP_PROFILE struct aggstats_profile scaled = {0};
    int err = aggstats_profile_copy(profile, &scaled);
    if (err == 0)
        err = rescale(&scaled, frequency_hz);
    if (err < 0)
        return err;
    aggstats_profile_sort(&scaled);
    counted_sort_groups(&scaled);
    profile_replace(profile, &scaled);
    return 0;
}
