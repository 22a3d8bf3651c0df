/* Peaks of histograms, by eye. */
#include <check.h>
#include <stdlib.h>

#include "peaks.h"

#define BUCKETS 16

static const struct {
    uint64_t buckets[BUCKETS];
    size_t count;
    struct peak peaks[4];
} histograms[] = {
    {{0}, 0, {{0}}},
    {{0, 1}, 1, {{1, 1, 1, 1}}},
    {{1}, 1, {{0, 0, 0, 1}}},
    {{0, 5, 90, 40, 3}, 1, {{1, 4, 2, 138}}},
    /* empty buckets between */
    {{0, 5, 90, 40, 0, 0, 1, 2}, 2, {{1, 3, 2, 135}, {6, 7, 7, 3}}},
    /* a valley of a tenth; the deepest bucket begins the second */
    {{0, 5, 90, 40, 9, 30, 800, 20}, 2, {{1, 3, 2, 135}, {4, 7, 6, 859}}},
    /* a dent is no valley */
    {{0, 5, 90, 40, 60, 30}, 1, {{1, 5, 2, 225}}},
    /* stragglers behind a peak belong to it */
    {{0, 1000, 20, 30, 20, 8}, 1, {{1, 5, 1, 1078}}},
    /* the last bucket of all */
    {{0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}, 2, {{1, 1, 1, 8}, {15, 15, 15, 7}}},
};

START_TEST(peaks_are_where_the_eye_sees_them) {
    struct peak found[BUCKETS];
    size_t count = peaks_find(histograms[_i].buckets, BUCKETS, found);
    ck_assert_uint_eq(count, histograms[_i].count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(found[i].first, histograms[_i].peaks[i].first);
        ck_assert_uint_eq(found[i].last, histograms[_i].peaks[i].last);
        ck_assert_uint_eq(found[i].mode, histograms[_i].peaks[i].mode);
        ck_assert_uint_eq(found[i].calls, histograms[_i].peaks[i].calls);
    }
}
END_TEST

/* Whatever the histogram: peaks are in order, do not overlap, and hold all calls. */
START_TEST(peaks_hold_all_calls) {
    uint64_t buckets[BUCKETS];
    struct peak found[BUCKETS];
    srand(4711);
    for (int round = 0; round < 20000; round++) {
        uint64_t calls = 0;
        for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
            buckets[bucket] = rand() % 3 ? (uint64_t)1 << rand() % 20 : 0;
            calls += buckets[bucket];
        }
        size_t count = peaks_find(buckets, BUCKETS, found);
        for (size_t i = 0; i < count; i++) {
            ck_assert_uint_le(found[i].first, found[i].last);
            ck_assert(i == 0 || found[i - 1].last < found[i].first);
            calls -= found[i].calls;
        }
        ck_assert_uint_eq(calls, 0);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("peaks");
    TCase *peaks = tcase_create("peaks");
    tcase_add_loop_test(peaks, peaks_are_where_the_eye_sees_them, 0, sizeof(histograms) / sizeof(histograms[0]));
    tcase_add_test(peaks, peaks_hold_all_calls);
    suite_add_tcase(suite, peaks);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
