/* What figures are made of: operations, bars of histograms, and bins and cells of timelines. */
#include "plot_bins.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "figures.h"
#include "plot_page.h"
#include "units.h"

/* ---- Operations --------------------------------------------------------------------------------- */

/* Adds the op of all profiles, unless it is there already. */
static void add_op(struct plot *plot, const char *name) {
    struct plot_op op = {.name = name};
    for (size_t i = 0; i < plot->op_count; i++) {
        assert(plot->ops[i].name);
        if (strcmp(plot->ops[i].name, name) == 0)
            return;
    }
    for (size_t i = 0; i < plot->profile_count; i++) {
        const struct aggstats_op_profile *of = aggstats_profile_op(plot->profiles[i], name);
        if (!of || figures_finished(of, plot->profiles[i]->resolution) == 0)
            continue;
        op.of[i] = of;
        op.total += plot_time(plot, i, (double)of->total_cycles);
    }
    if (op.of[0] || op.of[1])
        plot->ops[plot->op_count++] = op;
}

static int by_total(const void *a, const void *b) {
    const struct plot_op *left = a;
    const struct plot_op *right = b;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return strcmp(left->name, right->name);
}

int plot_ops_choose(struct plot *plot, const struct option_list *wanted) {
    size_t count_max = 0;
    for (size_t i = 0; i < plot->profile_count; i++)
        count_max += plot->profiles[i]->op_count;
    plot->ops = calloc(count_max + 1, sizeof(*plot->ops));
    if (!plot->ops)
        return -ENOMEM;
    for (size_t i = 0; i < plot->profile_count; i++) {
        for (size_t j = 0; j < plot->profiles[i]->op_count; j++) {
            if (option_list_wants(wanted, plot->profiles[i]->ops[j].name))
                add_op(plot, plot->profiles[i]->ops[j].name);
        }
    }
    qsort(plot->ops, plot->op_count, sizeof(*plot->ops), by_total);
    return 0;
}

/* ---- Bars --------------------------------------------------------------------------------------- */

double plot_bars_bound(const struct plot *plot, size_t profile, unsigned bucket) {
    return plot_time(plot, profile, aggstats_bucket_lower(bucket, plot->profiles[profile]->resolution));
}

struct plot_bars plot_bars_over(const struct plot *plot) {
    struct plot_bars bars = {.bucket_count = 64 * plot->profiles[0]->resolution};
    double first = INFINITY;
    double last = 0;
    double least = INFINITY;
    for (size_t i = 0; i < plot->op_count * plot->profile_count; i++) {
        const size_t profile = i % plot->profile_count;
        const struct aggstats_op_profile *op = plot->ops[i / plot->profile_count].of[profile];
        for (unsigned bucket = 0; op && bucket < bars.bucket_count; bucket++) {
            if (op->buckets[bucket] == 0)
                continue;
            double weight = plot_weight(plot, profile, bucket, op->buckets[bucket]);
            first = fmin(first, plot_bars_bound(plot, profile, bucket));
            last = fmax(last, plot_bars_bound(plot, profile, bucket + 1));
            least = fmin(least, weight);
            bars.most = fmax(bars.most, weight);
        }
    }
    bars.time = plot_axis_over(first, last, plot_time_unit(plot));
    bars.weight = plot_axis_of_bars(plot->by_latency ? least : 1, bars.most, plot_weight_unit(plot));
    return bars;
}

/* ---- Bins --------------------------------------------------------------------------------------- */

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
        for (unsigned bucket = 0; bucket < bucket_end; bucket++)
            if (counts[bucket] > 0)
                ret_cells[written++] =
                    (struct aggstats_cell){.row = (uint32_t)bin, .bucket = bucket, .count = counts[bucket]};
    }
    return written;
}

