/* Peaks of histograms: by eye, and under noise. */
#include <stdlib.h>

#include "base.h"
#include "histograms.h"
#include "peaks.h"
#include "testing.h"

#define BUCKETS 20

static const struct {
    uint64_t buckets[BUCKETS];
    size_t count;
    struct peak peaks[4];
} histograms[] = {
    {{0}, 0, {{0}}},
    {{0, 1}, 1, {{1, 1, 1, 1}}},
    {{1}, 1, {{0, 0, 0, 1}}},
    {{0, 5, 90, 40, 3}, 1, {{1, 4, 2, 138}}},
    /* empty buckets between; the valley begins the second */
    {{0, 5, 90, 40, 0, 0, 1, 20}, 2, {{1, 3, 2, 135}, {6, 7, 7, 21}}},
    {{0, 5, 90, 40, 9, 30, 800, 20}, 2, {{1, 3, 2, 135}, {4, 7, 6, 859}}},
    /* a dent is no valley */
    {{0, 5, 90, 40, 60, 30}, 1, {{1, 5, 2, 225}}},
    {{0, 1000, 20, 30, 20, 8}, 1, {{1, 5, 1, 1078}}},
    /* nor is more than a quarter of the lower peak */
    {{0, 1000, 251, 1000}, 1, {{1, 3, 1, 2251}}},
    {{0, 1000, 249, 1000}, 2, {{1, 1, 1, 1000}, {2, 3, 3, 1249}}},
    /* stragglers: one slow call after a gap may be chance, and two; seven behind a gap of 13 octaves are not */
    {{0, 500, 300, 17, 0, 0, 0, 1}, 1, {{1, 7, 1, 818}}},
    {{0, 500, 300, 17, 2, 0, 1, 1, 0, 1}, 1, {{1, 9, 1, 822}}},
    {{0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}, 2, {{1, 1, 1, 8}, {15, 15, 15, 7}}},
    /* three calls behind a gap: chance if it is narrow, not if it is wide */
    {{0, 900, 0, 0, 3}, 1, {{1, 4, 1, 903}}},
    {{0, 900, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}, 2, {{1, 1, 1, 900}, {16, 16, 16, 3}}},
    /* RELEASE of a search in files: answered at once, or after the disk */
    {{0, 7180, 691, 13, 2, 20, 109, 7, 4}, 2, {{1, 3, 1, 7884}, {4, 8, 6, 142}}},
    /* three */
    {{0, 70, 4, 90, 3, 50}, 3, {{1, 1, 1, 70}, {2, 3, 3, 94}, {4, 5, 5, 53}}},
};

TEST_CASE(.seconds = 120);

TEST(peaks_are_where_the_eye_sees_them, .to = ARRAY_SIZE(histograms)) {
    struct histogram histogram;
    struct peak found[PEAKS_MAX];
    histogram_init(&histogram);
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++)
        histogram_add(&histogram, bucket, histograms[_i].buckets[bucket], 1);
    size_t count = peaks_find(&histogram.op, 1, found);
    ck_assert_uint_eq(count, histograms[_i].count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(found[i].first, histograms[_i].peaks[i].first);
        ck_assert_uint_eq(found[i].last, histograms[_i].peaks[i].last);
        ck_assert_uint_eq(found[i].mode, histograms[_i].peaks[i].mode);
        ck_assert_uint_eq(found[i].calls, histograms[_i].peaks[i].calls);
    }
}

TEST(the_last_bucket_is_a_peak_too, .to = 4) {
    static const unsigned resolutions[] = {1, 2, 4, 8};
    struct histogram histogram;
    struct peak found[PEAKS_MAX];
    unsigned last = 64 * resolutions[_i] - 1;
    histogram_init(&histogram);
    histogram.buckets[0] = UINT64_MAX / 2; /* and sums of 64 bits are taken in them */
    histogram.buckets[last] = UINT64_MAX / 2;
    ck_assert_uint_eq(peaks_find(&histogram.op, resolutions[_i], found), 2);
    ck_assert_uint_eq(found[1].first, last);
    ck_assert_uint_eq(found[1].calls, UINT64_MAX / 2);
}

