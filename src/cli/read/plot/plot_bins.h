/* What figures are made of. Operations: those of which calls have ended. Bars of histograms: each bucket is drawn
 * between its own bounds. Bins: intervals of sampled profiles, merged into as many as a picture can show; sums stay exact.
 * Cells: of both views of a timeline, by op, bin and bucket. */
#ifndef PLOT_BINS_H
#define PLOT_BINS_H

#include <stddef.h>

#include "option_list.h"
#include "plot.h"
#include "plot_axis.h"

/* ---- Operations --------------------------------------------------------------------------------- */

/* Makes plot->ops of those operations of its profiles that are wanted, and of which calls have ended.
 * Owner:   the caller frees plot->ops
 * Errors:  -ENOMEM */
int plot_ops_choose(struct plot *plot, const struct option_list *wanted);

/* ---- Bars --------------------------------------------------------------------------------------- */

struct plot_bars {
    struct plot_axis time;
    struct plot_axis weight;
    double most; /* weight of a bucket */
    unsigned bucket_count;
};

/* Of all operations of the figure, of which some calls have ended, in all profiles. */
struct plot_bars plot_bars_over(const struct plot *plot);

/* The lower bound of a bucket, in the figure's unit of time; bucket: of as many as there are, and one more */
double plot_bars_bound(const struct plot *plot, size_t profile, unsigned bucket);

/* ---- Bins --------------------------------------------------------------------------------------- */

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

/* ---- Cells -------------------------------------------------------------------------------------- */

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
