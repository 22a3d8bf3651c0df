/* Pictures of a report, as SVG within HTML: a histogram, and a map of latency over time. They have the shapes of osprof
 * plot, by the same axes and bins (plot_bins.h). Beside each is a table of its figures. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdio.h>

#include "plot.h"
#include "plot_bins.h"

/* One operation's calls by latency; of a second profile as an outline over the first. bars: of the whole figure */
void picture_histogram(const struct plot *plot, const struct plot_bars *bars, size_t op, FILE *page);

/* One operation's latency over time. cells: of the whole figure; few: the same in few bins, for the table */
void picture_map(const struct plot *plot, const struct plot_cells *cells, const struct plot_cells *few, size_t op,
                 FILE *page);

/* What the colours of maps mean, once for all of them. */
void picture_map_key(const struct plot *plot, const struct plot_cells *cells, FILE *page);

#endif
