/* Private: what verdicts and outliers need of GSL. Without GSL, commands refuse (PART_STATISTICS), and nothing calls
 * these. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stddef.h>

/* Student's t distribution: the probability of a larger value, and the value that is exceeded with a probability. */
double statistics_student_beyond(double value, double freedom);
double statistics_student_quantile(double beyond, double freedom);

/* The derivative of log(gamma(x)), and the derivatives of that. */
double statistics_digamma(double x);
double statistics_trigamma(double x);
double statistics_tetragamma(double x);

/* The median; changes the order of the values. count: not 0 */
double statistics_median(double *values, size_t count);

void statistics_sort(double *values, size_t count);

/* ret_order: [count] places of the values in ascending order */
void statistics_sort_order(size_t *ret_order, const double *values, size_t count);

#endif
