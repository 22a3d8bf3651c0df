/* Percentiles, sums and bounds of profiles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "figures.h"
#include "testing.h"

static uint64_t buckets[AGGSTATS_BUCKETS_MAX];
static struct aggstats_op_profile op;

static void set_up(void) {
    memset(buckets, 0, sizeof(buckets));
    op = (struct aggstats_op_profile){.name = "READ", .buckets = buckets};
}

static unsigned percentile(unsigned percent) {
    struct aggstats_percentile found = {.bucket = UINT32_MAX};
    ck_assert(aggstats_percentile(&op, 1, 10 * percent, &found));
    return found.bucket;
}

TEST_CASE(.set_up = set_up);

TEST(computed_counts_are_rounded_and_stay_within_64_bits) {
    ck_assert_uint_eq(figures_count(0.49), 0);
    ck_assert_uint_eq(figures_count(2.5), 3);
    ck_assert_uint_eq(figures_count(0x1p63), UINT64_C(1) << 63);
    ck_assert_uint_eq(figures_count(nextafter(0x1p64, 0)), UINT64_MAX - 2047);
    ck_assert_uint_eq(figures_count(0x1p64), UINT64_MAX);
}

TEST(no_calls_have_no_percentile) {
    struct aggstats_percentile found = {.bucket = 77};
    ck_assert(!aggstats_percentile(&op, 1, 500, &found));
    ck_assert_uint_eq(found.bucket, 77);
}

TEST(one_call_is_every_percentile) {
    buckets[63] = 1;
    ck_assert_uint_eq(percentile(1), 63);
    ck_assert_uint_eq(percentile(50), 63);
    ck_assert_uint_eq(percentile(100), 63);
}

TEST(a_percentile_changes_buckets_at_the_exact_call) {
    buckets[10] = 50;
    buckets[20] = 49;
    buckets[30] = 1;
    ck_assert_uint_eq(percentile(50), 10);
    ck_assert_uint_eq(percentile(51), 20);
    ck_assert_uint_eq(percentile(99), 20);
    ck_assert_uint_eq(percentile(100), 30);
    buckets[30] = 2; /* of 101 calls 50 are less than a half */
    ck_assert_uint_eq(percentile(50), 20);
}

TEST(huge_counts_do_not_overflow) {
    buckets[5] = UINT64_MAX / 2;
    buckets[6] = UINT64_MAX / 2;
    ck_assert_uint_eq(percentile(50), 5);
    ck_assert_uint_eq(percentile(51), 6);
    ck_assert_uint_eq(percentile(99), 6);
}

TEST(fine_resolutions_use_all_their_buckets) {
    struct aggstats_percentile found;
    buckets[AGGSTATS_BUCKETS_MAX - 1] = 3;
    ck_assert_uint_eq(figures_finished(&op, 8), 3);
    ck_assert(aggstats_percentile(&op, 8, 500, &found));
    ck_assert_uint_eq(found.bucket, AGGSTATS_BUCKETS_MAX - 1);
}

/* The second of 4 calls in [1024, 2048) lies at 3/8 of the way, logarithmically. */
TEST(percentiles_are_interpolated_within_their_bucket) {
    struct aggstats_percentile found;
    buckets[3] = 8;
    buckets[10] = 4;
    ck_assert(aggstats_percentile(&op, 1, 830, &found));
    ck_assert_uint_eq(found.bucket, 10);
    ck_assert_double_eq(found.lower_cycles, 1024);
    ck_assert_double_eq(found.upper_cycles, 2048);
    ck_assert_double_eq_tol(found.cycles, 1024 * pow(2, 0.375), 1e-9);
}

TEST(the_lowest_bucket_is_interpolated_from_zero) {
    struct aggstats_percentile found;
    buckets[0] = 2;
    op.total_cycles = 2;
    ck_assert(aggstats_percentile(&op, 1, 500, &found));
    ck_assert_double_eq(found.lower_cycles, 0);
    ck_assert_double_eq(found.cycles, 0.5);
}

/* Latencies are known here, and their percentiles exactly. */
TEST(percentiles_are_within_their_error) {
    static const unsigned resolutions[] = {1, 2, 4, 8};
    static uint64_t latencies[1000];
    for (size_t i = 0; i < ARRAY_SIZE(latencies); i++)
        latencies[i] = 5 + i * i * 37;
    for (size_t r = 0; r < ARRAY_SIZE(resolutions); r++) {
        memset(buckets, 0, sizeof(buckets));
        for (size_t i = 0; i < ARRAY_SIZE(latencies); i++)
            buckets[aggstats_bucket_of(latencies[i], resolutions[r])]++;
        for (unsigned percent = 1; percent <= 100; percent++) {
            struct aggstats_percentile found;
            double exact = (double)latencies[10 * percent - 1];
            ck_assert(aggstats_percentile(&op, resolutions[r], 10 * percent, &found));
            ck_assert(found.lower_cycles <= exact && exact < found.upper_cycles);
            double ratio = found.cycles > exact ? found.cycles / exact : exact / found.cycles;
            ck_assert_double_lt(ratio, figures_percentile_error(resolutions[r]));
        }
    }
}

