/* Private: the spread of many values, robustly estimated; and how far from them is too far. */
#ifndef OUTLIERS_SPREAD_H
#define OUTLIERS_SPREAD_H

#include <stddef.h>

#define FALSE_SHARE 0.01 /* of what is reported, at most, if peers are normally distributed */

#define SPREAD_VALUES_MIN 5 /* of fewer, one that is odd makes half of the spread */
#define POOLED_FREEDOM 4.0  /* if deviations of operations differ by a factor of 1.5, it is worth so much */

/* The spread of values, below and above the median separately, since latencies have a tail on one side. */
struct outliers_spread {
    double median;
    double below; /* standard deviations */
    double above;
    double pooled;  /* standard deviation of all operations together; 0: not taken into account */
    double freedom; /* degrees of freedom of below and above, without pooled */
};

/* scratch: room for as many */
struct outliers_spread outliers_spread_of(const double *values, size_t count, double *scratch);

/* The spread for judging values[index]. If there are few values, the spread of the other values. */
struct outliers_spread outliers_spread_beside(const struct outliers_spread *spread, const double *values, size_t count,
                                              size_t index);

/* The standard deviation of values around the medians that were subtracted from them. Reorders the values. */
double outliers_pooled(double *rests, size_t count);

/* Degrees of freedom of distances. */
double outliers_freedom(const struct outliers_spread *spread);

/* The distance of a value from the median, in standard deviations. These consist of the spread of the peers, without
 * their typical sampling error, towards the pooled one, and of the value's own sampling error. */
double outliers_distance(double value, double variance, const struct outliers_spread *spread, double typical_variance,
                         double deviation_min);

/* The probability that chance makes such a distance. */
double outliers_chance(double distance, double freedom);

/* The distance that no more than FALSE_SHARE of so many trials exceed by chance. */
double outliers_distance_min(double freedom, double trials);

#endif
