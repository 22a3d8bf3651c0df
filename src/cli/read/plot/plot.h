/* Figures of profiles, after those of the thesis, as gnuplot scripts that hold their data. A file
 * plot_<kind>.c is of a kind of figure; cmd_plot.c chooses. */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "aggstats.h"
#include "calibration.h"
#include "option_list.h"
#include "plot_axis.h"
#include "recording.h"

#define PLOT_PROFILES_MAX 2
#define PLOT_SIZE_MIN 200
#define PLOT_SIZE_MAX 20000 /* pixels; cairo's limit is 32,767 */

enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF };

/* An operation of the figure in each profile; NULL: that one does not have it. */
struct plot_op {
    const char *name;
    const struct aggstats_op_profile *of[PLOT_PROFILES_MAX];
    double total; /* of all profiles, in the figure's unit of time */
};

struct plot {
    struct aggstats_profile *profiles[PLOT_PROFILES_MAX]; /* of one resolution; all with a clock rate, or none */
    const char *names[PLOT_PROFILES_MAX];                 /* the user's names for them */
    struct calibration times[PLOT_PROFILES_MAX];          /* for naming peaks of histograms */
    size_t profile_count;
    struct plot_op *ops; /* with finished calls, largest total first */
    size_t op_count;
    bool by_latency; /* estimated latency of each bucket instead of its calls */
    enum plot_format format;
    const char *output; /* output of the script; NULL: standard output */
    const char *title;  /* NULL: from the profile */
    int width;          /* pixels; 0: chosen by the figure */
    int height;
};

/* Each writes the script of a figure.
 * Errors:  -ENODATA the profile has no data for the figure; -ERANGE no room for that many ops on a picture of that
 *          size; -ENOMEM. The caller checks the stream for errors */

/* A column of histograms, of one profile or two over each other. Source: thesis Figures 3.1, 3.2, 7.3, 7.17 */
int plot_histograms(const struct plot *plot, FILE *script);

/* Latency over elapsed time, with colours for numbers of calls.
 * Source:  thesis Figure 7.12 (differs: time runs from left to right, so that ops below each other can be compared at
 *          one moment) */
int plot_timeline(const struct plot *plot, FILE *script);

/* The same as a landscape. Source: thesis Figures 3.5, 3.6, 7.10, 7.11 */
int plot_landscape(const struct plot *plot, FILE *script);

/* The distribution of a value in each peak of an op's latency. Source: thesis Figures 7.2 and 7.4 in one */
int plot_joints(const struct plot *plot, FILE *script);

/* The layers of a recording.
 * Source:  thesis §3.1.4
 * plot:    its profile is the outermost layer; the clocks of all layers have a rate
 * ops:     rows of the table of layers (layers.h); none: those that took at least a hundredth of the time of the most
 *   expensive one, and have a counterpart at another layer
 * Errors:  as the others'; -ENODATA there is no such row with calls */
int plot_layers(const struct plot *plot, const struct recording *recording, const struct option_list *ops,
                FILE *script);

/* ---- For several figures ------------------------------------------------------------------------ */

/* Cycles of a profile in the figure's unit of time: seconds, or cycles if no clock rate is known. */
static inline double plot_time(const struct plot *plot, size_t profile, double cycles) {
    uint64_t frequency_hz = plot->profiles[profile]->clock.frequency_hz;
    return frequency_hz > 0 ? cycles / (double)frequency_hz : cycles;
}

/* True if that unit is seconds. */
static inline bool plot_in_seconds(const struct plot *plot) {
    return plot->profiles[0]->clock.frequency_hz > 0;
}

/* The units of latencies and of weights, for their axes. */
static inline enum plot_unit plot_time_unit(const struct plot *plot) {
    return plot_in_seconds(plot) ? PLOT_SECONDS : PLOT_COUNT;
}

static inline enum plot_unit plot_weight_unit(const struct plot *plot) {
    return plot->by_latency ? plot_time_unit(plot) : PLOT_COUNT;
}

/* The weight of that many calls in a bucket: their number, or their estimated latency, which is that number times the
 * bucket's mean (thesis §3.1.5). */
static inline double plot_weight(const struct plot *plot, size_t profile, unsigned bucket, uint64_t calls) {
    if (!plot->by_latency)
        return (double)calls;
    double mean_cycles = aggstats_bucket_mean(bucket, plot->profiles[profile]->resolution);
    return (double)calls * plot_time(plot, profile, mean_cycles);
}

#endif
