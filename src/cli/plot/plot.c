/* What figures share. */
#include "plot.h"

bool plot_in_seconds(const struct plot *plot) {
    return plot->profiles[0]->clock.frequency_hz > 0;
}

double plot_time(const struct plot *plot, size_t profile, double cycles) {
    uint64_t frequency_hz = plot->profiles[profile]->clock.frequency_hz;
    return frequency_hz > 0 ? cycles / (double)frequency_hz : cycles;
}

double plot_weight(const struct plot *plot, size_t profile, unsigned bucket, uint64_t calls) {
    if (!plot->by_latency)
        return (double)calls;
    double mean_cycles = aggstats_bucket_mean(bucket, plot->profiles[profile]->resolution);
    return (double)calls * plot_time(plot, profile, mean_cycles);
}
