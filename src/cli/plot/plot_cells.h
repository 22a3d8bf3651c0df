/* Common to both views of a timeline: the figure's cells, by op, bin and bucket, and the axes over all of them. */
#ifndef PLOT_CELLS_H
#define PLOT_CELLS_H

#include "plot.h"
#include "plot_axis.h"
#include "plot_bins.h"

struct plot_cells {
    struct plot_bins bins;
    struct aggstats_cell *cells; /* of all ops, one after the other */
    size_t *begin;               /* [ops + 1]: index of each op's first cell */
    struct plot_axis latency;
    double least; /* weight of a cell */
    double most;
};

/* bins_max, cells_max: as plot_bins_choose()
 * Errors:  -ENODATA no op of the figure has intervals, -ENOMEM
 * Owner:   the caller finishes *ret_cells */
int plot_cells_init(const struct plot *plot, size_t bins_max, size_t cells_max, struct plot_cells *ret_cells);

void plot_cells_finish(struct plot_cells *cells);

/* "elapsed time in seconds" */
const char *plot_cells_time_title(const struct plot *plot);

/* How gnuplot writes such times. */
const char *plot_cells_time_format(const struct plot *plot);

/* "calls in 2.5 s": the meaning of a cell's weight. */
void plot_cells_format_weight(const struct plot_cells *cells, const struct plot *plot, char *ret_text,
                              size_t size_bytes);

#endif
