/* Medians, and deviations from them. */
#include "outliers_spread.h"

#include <math.h>
#include <string.h>

#include "statistics.h"

#define MAD_TO_DEVIATION 1.4826 /* of a normal distribution */
#define MAD_EFFICIENCY 0.37     /* a value is worth this many squares: degrees of freedom */

/* The median distance from the median, of the values on one side of it. sign: -1 below, 1 above */
static double one_sided_deviation(const double *values, size_t count, double median, double sign, double *scratch) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (sign * (values[i] - median) >= 0)
            scratch[kept++] = sign * (values[i] - median);
    return MAD_TO_DEVIATION * statistics_median(scratch, kept);
}

/* Degrees of freedom of a deviation estimated from the MAD of so many. */
static double freedom_of(size_t count) {
    return fmax(1, MAD_EFFICIENCY * (double)(count - 1));
}

struct outliers_spread outliers_spread_of(const double *values, size_t count, double *scratch) {
    struct outliers_spread spread = {.freedom = freedom_of(count)};
    memcpy(scratch, values, count * sizeof(*scratch));
    spread.median = statistics_median(scratch, count);
    spread.below = one_sided_deviation(values, count, spread.median, -1, scratch);
    spread.above = one_sided_deviation(values, count, spread.median, 1, scratch);
    return spread;
}

struct outliers_spread outliers_spread_beside(const struct outliers_spread *spread, const double *values, size_t count,
                                              size_t index) {
    struct outliers_spread beside = *spread;
    if (count >= SPREAD_VALUES_MIN)
        return beside;
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += i == index ? 0 : (values[i] - spread->median) * (values[i] - spread->median);
    beside.below = sqrt(squares / (double)(count - 2));
    beside.above = beside.below;
    return beside;
}

double outliers_pooled(double *rests, size_t count) {
    for (size_t i = 0; i < count; i++)
        rests[i] = fabs(rests[i]);
    return count > 0 ? MAD_TO_DEVIATION * statistics_median(rests, count) : 0;
}

double outliers_freedom(const struct outliers_spread *spread) {
    return spread->freedom + (spread->pooled > 0 ? POOLED_FREEDOM : 0);
}

double outliers_distance(double value, double variance, const struct outliers_spread *spread, double typical_variance,
                         double deviation_min) {
    const double side = value > spread->median ? spread->above : spread->below;
    const double least = deviation_min * deviation_min;
    const double pooled_weight = outliers_freedom(spread) - spread->freedom;
    const double pooled = fmax(spread->pooled * spread->pooled - typical_variance, least);
    double own = fmax(side * side - typical_variance, least);
    own = (spread->freedom * own + pooled_weight * pooled) / (spread->freedom + pooled_weight);
    return (value - spread->median) / sqrt(own + variance);
}

double outliers_distance_min(double freedom, double trials) {
    return statistics_student_quantile(FALSE_SHARE / trials, freedom);
}

double outliers_chance(double distance, double freedom) {
    return statistics_student_beyond(distance, freedom);
}