int plot_bins_choose(const struct plot *plot, size_t bins_max, size_t cells_max, struct plot_bins *ret_bins) {
    const size_t interval_count = plot->profiles[0]->interval_count;
    size_t samples = 0;
    for (size_t i = 0; i < plot->op_count; i++)
        samples += plot->ops[i].of[0]->sample_count;
    CLEANUP_FREE struct aggstats_cell *scratch = calloc(samples + 1, sizeof(*scratch));
    if (!scratch)
        return -ENOMEM;
    if (interval_count == 0 || samples == 0)
        return -ENODATA;
    struct plot_bins bins = {.factor = (interval_count + bins_max - 1) / bins_max};
    for (;; bins.factor += (bins.factor + 1) / 2) {
        bins.count = (interval_count + bins.factor - 1) / bins.factor;
        bins.cell_count = 0;
        for (size_t i = 0; i < plot->op_count; i++)
            bins.cell_count += plot_bins_merge(&bins, plot->ops[i].of[0], scratch);
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

/* ---- Cells -------------------------------------------------------------------------------------- */

int plot_cells_init(const struct plot *plot, size_t bins_max, size_t cells_max, struct plot_cells *ret_cells) {
    struct plot_cells cells = {.least = INFINITY};
    unsigned first = AGGSTATS_BUCKETS_MAX;
    unsigned last = 0;
    int error = plot_bins_choose(plot, bins_max, cells_max, &cells.bins);
    if (error)
        return error;
    cells.cells = calloc(cells.bins.cell_count + 1, sizeof(*cells.cells));
    cells.begin = calloc(plot->op_count + 1, sizeof(*cells.begin));
    if (!cells.cells || !cells.begin) {
        plot_cells_finish(&cells);
        return -ENOMEM;
    }
    for (size_t i = 0; i < plot->op_count; i++) {
        size_t begin = cells.begin[i];
        cells.begin[i + 1] = begin + plot_bins_merge(&cells.bins, plot->ops[i].of[0], cells.cells + begin);
    }
    for (size_t i = 0; i < cells.begin[plot->op_count]; i++) {
        const struct aggstats_cell *cell = &cells.cells[i];
        const double weight = plot_weight(plot, 0, cell->bucket, cell->count);
        first = cell->bucket < first ? cell->bucket : first;
        last = cell->bucket > last ? cell->bucket : last;
        cells.least = fmin(cells.least, weight);
        cells.most = fmax(cells.most, weight);
    }
    cells.latency =
        plot_axis_over(plot_bars_bound(plot, 0, first), plot_bars_bound(plot, 0, last + 1), plot_time_unit(plot));
    *ret_cells = cells;
    return 0;
}

void plot_cells_finish(struct plot_cells *cells) {
    free(cells->cells);
    free(cells->begin);
    *cells = (struct plot_cells){.cells = NULL};
}

const char *plot_cells_time_title(const struct plot *plot) {
    if (!plot_bins_timed(plot))
        return "interval";
    return plot_in_seconds(plot) ? "elapsed time in seconds" : "elapsed time in cycles";
}

const char *plot_cells_time_format(const struct plot *plot) {
    return plot_in_seconds(plot) || !plot_bins_timed(plot) ? "%g" : "%.0s%c";
}

void plot_cells_format_weight(const struct plot_cells *cells, const struct plot *plot, char *ret_text,
                              size_t size_bytes) {
    const struct aggstats_profile *profile = plot->profiles[0];
    const struct units units = {.frequency_hz = profile->clock.frequency_hz};
    const char *what = plot_weight_title(plot);
    double cycles = (double)cells->bins.factor * (double)profile->interval_cycles;
    if (profile->interval_cycles == 0) {
        snprintf(ret_text, size_bytes, "%s in %zu interval%s", what, cells->bins.factor,
                 units_plural(cells->bins.factor));
        return;
    }
    snprintf(ret_text, size_bytes, "%s in %s%s", what, units_cycles(&units, cycles).text,
             units.frequency_hz > 0 ? "" : " cycles");
}
