/* Distances: by hand, and what every distance must satisfy. */
#include <stdlib.h>

#include "base.h"
#include "distance.h"
#include "histograms.h"
#include "testing.h"

static struct histogram a;
static struct histogram b;

static void set_up(void) {
    histogram_init(&a);
    histogram_init(&b);
}

static double score(enum distance_method method) {
    return distance_score(method, &a.op, &b.op, 1);
}

/* ---- By hand ------------------------------------------------------------------------------------ */

TEST_CASE(.set_up = set_up);

TEST(totals_are_compared_with_the_larger) {
    histogram_add(&a, 10, 30, 1);
    histogram_add(&b, 10, 40, 1);
    a.op.total_cycles = 1000;
    b.op.total_cycles = 200;
    ck_assert_double_eq_tol(score(DISTANCE_TOTOPS), 25, 1e-12);
    ck_assert_double_eq_tol(score(DISTANCE_TOTLAT), 80, 1e-12);
}

TEST(calls_in_flight_are_not_compared) {
    histogram_add(&a, 10, 30, 1);
    histogram_add(&b, 10, 30, 1);
    b.op.calls += 70;
    ck_assert_double_eq(score(DISTANCE_TOTOPS), 0);
}

/* Equal numbers of calls: chi-square = 6^2/20 + 4^2/30 + 2^2/10 = 1.8 + 0.5333 + 0.4 = 2.7333 with 2 degrees of
 * freedom, for which P is exp(-x/2). */
TEST(chi_square_of_equal_numbers) {
    histogram_add(&a, 10, 13, 1);
    histogram_add(&b, 10, 7, 1);
    histogram_add(&a, 11, 13, 1);
    histogram_add(&b, 11, 17, 1);
    histogram_add(&a, 12, 4, 1);
    histogram_add(&b, 12, 6, 1);
    double chi_square = 36.0 / 20 + 16.0 / 30 + 4.0 / 10;
    ck_assert_double_eq_tol(score(DISTANCE_CHISQUARE), 100 * (1 - exp(-chi_square / 2)), 1e-10);
}

/* Twice as many calls, distributed alike. */
TEST(chi_square_allows_for_numbers) {
    histogram_add(&a, 10, 13, 1);
    histogram_add(&b, 10, 26, 1);
    histogram_add(&a, 12, 5, 1);
    histogram_add(&b, 12, 10, 1);
    ck_assert_double_eq_tol(score(DISTANCE_CHISQUARE), 0, 1e-9);
}

/* 30 of 1,200 against 3 of 900 calls: ratio sqrt(3/4); (30 r - 3/r)^2/33 + (1170 r - 897/r)^2/2067, one degree of
 * freedom, for which P is erfc(sqrt(x/2)). */
TEST(chi_square_of_unequal_numbers) {
    histogram_add(&a, 10, 1170, 1);
    histogram_add(&b, 10, 897, 1);
    histogram_add(&a, 20, 30, 1);
    histogram_add(&b, 20, 3, 1);
    double r = sqrt(0.75);
    double chi_square = pow(30 * r - 3 / r, 2) / 33 + pow(1170 * r - 897 / r, 2) / 2067;
    ck_assert_double_eq_tol(score(DISTANCE_CHISQUARE), 100 * (1 - erfc(sqrt(chi_square / 2))), 1e-9);
}

TEST(chi_square_takes_any_numbers) {
    for (unsigned bucket = 0; bucket < 64; bucket++) {
        a.buckets[bucket] = bucket % 2 ? UINT64_MAX / 64 : 1;
        b.buckets[bucket] = bucket % 2 ? 0 : UINT64_MAX / 64;
    }
    ck_assert_double_eq(score(DISTANCE_CHISQUARE), 100);
    histogram_init(&b);
    b.buckets[7] = 1;
    ck_assert(isfinite(score(DISTANCE_CHISQUARE)));
}

/* The example of thesis §5.7: both bins moved by one is 1; one of two moved by three is 1.5. */
TEST(earth_is_moved_bucket_by_bucket) {
    histogram_add(&a, 1, 10, 1);
    histogram_add(&a, 5, 10, 1);
    histogram_add(&b, 2, 20, 1);
    histogram_add(&b, 6, 20, 1);
    ck_assert_double_eq_tol(score(DISTANCE_EARTHMOVER), 1, 1e-12);
    histogram_init(&b);
    histogram_add(&b, 1, 5, 1);
    histogram_add(&b, 2, 5, 1);
    ck_assert_double_eq_tol(score(DISTANCE_EARTHMOVER), 1.5, 1e-12);
}

