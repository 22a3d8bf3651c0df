/* What peaks of histograms may be, by the rule of peak_cause.h, over their bars. */
#ifndef PLOT_LABELS_H
#define PLOT_LABELS_H

#include "plot.h"
#include "plot_axis.h"
#include "plot_page.h"

#define PLOT_LABELS_PER_OP 3
#define PLOT_LABELS_HEIGHT 14   /* pixels above bars that a label takes */
#define PLOT_LABELS_BARS_MIN 40 /* pixels; lower histograms have no room for labels */

/* Whether any peak of the figure has a label. */
bool plot_labels_any(const struct plot *plot);

/* Puts those of an op: of the peaks with most latency first, as many as fit beside each other.
 * area, time, weight: of the op's panel, which has begun; above its bars there is room for PLOT_LABELS_HEIGHT */
void plot_labels_put(struct plot_page *page, const struct plot_op *op, const struct plot_axis *time,
                     const struct plot_axis *weight, const struct plot_area *area);

#endif
