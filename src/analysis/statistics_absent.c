/* Where osprof is built without GSL. None of these is called. */
#include <math.h>

#include "statistics.h"

double statistics_student_beyond(double value, double freedom) {
    (void)value, (void)freedom;
    return NAN;
}

double statistics_student_quantile(double beyond, double freedom) {
    (void)beyond, (void)freedom;
    return NAN;
}

double statistics_digamma(double x) {
    (void)x;
    return NAN;
}

double statistics_trigamma(double x) {
    (void)x;
    return NAN;
}

double statistics_tetragamma(double x) {
    (void)x;
    return NAN;
}

double statistics_median(double *values, size_t count) {
    (void)values, (void)count;
    return NAN;
}

void statistics_sort(double *values, size_t count) {
    (void)values, (void)count;
}

void statistics_sort_order(size_t *ret_order, const double *values, size_t count) {
    (void)ret_order, (void)values, (void)count;
}