/* 30 calls of 3 * 2^9 cycles and 10 of 3 * 2^12, which is 4 / 7 of all latency. */
TEST(a_peak_tells_its_place_and_its_share) {
    struct histogram histogram;
    struct peak found[PEAKS_MAX];
    histogram_init(&histogram);
    histogram_add(&histogram, 10, 30, 1);
    histogram_add(&histogram, 12, 10, 1);
    ck_assert_uint_eq(peaks_find(&histogram.op, 1, found), 2);
    ck_assert_double_eq(found[1].mode_cycles, 1.5 * 4096);
    ck_assert_double_eq(found[1].centre, 12.5);
    ck_assert_double_eq_tol(found[1].latency_share, 4.0 / 7, 1e-12);
    ck_assert_double_eq_tol(found[0].latency_share, 3.0 / 7, 1e-12);
}

/* Whatever the histogram: peaks are in order, do not overlap, and hold all calls. */
TEST(peaks_hold_all_calls) {
    static const unsigned resolutions[] = {1, 2, 4, 8};
    uint64_t state = 4711;
    struct histogram histogram;
    struct peak found[PEAKS_MAX];
    for (int round = 0; round < 1000; round++) {
        unsigned resolution = resolutions[round % 4];
        uint64_t calls = 0;
        histogram_init(&histogram);
        for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
            histogram.buckets[bucket] = random_share(&state) < 0.3 ? (uint64_t)exp2(20 * random_share(&state)) : 0;
            calls += histogram.buckets[bucket];
        }
        size_t count = peaks_find(&histogram.op, resolution, found);
        ck_assert_uint_le(count, PEAKS_MAX);
        for (size_t i = 0; i < count; i++) {
            ck_assert_uint_le(found[i].first, found[i].last);
            ck_assert(i == 0 || found[i - 1].last < found[i].first);
            ck_assert(histogram.buckets[found[i].first] > 0 && histogram.buckets[found[i].last] > 0);
            calls -= found[i].calls;
        }
        ck_assert_uint_eq(calls, 0);
    }
}

/* Two calls may lie anywhere: with as many gaps as there can be, there are no more peaks than room for them. */
TEST(there_is_room_for_all_peaks, .to = 4) {
    static const unsigned resolutions[] = {1, 2, 4, 8};
    const unsigned resolution = resolutions[_i];
    struct histogram histogram;
    struct peak found[PEAKS_MAX];
    histogram_init(&histogram);
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket += resolution + 1)
        histogram.buckets[bucket] = 1000000;
    size_t count = peaks_find(&histogram.op, resolution, found);
    ck_assert_uint_eq(count, (64 * resolution + resolution) / (resolution + 1));
}

/* How many of 1,000 histograms of one path show more than one peak. */
static unsigned count_false(unsigned resolution, unsigned calls, double deviation) {
    uint64_t state = 20061125 + calls;
    unsigned false_count = 0;
    for (int round = 0; round < 1000; round++) {
        struct histogram histogram;
        struct peak found[PEAKS_MAX];
        histogram_init(&histogram);
        histogram_add_path(&histogram, resolution, &state, calls, 20 + random_share(&state), deviation);
        false_count += peaks_find(&histogram.op, resolution, found) != 1;
    }
    return false_count;
}

TEST(noise_makes_no_peaks, .to = 4) {
    static const unsigned resolutions[] = {1, 2, 4, 8};
    static const unsigned calls[] = {3, 10, 30, 100, 1000};
    static const double deviations[] = {0.3, 1, 3, 6};
    for (size_t c = 0; c < ARRAY_SIZE(calls); c++)
        for (size_t d = 0; d < ARRAY_SIZE(deviations); d++)
            ck_assert_uint_le(count_false(resolutions[_i], calls[c], deviations[d]), 5);
}

/* One set of latencies, at all resolutions: peaks of as many calls, give or take what lies in the valleys, and as far
 * along. */
TEST(resolutions_show_the_same_peaks, .to = 20) {
    static const unsigned resolutions[] = {1, 2, 4, 8};
    uint64_t state = 42 + (uint64_t)_i;
    const unsigned calls[] = {5000, 800, 60};
    const double phase = random_share(&state);
    for (size_t r = 0; r < ARRAY_SIZE(resolutions); r++) {
        struct histogram histogram;
        struct peak found[PEAKS_MAX];
        uint64_t same_state = state;
        histogram_init(&histogram);
        for (unsigned i = 0; i < 3; i++)
            histogram_add_path(&histogram, resolutions[r], &same_state, calls[i], 12 + phase + 5 * i, 0.6);
        size_t count = peaks_find(&histogram.op, resolutions[r], found);
        ck_assert_uint_eq(count, 3);
        for (unsigned i = 0; i < 3; i++) {
            ck_assert_double_eq_tol((double)found[i].calls, calls[i], 20);
            ck_assert_double_eq_tol(found[i].centre, 12 + phase + 5 * i, 0.35);
        }
    }
}