TEST(a_bucket_of_resolution_1_is_the_unit) {
    histogram_add(&a, 80, 10, 8);
    histogram_add(&b, 96, 10, 8);
    ck_assert_double_eq_tol(distance_score(DISTANCE_EARTHMOVER, &a.op, &b.op, 8), 2, 1e-12);
}

/* What noise may have done costs nothing, of a longer way the rest. */
TEST(far_moves_only_are_rated) {
    histogram_add(&a, 10, 100, 1);
    histogram_add(&b, 11, 70, 1);
    ck_assert_double_eq(score(DISTANCE_FARMOVER), 0);
    histogram_init(&b);
    histogram_add(&b, 13, 70, 1);
    ck_assert_double_eq_tol(score(DISTANCE_FARMOVER), 3 - DISTANCE_NOISE_OCTAVES, 1e-12);
}

/* The slowest tenth, from 10.9 to 11, goes to 20 to 21: 9.1 to 10 octaves. Nobody else goes far. */
TEST(few_calls_that_go_far_are_rated) {
    histogram_add(&a, 10, 100, 1);
    histogram_add(&b, 10, 900, 1);
    histogram_add(&b, 20, 100, 1);
    const double from = 9.1 - DISTANCE_NOISE_OCTAVES;
    const double to = 10 - DISTANCE_NOISE_OCTAVES;
    double mean = 0.1 * (from + to) / 2;
    double variance = 0.1 * (from * from + from * to + to * to) / 3 - mean * mean;
    ck_assert_double_eq_tol(score(DISTANCE_FARMOVER), mean - sqrt(variance / 100), 1e-12);
}

/* 10 to 11 becomes 11 to 13: the call at share s goes 1 + s octaves, from s = 3/4 on too far by s - 3/4. */
TEST(ways_are_cut_within_a_bucket) {
    histogram_add(&a, 10, 100, 1);
    histogram_add(&b, 11, 50, 1);
    histogram_add(&b, 12, 50, 1);
    ck_assert_double_eq_tol(score(DISTANCE_FARMOVER), 1.0 / 32 - sqrt((1.0 / 192 - 1.0 / 1024) / 100), 1e-12);
}

/* One of ten goes nine octaves: a chance. A hundred of a thousand do: none. */
TEST(one_slow_call_among_few_is_no_difference) {
    histogram_add(&a, 10, 10, 1);
    histogram_add(&b, 10, 9, 1);
    histogram_add(&b, 19, 1, 1);
    ck_assert_double_lt(score(DISTANCE_FARMOVER), distance_traits(DISTANCE_FARMOVER)->threshold);
    histogram_add(&a, 10, 990, 1);
    histogram_add(&b, 10, 891, 1);
    histogram_add(&b, 19, 99, 1);
    ck_assert_double_gt(score(DISTANCE_FARMOVER), 5 * distance_traits(DISTANCE_FARMOVER)->threshold);
}

TEST(one_call_among_very_many_is_no_share) {
    histogram_add(&a, 3, 1, 1);
    histogram_add(&a, 10, UINT64_MAX / 2, 1);
    histogram_add(&b, 10, 7, 1);
    histogram_add(&b, 11, 7, 1);
    ck_assert_double_eq_tol(score(DISTANCE_FARMOVER), 0, 1e-12);
    histogram_add(&b, 20, 7, 1);
    ck_assert(isfinite(score(DISTANCE_FARMOVER)));
}

/* Peaks of 100 and 20 calls against 80 and 40: (20 + 20) / (100 + 40). */
TEST(peaks_are_compared_one_by_one) {
    histogram_add(&a, 10, 100, 1);
    histogram_add(&a, 14, 20, 1);
    histogram_add(&b, 10, 80, 1);
    histogram_add(&b, 14, 40, 1);
    ck_assert_double_eq_tol(score(DISTANCE_GROUPOPS), 100.0 * 40 / 140, 1e-9);
    /* latencies, in units of 1.5 * 1024 cycles: 100 and 320 against 80 and 640 */
    ck_assert_double_eq_tol(score(DISTANCE_GROUPLAT), 100.0 * (20 + 320) / (100 + 640), 1e-9);
}

