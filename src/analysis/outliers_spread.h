/* Private: the spread of many values, robustly estimated; and how far from them is too far. */
#ifndef OUTLIERS_SPREAD_H
#define OUTLIERS_SPREAD_H

#include <stddef.h>

#define FALSE_SHARE 0.01 /* of what is reported, at most, if peers are normally distributed */

/* The spread of values, below and above the median separately, since latencies have a tail on one side. */
struct outliers_spread {
    double median;
    double below; /* standard deviations */
    double above;
};

/* Reorders the values. */
double outliers_median(double *values, size_t count);

/* scratch: room for as many */
struct outliers_spread outliers_spread_of(const double *values, size_t count, double *scratch);

/* The distance of a value from the median, in standard deviations. These consist of the spread of the peers, without
 * their typical sampling error, and of the value's own sampling error. */
double outliers_distance(double value, double variance, const struct outliers_spread *spread, double typical_variance,
                         double deviation_min);

/* The probability that chance makes such a distance among so many. */
double outliers_chance(double distance, size_t count);

/* The distance that no more than FALSE_SHARE of so many trials exceed by chance. */
double outliers_distance_min(size_t count, double trials);

#endif