static int compare_latencies(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Latencies are random, and so are their number, resolution, and whether the longest is known. */
TEST(percentiles_are_possible_and_in_order) {
    static const unsigned per_milles[] = {1, 10, 250, 500, 900, 990, 999, 1000};
    static uint64_t latencies[2000];
    uint64_t random = 1;
    for (unsigned round = 0; round < 3000; round++) {
        unsigned count = 1 + (unsigned)(random >> 40) % (round % 2 ? 7 : 2000);
        unsigned resolution = 1U << round % 4;
        uint64_t longest = 0;
        double before = 0;
        op.total_cycles = 0;
        memset(buckets, 0, sizeof(buckets));
        for (unsigned i = 0; i < count; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            uint64_t latency = random >> (20 + random % 40);
            latencies[i] = latency;
            longest = latency > longest ? latency : longest;
            op.total_cycles += latency;
            buckets[aggstats_bucket_of(latency, resolution)]++;
        }
        op.longest_cycles = round % 3 ? longest : 0;
        qsort(latencies, count, sizeof(latencies[0]), compare_latencies);
        for (size_t i = 0; i < ARRAY_SIZE(per_milles); i++) {
            struct aggstats_percentile found;
            ck_assert(aggstats_percentile(&op, resolution, per_milles[i], &found));
            ck_assert_double_ge(found.cycles, before);
            ck_assert(found.lower_cycles <= found.cycles && found.cycles <= found.upper_cycles);
            const double exact = (double)latencies[(count * per_milles[i] + 999) / 1000 - 1];
            ck_assert(found.lower_cycles <= exact * (1 + 1e-9) && exact <= found.upper_cycles * (1 + 1e-9));
            ck_assert_uint_gt(buckets[found.bucket], 0);
            ck_assert_double_le(found.upper_cycles, aggstats_bucket_upper(found.bucket, resolution));
            if (op.longest_cycles > 0)
                ck_assert_double_le(found.cycles, (double)longest);
            before = found.cycles;
        }
        if (op.longest_cycles > 0 || count == 1)
            ck_assert_double_eq(before, (double)longest);
    }
}

/* Adds a call, and the longest, if that is known. */
static void add_call(uint64_t latency, unsigned resolution, bool is_longest_known) {
    op.total_cycles += latency;
    buckets[aggstats_bucket_of(latency, resolution)]++;
    if (is_longest_known && latency > op.longest_cycles)
        op.longest_cycles = latency;
}

TEST(of_two_calls_p50_is_the_shorter_one_exactly) {
    struct aggstats_percentile found;
    add_call(6000, 1, true);
    add_call(2500000000, 1, true);
    ck_assert(aggstats_percentile(&op, 1, 500, &found));
    ck_assert_double_eq(found.cycles, 6000);
    ck_assert_double_eq(found.lower_cycles, 6000);
    ck_assert_double_eq(found.upper_cycles, 6000);
    ck_assert(aggstats_percentile(&op, 1, 501, &found));
    ck_assert_double_eq(found.cycles, 2500000000);
}

TEST(of_calls_that_take_equally_long_p50_is_that_time) {
    for (unsigned resolution = 1; resolution <= 8; resolution *= 2) {
        struct aggstats_percentile found;
        set_up();
        for (unsigned i = 0; i < 5; i++)
            add_call(800000000, resolution, true);
        ck_assert(aggstats_percentile(&op, resolution, 500, &found));
        ck_assert_double_eq_tol(found.cycles, 800000000, 1);
        ck_assert_double_le(found.lower_cycles, 800000000);
        ck_assert_double_ge(found.upper_cycles, 800000000);
    }
}

/* 790 to 810 ms, in a bucket from 537 ms to 1.07 s: the third of five took at least (4 s - 2 * 810 ms) / 3. */
TEST(of_calls_that_take_about_equally_long_p50_is_about_that) {
    static const uint64_t latencies[] = {790000000, 795000000, 800000000, 805000000, 810000000};
    struct aggstats_percentile found;
    for (unsigned i = 0; i < ARRAY_SIZE(latencies); i++)
        add_call(latencies[i], 1, true);
    ck_assert(aggstats_percentile(&op, 1, 500, &found));
    ck_assert_double_ge(found.cycles, 790000000);
    ck_assert_double_le(found.cycles, 810000000);
    op.longest_cycles = 0; /* unknown */
    ck_assert(aggstats_percentile(&op, 1, 500, &found));
    ck_assert_double_ge(found.upper_cycles, 800000000);
    ck_assert_double_le(found.lower_cycles, 800000000);
}

TEST(a_total_that_contradicts_the_buckets_tells_nothing) {
    struct aggstats_percentile found;
    buckets[10] = 3;
    op.total_cycles = 3 * 2048 + 1;
    ck_assert(aggstats_percentile(&op, 1, 500, &found));
    ck_assert_double_eq(found.lower_cycles, 1024);
    ck_assert_double_eq(found.upper_cycles, 2048);
    op.total_cycles = 3 * 2048 - 1; /* two took at most 2048 cycles */
    ck_assert(aggstats_percentile(&op, 1, 500, &found));
    ck_assert_double_eq(found.lower_cycles, 2047.5);
    ck_assert_double_eq(found.upper_cycles, 2048);
}

TEST(ranks_begin_with_the_shortest_call_and_end_with_the_longest) {
    struct aggstats_percentile found = {.bucket = 77};
    add_call(100, 1, true);
    add_call(3000, 1, true);
    add_call(1000000, 1, true);
    ck_assert(!aggstats_latency_of_rank(&op, 1, 0, &found));
    ck_assert(!aggstats_latency_of_rank(&op, 1, 4, &found));
    ck_assert_uint_eq(found.bucket, 77);
    ck_assert(aggstats_latency_of_rank(&op, 1, 1, &found));
    ck_assert_uint_eq(found.bucket, 6);
    ck_assert(aggstats_latency_of_rank(&op, 1, 2, &found));
    ck_assert_uint_eq(found.bucket, 11);
    ck_assert(aggstats_latency_of_rank(&op, 1, 3, &found));
    ck_assert_double_eq(found.cycles, 1000000);
}

TEST(bounds_are_sums_over_the_buckets) {
    buckets[3] = 2;  /* 8..16 */
    buckets[10] = 1; /* 1024..2048 */
    struct figures_bounds bounds = figures_total_bounds(&op, 1);
    ck_assert_ldouble_eq(bounds.lower_cycles, 2 * 8 + 1024);
    ck_assert_ldouble_eq(bounds.upper_cycles, 2 * 16 + 2048);
}

TEST(the_lowest_bucket_may_hold_nothing_but_zeros) {
    buckets[0] = 5;
    struct figures_bounds bounds = figures_total_bounds(&op, 1);
    ck_assert_ldouble_eq(bounds.lower_cycles, 0);
    ck_assert_ldouble_eq(bounds.upper_cycles, 10);
}

TEST(sums_count_all_ops) {
    struct aggstats_op_profile ops[] = {{.calls = 5, .total_cycles = 100}, {.calls = 2, .total_cycles = 30}};
    const struct aggstats_profile profile = {.ops = ops, .op_count = 2};
    struct figures_sum sum = figures_sum(&profile);
    ck_assert_uint_eq(sum.calls, 7);
    ck_assert_double_eq(sum.total_cycles, 130);
}

TEST(sums_do_not_wrap) {
    struct aggstats_op_profile ops[] = {{.calls = UINT64_MAX, .total_cycles = UINT64_MAX},
                                        {.calls = UINT64_MAX, .total_cycles = UINT64_MAX},
                                        {.calls = 3, .total_cycles = 3}};
    const struct aggstats_profile profile = {.ops = ops, .op_count = 3};
    struct figures_sum sum = figures_sum(&profile);
    char text[WIDE_COUNT_TEXT_SIZE];
    ck_assert_str_eq(wide_count_format(sum.calls, text), "36893488147419103233");
    ck_assert_double_eq(sum.total_cycles, 0x1p65);
}

TEST(calls_in_flight_are_counted_by_op) {
    struct aggstats_call calls[] = {{.op = "READ"}, {.op = "FSYNC"}, {.op = "READ"}};
    const struct aggstats_profile profile = {.in_flight = calls, .in_flight_count = 3};
    ck_assert_uint_eq(figures_in_flight(&profile, "READ"), 2);
    ck_assert_uint_eq(figures_in_flight(&profile, "FSYNC"), 1);
    ck_assert_uint_eq(figures_in_flight(&profile, "REA"), 0);
}