TEST(other_peaks_are_as_different_as_can_be) {
    histogram_add(&a, 10, 100, 1);
    histogram_add(&a, 14, 20, 1);
    histogram_add(&b, 10, 120, 1);
    ck_assert_double_eq(score(DISTANCE_GROUPOPS), 100);
    histogram_add(&b, 16, 20, 1); /* the same number, but two octaves away */
    ck_assert_double_eq(score(DISTANCE_GROUPLAT), 100);
}

TEST(totals_far_apart_need_no_peaks) {
    histogram_add(&a, 10, 100, 1);
    histogram_add(&b, 10, 100, 1);
    b.op.total_cycles *= 11;
    ck_assert_double_eq(score(DISTANCE_GROUPOPS), 100);
}

/* ---- Every method ------------------------------------------------------------------------------- */

TEST(nothing_is_as_far_as_can_be, .to = DISTANCE_METHOD_COUNT) {
    enum distance_method method = (enum distance_method)_i;
    ck_assert_double_eq(score(method), 0);
    histogram_add(&a, 10, 100, 1);
    ck_assert_double_eq(score(method), distance_traits(method)->score_max);
    ck_assert_double_eq(distance_score(method, &b.op, &a.op, 1), distance_traits(method)->score_max);
}

TEST(names_are_found_again, .to = DISTANCE_METHOD_COUNT) {
    enum distance_method method = (enum distance_method)_i;
    ck_assert_int_eq(distance_method_of_name(distance_traits(method)->name), _i);
    ck_assert_int_eq(distance_method_of_name("nonsense"), -1);
    ck_assert_int_eq(distance_method_of_name("earthmover"), DISTANCE_EARTHMOVER);
}

static void fill_at_random(struct histogram *histogram, unsigned resolution, uint64_t *state) {
    histogram_init(histogram);
    for (int path = 0; path < 3; path++)
        histogram_add_path(histogram, resolution, state, 1 + (unsigned)(200 * random_share(state)),
                           8 + 20 * random_share(state), 0.7);
}

TEST(scores_are_symmetric_and_bounded, .to = DISTANCE_METHOD_COUNT) {
    enum distance_method method = (enum distance_method)_i;
    uint64_t state = 99;
    for (int round = 0; round < 500; round++) {
        unsigned resolution = 1U << (round % 4);
        fill_at_random(&a, resolution, &state);
        fill_at_random(&b, resolution, &state);
        double forth = distance_score(method, &a.op, &b.op, resolution);
        ck_assert(forth >= 0 && forth <= distance_traits(method)->score_max);
        ck_assert_double_eq_tol(forth, distance_score(method, &b.op, &a.op, resolution), 1e-9);
        ck_assert_double_eq(distance_score(method, &a.op, &a.op, resolution), 0);
    }
}

TEST(earth_mover_obeys_the_triangle) {
    uint64_t state = 7;
    struct histogram c;
    for (int round = 0; round < 500; round++) {
        fill_at_random(&a, 4, &state);
        fill_at_random(&b, 4, &state);
        fill_at_random(&c, 4, &state);
        double ab = distance_score(DISTANCE_EARTHMOVER, &a.op, &b.op, 4);
        double bc = distance_score(DISTANCE_EARTHMOVER, &b.op, &c.op, 4);
        double ac = distance_score(DISTANCE_EARTHMOVER, &a.op, &c.op, 4);
        ck_assert_double_le(ac, ab + bc + 1e-12);
    }
}

/* Twice the clock rate moves both by an octave: a difference in buckets stays what it is. */
TEST(earth_mover_does_not_see_the_clock) {
    uint64_t state = 3;
    struct histogram moved_a;
    struct histogram moved_b;
    for (int round = 0; round < 100; round++) {
        fill_at_random(&a, 2, &state);
        fill_at_random(&b, 2, &state);
        histogram_init(&moved_a);
        histogram_init(&moved_b);
        memcpy(moved_a.buckets + 2, a.buckets, sizeof(a.buckets) - 2 * sizeof(uint64_t));
        memcpy(moved_b.buckets + 2, b.buckets, sizeof(b.buckets) - 2 * sizeof(uint64_t));
        ck_assert_double_eq_tol(distance_score(DISTANCE_EARTHMOVER, &a.op, &b.op, 2),
                                distance_score(DISTANCE_EARTHMOVER, &moved_a.op, &moved_b.op, 2), 1e-12);
    }
}
