/* Ops and peaks with equal numbers of calls. */
#include <stdlib.h>

#include "base.h"
#include "correlate.h"
#include "histograms.h"
#include "testing.h"

#define OPS 3

static struct histogram histograms[OPS];
static struct aggstats_op_profile ops[OPS];
static struct aggstats_profile profile;
static struct correlations correlations;

static void set_up(void) {
    for (int i = 0; i < OPS; i++)
        histogram_init(&histograms[i]);
    profile = (struct aggstats_profile){.resolution = 1, .ops = ops, .op_count = OPS};
}

static void correlate(void) {
    for (int i = 0; i < OPS; i++)
        ops[i] = histograms[i].op;
    ck_assert_int_eq(correlate_profile(&profile, &correlations), 0);
}

static void tear_down(void) {
    correlate_finish(&correlations);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

/* readdir has four peaks; what its last two did is what readpage did (thesis §7.2.1). */
TEST(two_peaks_are_another_op) {
    histogram_add(&histograms[0], 6, 21307, 1);
    histogram_add(&histograms[0], 11, 9811, 1);
    histogram_add(&histograms[0], 16, 1709, 1);
    histogram_add(&histograms[0], 20, 2411, 1);
    histogram_add(&histograms[1], 8, 4120, 1);
    histogram_add(&histograms[2], 8, 555, 1);
    correlate();
    ck_assert_uint_eq(correlations.count, 1);
    ck_assert_uint_eq(correlations.found[0].calls, 4120);
    ck_assert_uint_eq(correlations.found[0].part_count, 2);
    const struct correlate_part *parts = correlations.found[0].parts;
    ck_assert_ptr_eq(parts[0].op, &ops[0]);
    ck_assert_uint_eq(parts[0].first_peak, 2);
    ck_assert_uint_eq(parts[0].last_peak, 3);
    ck_assert_uint_eq(parts[0].peak_count, 4);
    ck_assert_uint_eq(parts[0].calls.first, 16);
    ck_assert_uint_eq(parts[0].calls.last, 20);
    ck_assert_ptr_eq(parts[1].op, &ops[1]);
    ck_assert_uint_eq(parts[1].peak_count, 1);
}

TEST(ops_called_together_are_one_group) {
    for (int i = 0; i < OPS; i++)
        histogram_add(&histograms[i], 5, 8026, 1);
    correlate();
    ck_assert_uint_eq(correlations.count, 1);
    ck_assert_uint_eq(correlations.found[0].part_count, 3);
}

/* Three of three, or 28 of 28, is nothing special; 2,800 of 2,800 is. */
TEST(small_numbers_are_equal_by_chance, .to = 3) {
    static const uint64_t calls[] = {3, 9, 2800};
    static const size_t expected[] = {0, 0, 1};
    histogram_add(&histograms[0], 5, calls[_i], 1);
    histogram_add(&histograms[1], 9, calls[_i], 1);
    correlate();
    ck_assert_uint_eq(correlations.count, expected[_i]);
}

TEST(equal_peaks_of_one_op_are_no_correlation) {
    histogram_add(&histograms[0], 5, 1000, 1);
    histogram_add(&histograms[0], 15, 1000, 1);
    correlate();
    ck_assert_uint_eq(correlations.count, 0);
}

TEST(one_call_more_is_not_equal) {
    histogram_add(&histograms[0], 5, 100000, 1);
    histogram_add(&histograms[1], 9, 100001, 1);
    correlate();
    ck_assert_uint_eq(correlations.count, 0);
}

TEST(calls_in_flight_are_in_no_peak) {
    histogram_add(&histograms[0], 5, 1000, 1);
    histogram_add(&histograms[1], 9, 1000, 1);
    histograms[0].op.calls++;
    correlate();
    ck_assert_uint_eq(correlations.count, 1);
}

/* Of independent numbers, however many peaks there are, hardly any are taken for more than chance. */
TEST(independent_numbers_do_not_correlate) {
    uint64_t state = 1729;
    size_t found = 0;
    for (int round = 0; round < 500; round++) {
        set_up();
        for (int i = 0; i < OPS; i++)
            for (unsigned path = 0; path < 6; path++)
                histogram_add(&histograms[i], 5 + 6 * path, (uint64_t)exp2(5 + 9 * random_share(&state)), 1);
        correlate();
        found += correlations.count;
        tear_down();
    }
    correlations = (struct correlations){0};
    ck_assert_uint_le(found, 50);
}

TEST(an_empty_profile_has_none) {
    correlate();
    ck_assert_uint_eq(correlations.count, 0);
    tear_down();
    profile.op_count = 0;
    correlate();
    ck_assert_uint_eq(correlations.count, 0);
}
