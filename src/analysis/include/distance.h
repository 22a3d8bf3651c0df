/* The distance between two profiles of one operation, by the six methods of thesis §5.7 and one more. */
#ifndef DISTANCE_H
#define DISTANCE_H

#include "aggstats.h"

enum distance_method {
    DISTANCE_TOTOPS,
    DISTANCE_TOTLAT,
    DISTANCE_CHISQUARE,
    DISTANCE_EARTHMOVER,
    DISTANCE_GROUPOPS,
    DISTANCE_GROUPLAT,
    DISTANCE_FARMOVER,
    DISTANCE_METHOD_COUNT,
};

/* The methods, their scales, and the thresholds above which profiles count as different: all in one table
 * (distance.c). */
struct distance_traits {
    const char *name;  /* "EARTHMOVER" */
    const char *means; /* half a line: the meaning of the score */
    const char *unit;  /* "%" or "buckets" */
    double score_max;
    double threshold; /* a higher score: different */
};

#define DISTANCE_METHOD_DEFAULT DISTANCE_FARMOVER

/* A busy machine may move all calls of an op this far: a factor of 3.4 (docs/internals/compare-accuracy.md). */
#define DISTANCE_NOISE_OCTAVES 1.75

const struct distance_traits *distance_traits(enum distance_method method);

/* The method of that name, in letters of either case; -1: none. */
int distance_method_of_name(const char *name);

/* The score of two profiles of an op: 0 for equal ones, up to the method's score_max. It is the same for (b, a). Both
 * must have the same resolution and clock rate. Only calls that have ended count, in buckets and in totals.
 *   TOTOPS      |n - m| / max(n, m), of the numbers of calls, in percent
 *   TOTLAT      the same of the total latencies, which are exact
 *   CHISQUARE   100 (1 - P), P: the chance that two samples of one distribution differ as much, by the chi-square
 *               test for samples of different size
 *   EARTHMOVER  work to turn one histogram, as shares of its calls, into the other; moving all calls by a factor
 *               of two is 1, whatever the resolution
 *   GROUPOPS    100 if the total latencies differ by more than 90 %, or the number of peaks differs, or a peak is more
 *               than an octave from its counterpart; else sum |n - m| / sum max(n, m) over the peaks, in percent
 *   GROUPLAT    the same with the latencies of the peaks, as their buckets estimate them
 *   FARMOVER    the default. EARTHMOVER, but the first DISTANCE_NOISE_OCTAVES of every call's way cost nothing: a busy
 *               machine moves all calls of an op by up to an octave and a half, which moves the mean much farther than
 *               a tenth of the calls that take a hundred times as long. The standard error of that mean is subtracted,
 *               so that one slow call among few makes no difference. The calls of a bucket are taken to be spread
 *               evenly over it
 * Without finished calls on both sides the score is 0, on one side it is score_max; in buckets it is 64, since the axis
 * has so many.
 *
 * Source:  thesis §5.7, all but FARMOVER. Differs: it divides by the first number, ours by the larger, so that order
 *          does not matter; its formula of TOTLAT has bucket counts as exponents, a misprint; its formula of CHISQUARE
 *          is for equal numbers of calls, and ours is the same in that case */
double distance_score(enum distance_method method, const struct aggstats_op_profile *a,
                      const struct aggstats_op_profile *b, unsigned resolution);

/* EARTHMOVER of any two histograms, [64 * resolution] each, of non-negative numbers. */
double distance_earth_mover(const double *a, const double *b, unsigned resolution);

#endif
