/* Private: how values of many are spread, robustly; and how far from them is too far. */
#ifndef OUTLIERS_SPREAD_H
#define OUTLIERS_SPREAD_H

#include <stddef.h>

#define FALSE_SHARE 0.01 /* of what is told, at most, if peers are distributed normally */

/* How values are spread: below and above the median each by itself, since latencies have tails to one side. */
struct outliers_spread {
    double median;
    double below; /* standard deviations */
    double above;
};

/* Moves the values. */
double outliers_median(double *values, size_t count);

/* scratch: room for as many */
struct outliers_spread outliers_spread_of(const double *values, size_t count, double *scratch);

/* How far a value is from the median, in standard deviations: those of the peers, without their typical sampling error,
 * and its own sampling error. */
double outliers_distance(double value, double variance, const struct outliers_spread *spread, double typical_variance,
                         double deviation_min);

/* How likely chance makes a distance as large among so many. */
double outliers_chance(double distance, size_t count);

/* What no more than FALSE_SHARE of so many trials exceed by chance. */
double outliers_distance_min(size_t count, double trials);

#endif
