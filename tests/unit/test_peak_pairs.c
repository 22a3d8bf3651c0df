/* Which peak became which. */
#include <stdlib.h>

#include "base.h"
#include "histograms.h"
#include "peaks.h"
#include "testing.h"

static struct histogram a;
static struct histogram b;
static struct peak_pair pairs[PEAK_PAIRS_MAX];

static void set_up(void) {
    histogram_init(&a);
    histogram_init(&b);
}

static void add_peak(struct histogram *histogram, unsigned bucket, uint64_t calls) {
    histogram_add(histogram, bucket - 1, calls / 10, 1);
    histogram_add(histogram, bucket, calls - calls / 10 * 2, 1);
    histogram_add(histogram, bucket + 1, calls / 10, 1);
}

TEST_CASE(.set_up = set_up);

TEST(nothing_pairs_with_nothing) {
    ck_assert_uint_eq(peak_pairs_match(&a.op, &b.op, 1, pairs), 0);
}

TEST(equal_peaks_have_stayed) {
    add_peak(&a, 8, 1000);
    add_peak(&a, 14, 500);
    ck_assert_uint_eq(peak_pairs_match(&a.op, &a.op, 1, pairs), 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pairs[i].change, PEAK_STAYED);
        ck_assert_double_eq(pairs[i].moved_octaves, 0);
    }
}

TEST(a_near_peak_has_moved) {
    add_peak(&a, 8, 1000);
    add_peak(&a, 14, 500);
    add_peak(&b, 8, 1000);
    add_peak(&b, 16, 500);
    ck_assert_uint_eq(peak_pairs_match(&a.op, &b.op, 1, pairs), 2);
    ck_assert_int_eq(pairs[0].change, PEAK_STAYED);
    ck_assert_int_eq(pairs[1].change, PEAK_MOVED);
    ck_assert_double_eq_tol(pairs[1].moved_octaves, 2, 1e-9);
}

TEST(a_far_peak_is_another) {
    add_peak(&a, 8, 1000);
    add_peak(&a, 14, 500);
    add_peak(&b, 8, 1000);
    add_peak(&b, 24, 500);
    ck_assert_uint_eq(peak_pairs_match(&a.op, &b.op, 1, pairs), 3);
    ck_assert_int_eq(pairs[0].change, PEAK_STAYED);
    ck_assert_int_eq(pairs[1].change, PEAK_VANISHED);
    ck_assert_uint_eq(pairs[1].a.calls, 500);
    ck_assert_uint_eq(pairs[1].b.calls, 0);
    ck_assert_int_eq(pairs[2].change, PEAK_APPEARED);
    ck_assert_uint_eq(pairs[2].b.calls, 500);
}

/* The bucket between is a sixth of the lower peak on one side, a third on the other; all else is the same. */
TEST(a_valley_that_fills_up_makes_no_peak_vanish) {
    histogram_add(&a, 8, 1000, 1);
    histogram_add(&a, 9, 50, 1);
    histogram_add(&a, 10, 300, 1);
    histogram_add(&b, 8, 1000, 1);
    histogram_add(&b, 9, 100, 1);
    histogram_add(&b, 10, 300, 1);
    ck_assert_uint_eq(peak_pairs_match(&a.op, &b.op, 1, pairs), 2);
    ck_assert_int_eq(pairs[0].change, PEAK_STAYED);
    ck_assert_uint_eq(pairs[0].a.calls, 1000);
    ck_assert_uint_eq(pairs[0].b.calls, 1000);
    ck_assert_int_eq(pairs[1].change, PEAK_STAYED);
    ck_assert_uint_eq(pairs[1].b.calls, 400);
    ck_assert_uint_eq(peak_pairs_match(&b.op, &a.op, 1, pairs), 2);
    ck_assert_uint_eq(pairs[1].a.calls, 400);
}

/* But where the other has much less, it has appeared. */
TEST(a_peak_out_of_a_thin_tail_has_appeared) {
    histogram_add(&a, 8, 1000, 1);
    histogram_add(&a, 9, 100, 1);
    histogram_add(&a, 14, 3, 1);
    histogram_add(&b, 8, 1000, 1);
    histogram_add(&b, 14, 90, 1);
    ck_assert_uint_eq(peak_pairs_match(&a.op, &b.op, 1, pairs), 2);
    ck_assert_int_eq(pairs[0].change, PEAK_STAYED);
    ck_assert_int_eq(pairs[1].change, PEAK_APPEARED);
}

/* Of random pairs: all calls are in exactly one pair, and both orders say the same. */
TEST(pairs_hold_all_calls) {
    uint64_t state = 815;
    for (int round = 0; round < 500; round++) {
        set_up();
        for (int path = 0; path < 4; path++) {
            histogram_add_path(&a, 2, &state, (unsigned)(300 * random_share(&state)), 8 + 30 * random_share(&state),
                               0.5);
            histogram_add_path(&b, 2, &state, (unsigned)(300 * random_share(&state)), 8 + 30 * random_share(&state),
                               0.5);
        }
        uint64_t a_calls = a.op.calls;
        uint64_t b_calls = b.op.calls;
        size_t count = peak_pairs_match(&a.op, &b.op, 2, pairs);
        for (size_t i = 0; i < count; i++) {
            a_calls -= pairs[i].a.calls;
            b_calls -= pairs[i].b.calls;
            ck_assert_int_eq(pairs[i].change == PEAK_APPEARED, pairs[i].a.calls == 0);
            ck_assert_int_eq(pairs[i].change == PEAK_VANISHED, pairs[i].b.calls == 0);
        }
        ck_assert_uint_eq(a_calls, 0);
        ck_assert_uint_eq(b_calls, 0);
    }
}
