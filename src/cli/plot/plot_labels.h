/* Names of peaks, by the rule of peak_cause.h, over the bars of histograms. */
#ifndef PLOT_LABELS_H
#define PLOT_LABELS_H

#include "plot.h"
#include "plot_axis.h"
#include "plot_page.h"

#define PLOT_LABELS_PER_OP 3
#define PLOT_LABELS_HEIGHT 14   /* height of a label above bars, in pixels */
#define PLOT_LABELS_BARS_MIN 40 /* pixels; lower histograms have no room for labels */

/* True if any peak of the figure has a label. */
bool plot_labels_any(const struct plot *plot);

/* Adds those of an op: as many as fit beside each other, peaks with most latency first.
 * area, time, weight: of the op's panel, which has begun; there is room for PLOT_LABELS_HEIGHT above its bars */
void plot_labels_put(struct plot_page *page, const struct plot_op *op, const struct plot_axis *time,
                     const struct plot_axis *weight, const struct plot_area *area);

#endif
