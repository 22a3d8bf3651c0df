/* By GSL. */
#include "statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_psi.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

double statistics_student_beyond(double value, double freedom) {
    return gsl_cdf_tdist_Q(value, freedom);
}

double statistics_student_quantile(double beyond, double freedom) {
    return gsl_cdf_tdist_Qinv(beyond, freedom);
}

double statistics_digamma(double x) {
    return gsl_sf_psi(x);
}

double statistics_trigamma(double x) {
    return gsl_sf_psi_1(x);
}

double statistics_tetragamma(double x) {
    return gsl_sf_psi_n(2, x);
}

double statistics_median(double *values, size_t count) {
    return gsl_stats_median(values, 1, count);
}

void statistics_sort(double *values, size_t count) {
    gsl_sort(values, 1, count);
}

void statistics_sort_order(size_t *ret_order, const double *values, size_t count) {
    gsl_sort_index(ret_order, values, 1, count);
}
