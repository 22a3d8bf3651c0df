/* Common to all histograms: the axes over all bars. Each bucket is drawn between its own bounds. */
#ifndef PLOT_BARS_H
#define PLOT_BARS_H

#include "plot.h"
#include "plot_axis.h"

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

#endif
