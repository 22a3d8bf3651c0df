/* Timer interrupts among other gaps. */
#include <stdlib.h>

#include "testing.h"
#include "ticks.h"

#define PERIOD_NS 4000000.0
#define GAPS_MAX 4000

static struct gap gaps[GAPS_MAX];
static struct gap ticks[GAPS_MAX];

static int compare_starts(const void *a, const void *b) {
    double left = ((const struct gap *)a)->start_ns;
    double right = ((const struct gap *)b)->start_ns;
    return (left > right) - (left < right);
}

/* From phase_ns on, a gap of 3 us in each period, up to 20 us late. */
static size_t add_ticks(size_t count, size_t tick_count, double phase_ns) {
    for (size_t i = 0; i < tick_count; i++) {
        double late_ns = (double)(random() % 20000);
        gaps[count++] = (struct gap){(double)i * PERIOD_NS + phase_ns + late_ns, 3000};
    }
    return count;
}

/* Gaps of 1 us anywhere in that many periods. */
static size_t add_noise(size_t count, size_t noise_count, size_t period_count) {
    for (size_t i = 0; i < noise_count; i++)
        gaps[count++] = (struct gap){drand48() * (double)period_count * PERIOD_NS, 1000};
    return count;
}

static size_t find(size_t count) {
    qsort(gaps, count, sizeof(*gaps), compare_starts);
    return ticks_find(gaps, count, PERIOD_NS, ticks);
}

TEST(ticks_alone_are_all_found) {
    ck_assert_uint_eq(find(add_ticks(0, 100, 1234567)), 100);
}

/* The window wraps around. */
TEST(ticks_at_the_borders_of_periods_are_found) {
    ck_assert_uint_eq(find(add_ticks(0, 100, PERIOD_NS - 10000)), 100);
}

TEST(ticks_are_found_among_twenty_times_as_many_gaps) {
    size_t count = add_noise(add_ticks(0, 100, 1234567), 2000, 100);
    size_t found = find(count);
    size_t of_timer = 0;
    ck_assert_uint_ge(found, 99); /* in the first or last period the window may hold another one only */
    ck_assert_uint_le(found, 101);
    for (size_t i = 0; i < found; i++)
        of_timer += ticks[i].length_ns == 3000;
    ck_assert_uint_eq(of_timer, 100);
}

TEST(gaps_at_random_are_no_ticks) {
    for (int round = 0; round < 50; round++)
        ck_assert_uint_eq(find(add_noise(0, 300, 75)), 0);
    ck_assert_uint_eq(find(0), 0);
}

TEST(nine_are_too_few) {
    ck_assert_uint_eq(find(add_ticks(0, 9, 100000)), 0);
    ck_assert_uint_eq(find(add_ticks(0, 10, 100000)), 10);
}

/* Where another thread had a turn from tick to tick. */
TEST(turns_of_others_are_no_ticks) {
    size_t count = add_ticks(0, 100, 1234567);
    for (size_t i = 0; i < 60; i++)
        gaps[i].length_ns = PERIOD_NS + 3000;
    ck_assert_uint_eq(find(count), 40);
}

TEST(missing_ticks_do_not_stretch_the_period) {
    const struct gap found[] = {{0, 1}, {4000000, 1}, {16000400, 1}, {20000400, 1}};
    double periods_ns[4];
    ck_assert_uint_eq(ticks_periods(found, 4, PERIOD_NS, periods_ns), 3);
    ck_assert_double_eq(periods_ns[0], 4000000);
    ck_assert_double_eq_tol(periods_ns[1], 4000133.33, 0.01);
    ck_assert_double_eq(periods_ns[2], 4000000);
    ck_assert_uint_eq(ticks_periods(found, 1, PERIOD_NS, periods_ns), 0);
    ck_assert_uint_eq(ticks_periods(found, 0, PERIOD_NS, periods_ns), 0);
}
