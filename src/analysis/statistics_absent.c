/* Where osprof is built without GSL. None of these is called. */
#include <math.h>

#include "statistics.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

double statistics_student_beyond(double value, double freedom) {
    return NAN;
}

double statistics_student_quantile(double beyond, double freedom) {
    return NAN;
}

double statistics_digamma(double x) {
    return NAN;
}

double statistics_trigamma(double x) {
    return NAN;
}

double statistics_tetragamma(double x) {
    return NAN;
}

double statistics_median(double *values, size_t count) {
    return NAN;
}

void statistics_sort(double *values, size_t count) {
}

void statistics_sort_order(size_t *ret_order, const double *values, size_t count) {
}
