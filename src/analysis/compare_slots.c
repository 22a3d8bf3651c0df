/* Intervals of two profiles do not meet, so both are poured into slots of one length. */
#include "compare_slots.h"

#include <math.h>

#include "base.h"

struct slot_histogram {
    double calls[AGGSTATS_BUCKETS_MAX];
};

static double length_of(const struct aggstats_profile *profile) {
    return profile->interval_count > 0 ? (double)profile->borders[profile->interval_count - 1] : 0;
}

void compare_slots_plan(struct compare_result *result) {
    const struct aggstats_profile *a = &result->a;
    const struct aggstats_profile *b = &result->b;
    double length = fmax(length_of(a), length_of(b));
    if (a->interval_count == 0 || b->interval_count == 0 || length == 0)
        return;
    double interval = fmax(length_of(a) / (double)a->interval_count, length_of(b) / (double)b->interval_count);
    result->slot_count = (size_t)fmax(1, fmin(COMPARE_SLOTS_MAX, floor(length / interval + 1e-9)));
    result->slot_cycles = length / (double)result->slot_count;
}

/* Spreads calls over the time [from, to). */
static void pour(struct slot_histogram *slots, const struct compare_result *result, double from, double to,
                 const struct aggstats_cell *cell) {
    size_t last = result->slot_count - 1;
    size_t at = (size_t)fmin((double)last, from / result->slot_cycles);
    size_t end = (size_t)fmin((double)last, to / result->slot_cycles);
    double length = to - from;
    if (at == end || length <= 0) {
        slots[at].calls[cell->bucket] += (double)cell->count;
        return;
    }
    for (; at <= end; at++) {
        double part_from = fmax(from, (double)at * result->slot_cycles);
        double part_to = at == end ? to : (double)(at + 1) * result->slot_cycles;
        slots[at].calls[cell->bucket] += (double)cell->count * (part_to - part_from) / length;
    }
}

static struct slot_histogram *fill_histograms(const struct compare_result *result,
                                              const struct aggstats_profile *profile,
                                              const struct aggstats_op_profile *op) {
    struct slot_histogram *slots = calloc(result->slot_count, sizeof(*slots));
    for (size_t i = 0; slots && i < op->sample_count; i++) {
        const struct aggstats_cell *cell = &op->samples[i];
        double from = cell->row > 0 ? (double)profile->borders[cell->row - 1] : 0;
        pour(slots, result, from, (double)profile->borders[cell->row], cell);
    }
    return slots;
}

static void sum_up(const struct slot_histogram *slot, unsigned resolution, double *ret_calls,
                   double *ret_latency_cycles) {
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        *ret_calls += slot->calls[bucket];
        *ret_latency_cycles += slot->calls[bucket] * aggstats_bucket_mean(bucket, resolution);
    }
}

int compare_slots_fill(const struct compare_result *result, struct compare_op *op) {
    const unsigned resolution = result->a.resolution;
    if (result->slot_count == 0)
        return 0;
    CLEANUP_FREE struct slot_histogram *a = fill_histograms(result, &result->a, op->a);
    CLEANUP_FREE struct slot_histogram *b = fill_histograms(result, &result->b, op->b);
    op->slots = calloc(result->slot_count, sizeof(*op->slots));
    if (!a || !b || !op->slots)
        return -ENOMEM;
    for (size_t i = 0; i < result->slot_count; i++) {
        struct compare_slot *slot = &op->slots[i];
        sum_up(&a[i], resolution, &slot->a_calls, &slot->a_latency_cycles);
        sum_up(&b[i], resolution, &slot->b_calls, &slot->b_latency_cycles);
        slot->score = distance_earth_mover(a[i].calls, b[i].calls, resolution);
    }
    return 0;
}
