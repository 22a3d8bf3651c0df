/* Intervals of sampled profiles, merged into as many bins as a picture can show; sums stay exact. */
#ifndef PLOT_BINS_H
#define PLOT_BINS_H

#include <stddef.h>

#include "plot.h"

/* How the intervals of a profile become bins. */
struct plot_bins {
    size_t factor;     /* intervals in a bin; the last may have fewer */
    size_t count;      /* of bins */
    size_t cell_count; /* of all ops of the figure, at most */
};

/* As many bins as the limits allow.
 * bins_max, cells_max: above 0; at least one bin remains, whatever it holds
 * Errors:  -ENODATA no op of the figure has intervals, -ENOMEM */
int plot_bins_choose(const struct plot *plot, size_t bins_max, size_t cells_max, struct plot_bins *ret_bins);

/* The cells of an op by bin, then bucket.
 * Shape:   ret_cells[op->sample_count]; may be op->samples
 * Returns how many there are */
size_t plot_bins_merge(const struct plot_bins *bins, const struct aggstats_op_profile *op,
                       struct aggstats_cell *ret_cells);

/* The beginning of a bin, in the figure's unit of time since the start; that of bin `count` is the end of all. If no
 * interval's length is known, each counts as 1.
 * Returns at least 0 */
double plot_bins_begin(const struct plot_bins *bins, const struct plot *plot, size_t bin);

/* False if no interval's length is known. */
bool plot_bins_timed(const struct plot *plot);

#endif
