/* Merging intervals into bins. */
#include "plot_bins.h"

#include <string.h>

#include "base.h"

static size_t flush_bin(const uint64_t *counts, size_t bin, unsigned bucket_end, struct aggstats_cell *ret_cells) {
    size_t count = 0;
    for (unsigned bucket = 0; bucket < bucket_end; bucket++) {
        if (counts[bucket] > 0)
            ret_cells[count++] =
                (struct aggstats_cell){.row = (uint32_t)bin, .bucket = bucket, .count = counts[bucket]};
    }
    return count;
}

/* Writing never overtakes reading, since a bin has no more cells than its intervals. */
size_t plot_bins_merge(const struct plot_bins *bins, const struct aggstats_op_profile *op,
                       struct aggstats_cell *ret_cells) {
    size_t written = 0;
    for (size_t at = 0; at < op->sample_count;) {
        uint64_t counts[AGGSTATS_BUCKETS_MAX] = {0};
        const size_t bin = op->samples[at].row / bins->factor;
        unsigned bucket_end = 0;
        for (; at < op->sample_count && op->samples[at].row / bins->factor == bin; at++) {
            const struct aggstats_cell *cell = &op->samples[at];
            counts[cell->bucket] += cell->count;
            bucket_end = cell->bucket >= bucket_end ? cell->bucket + 1 : bucket_end;
        }
        written += flush_bin(counts, bin, bucket_end, ret_cells + written);
    }
    return written;
}

static size_t sample_count(const struct plot *plot) {
    size_t count = 0;
    for (size_t i = 0; i < plot->op_count; i++)
        count += plot->ops[i].of[0]->sample_count;
    return count;
}

/* scratch: has room for all samples of any op */
static size_t count_cells(const struct plot *plot, const struct plot_bins *bins, struct aggstats_cell *scratch) {
    size_t count = 0;
    for (size_t i = 0; i < plot->op_count; i++)
        count += plot_bins_merge(bins, plot->ops[i].of[0], scratch);
    return count;
}

int plot_bins_choose(const struct plot *plot, size_t bins_max, size_t cells_max, struct plot_bins *ret_bins) {
    const size_t interval_count = plot->profiles[0]->interval_count;
    const size_t samples = sample_count(plot);
    CLEANUP_FREE struct aggstats_cell *scratch = calloc(samples + 1, sizeof(*scratch));
    if (!scratch)
        return -ENOMEM;
    if (interval_count == 0 || samples == 0)
        return -ENODATA;
    struct plot_bins bins = {.factor = (interval_count + bins_max - 1) / bins_max};
    for (;; bins.factor += (bins.factor + 1) / 2) {
        bins.count = (interval_count + bins.factor - 1) / bins.factor;
        bins.cell_count = count_cells(plot, &bins, scratch);
        if (bins.cell_count <= cells_max || bins.count == 1)
            break;
    }
    *ret_bins = bins;
    return 0;
}

bool plot_bins_timed(const struct plot *plot) {
    const struct aggstats_profile *profile = plot->profiles[0];
    return profile->borders[profile->interval_count - 1] > 0;
}

double plot_bins_begin(const struct plot_bins *bins, const struct plot *plot, size_t bin) {
    const struct aggstats_profile *profile = plot->profiles[0];
    size_t interval = bin * bins->factor;
    if (interval > profile->interval_count)
        interval = profile->interval_count;
    if (!plot_bins_timed(plot))
        return (double)interval;
    return interval == 0 ? 0 : plot_time(plot, 0, (double)profile->borders[interval - 1]);
}
