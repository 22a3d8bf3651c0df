/* Quartiles, and which times are near a latency. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "characteristic.h"
#include "testing.h"

TEST(kinds_are_found_by_their_keys) {
    for (int kind = 0; kind < CHARACTERISTIC_COUNT; kind++) {
        ck_assert_int_eq(characteristic_of_key(characteristic_key((enum characteristic_kind)kind)), kind);
        ck_assert_ptr_nonnull(characteristic_title((enum characteristic_kind)kind));
    }
    ck_assert_int_eq(characteristic_of_key("Quantum"), -1);
    ck_assert_int_eq(characteristic_of_key(""), -1);
}

static const struct {
    double values[5];
    size_t count;
    struct quartiles wanted;
} samples[] = {
    {{7}, 1, {7, 7, 7}},
    {{3, 1}, 2, {1.5, 2, 2.5}},
    {{4, 1, 3, 2}, 4, {1.75, 2.5, 3.25}},
    {{5, 4, 1, 3, 2}, 5, {2, 3, 4}},
    {{1, 1, 1, 1, 1000000}, 5, {1, 1, 1}}, /* one that was disturbed */
};

TEST(quartiles_lie_between_the_nearest_values, .to = ARRAY_SIZE(samples)) {
    double values[5];
    memcpy(values, samples[_i].values, sizeof(values));
    struct quartiles found = quartiles_of(values, samples[_i].count);
    ck_assert_double_eq(found.lower, samples[_i].wanted.lower);
    ck_assert_double_eq(found.median, samples[_i].wanted.median);
    ck_assert_double_eq(found.upper, samples[_i].wanted.upper);
}

/* 1 to 4 are half of the sum, and become half of the values. */
TEST(long_values_weigh_more) {
    double values[] = {1, 4, 1, 1, 1};
    const double wanted[] = {1, 1, 1, 4, 4};
    weigh_by_value(values, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_double_eq(values[i], wanted[i]);
}

TEST(equal_values_stay_as_they_are) {
    double values[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    double zeros[] = {0, 0};
    weigh_by_value(values, 7);
    for (size_t i = 0; i < 7; i++)
        ck_assert_double_eq(values[i], 0.1);
    weigh_by_value(zeros, 2);
    ck_assert_double_eq(zeros[0] + zeros[1], 0);
    weigh_by_value(zeros, 0);
}

/* ---- Near --------------------------------------------------------------------------------------- */

static const struct characteristic *near[CHARACTERISTIC_NEAR_MAX];

static size_t find_near(const double *medians_ns, size_t count, double latency_ns) {
    static struct characteristic times[8];
    for (size_t i = 0; i < count; i++)
        times[i] = (struct characteristic){.ns = {.median = medians_ns[i]}, .sample_count = i};
    return characteristic_near(times, count, latency_ns, near);
}

TEST(near_is_less_than_a_factor_of_two) {
    const double median_ns = 1000;
    ck_assert_uint_eq(find_near(&median_ns, 1, 500), 0);
    ck_assert_uint_eq(find_near(&median_ns, 1, 500.1), 1);
    ck_assert_uint_eq(find_near(&median_ns, 1, 1999.9), 1);
    ck_assert_uint_eq(find_near(&median_ns, 1, 2000), 0);
    ck_assert_uint_eq(find_near(&median_ns, 1, 0), 0);
    ck_assert_uint_eq(find_near(&median_ns, 0, 1000), 0);
}

/* By ratio 750 is farther from 1000 than 1300. */
TEST(the_nearest_three_come_in_order) {
    const double medians_ns[] = {1900, 750, 1300, 1.0, 1301};
    ck_assert_uint_eq(find_near(medians_ns, 5, 1000), 3);
    ck_assert_uint_eq(near[0]->sample_count, 2);
    ck_assert_uint_eq(near[1]->sample_count, 4);
    ck_assert_uint_eq(near[2]->sample_count, 1);
    ck_assert_uint_eq(find_near(medians_ns, 3, 1000), 3);
    ck_assert_uint_eq(near[0]->sample_count, 2);
    ck_assert_uint_eq(near[1]->sample_count, 1);
    ck_assert_uint_eq(near[2]->sample_count, 0);
}

TEST(among_equals_the_first_comes_first) {
    const double medians_ns[] = {4000000, 4000000, 4000000, 4000000};
    ck_assert_uint_eq(find_near(medians_ns, 4, 4000000), 3);
    ck_assert_uint_eq(near[0]->sample_count, 0);
    ck_assert_uint_eq(near[1]->sample_count, 1);
    ck_assert_uint_eq(near[2]->sample_count, 2);
}

/* However far they are, up to the factor of two. */
TEST(devices_and_networks_come_before_the_machine) {
    const struct characteristic times[] = {
        {.kind = CHARACTERISTIC_SLEEP, .ns = {.median = 75000}},
        {.kind = CHARACTERISTIC_TIMER_INTERRUPT, .ns = {.median = 74000}},
        {.kind = CHARACTERISTIC_DEVICE_READ, .ns = {.median = 140000}},
        {.kind = CHARACTERISTIC_DEVICE_WRITE, .ns = {.median = 151000}},
        {.kind = CHARACTERISTIC_ROUND_TRIP, .ns = {.median = 100000}},
    };
    ck_assert_uint_eq(characteristic_near(times, 4, 75000, near), 3);
    ck_assert_ptr_eq(near[0], &times[2]);
    ck_assert_ptr_eq(near[1], &times[0]);
    ck_assert_ptr_eq(near[2], &times[1]);
    ck_assert_uint_eq(characteristic_near(times, 5, 76000, near), 3);
    ck_assert_ptr_eq(near[0], &times[4]);
    ck_assert_ptr_eq(near[1], &times[2]);
    ck_assert_ptr_eq(near[2], &times[3]);
}
