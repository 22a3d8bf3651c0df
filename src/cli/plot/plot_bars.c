/* Axes of histograms. */
#include "plot_bars.h"

#include <math.h>

double plot_bars_bound(const struct plot *plot, size_t profile, unsigned bucket) {
    return plot_time(plot, profile, aggstats_bucket_lower(bucket, plot->profiles[profile]->resolution));
}

struct extent {
    double first, last; /* time */
    double least, most; /* weight */
};

static void extend(const struct plot *plot, const struct aggstats_op_profile *op, size_t profile, unsigned bucket_count,
                   struct extent *extent) {
    for (unsigned bucket = 0; op && bucket < bucket_count; bucket++) {
        if (op->buckets[bucket] == 0)
            continue;
        double weight = plot_weight(plot, profile, bucket, op->buckets[bucket]);
        extent->first = fmin(extent->first, plot_bars_bound(plot, profile, bucket));
        extent->last = fmax(extent->last, plot_bars_bound(plot, profile, bucket + 1));
        extent->least = fmin(extent->least, weight);
        extent->most = fmax(extent->most, weight);
    }
}

struct plot_bars plot_bars_over(const struct plot *plot) {
    const bool seconds = plot_in_seconds(plot);
    struct extent extent = {.first = INFINITY, .least = INFINITY};
    struct plot_bars bars = {.bucket_count = 64 * plot->profiles[0]->resolution};
    for (size_t i = 0; i < plot->op_count; i++) {
        for (size_t profile = 0; profile < plot->profile_count; profile++)
            extend(plot, plot->ops[i].of[profile], profile, bars.bucket_count, &extent);
    }
    bars.time = plot_axis_over(extent.first, extent.last, seconds ? PLOT_SECONDS : PLOT_COUNT);
    bars.weight = plot_axis_of_bars(plot->by_latency ? extent.least : 1, extent.most,
                                    plot->by_latency && seconds ? PLOT_SECONDS : PLOT_COUNT);
    bars.most = extent.most;
    return bars;
}
