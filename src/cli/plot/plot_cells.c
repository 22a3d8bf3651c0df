/* Common to both views of a timeline. */
#include "plot_cells.h"

#include <math.h>

#include "base.h"
#include "plot_page.h"
#include "units.h"

static int merge_all(const struct plot *plot, struct plot_cells *cells) {
    cells->cells = calloc(cells->bins.cell_count + 1, sizeof(*cells->cells));
    cells->begin = calloc(plot->op_count + 1, sizeof(*cells->begin));
    if (!cells->cells || !cells->begin)
        return -ENOMEM;
    for (size_t i = 0; i < plot->op_count; i++) {
        size_t begin = cells->begin[i];
        cells->begin[i + 1] = begin + plot_bins_merge(&cells->bins, plot->ops[i].of[0], cells->cells + begin);
    }
    return 0;
}

static void choose_ranges(const struct plot *plot, struct plot_cells *cells) {
    const unsigned resolution = plot->profiles[0]->resolution;
    unsigned first = AGGSTATS_BUCKETS_MAX;
    unsigned last = 0;
    cells->least = INFINITY;
    for (size_t i = 0; i < cells->begin[plot->op_count]; i++) {
        const struct aggstats_cell *cell = &cells->cells[i];
        double weight = plot_weight(plot, 0, cell->bucket, cell->count);
        first = cell->bucket < first ? cell->bucket : first;
        last = cell->bucket > last ? cell->bucket : last;
        cells->least = fmin(cells->least, weight);
        cells->most = fmax(cells->most, weight);
    }
    cells->latency = plot_axis_over(plot_time(plot, 0, aggstats_bucket_lower(first, resolution)),
                                    plot_time(plot, 0, aggstats_bucket_upper(last, resolution)),
                                    plot_in_seconds(plot) ? PLOT_SECONDS : PLOT_COUNT);
}

int plot_cells_init(const struct plot *plot, size_t bins_max, size_t cells_max, struct plot_cells *ret_cells) {
    struct plot_cells cells = {.cells = NULL};
    int error = plot_bins_choose(plot, bins_max, cells_max, &cells.bins);
    if (!error)
        error = merge_all(plot, &cells);
    if (error) {
        plot_cells_finish(&cells);
        return error;
    }
    choose_ranges(plot, &cells);
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
