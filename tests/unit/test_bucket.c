/* Buckets, against whole-number arithmetic: x >= 2^(b/r) exactly when x^r >= 2^b. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "aggstats.h"
#include "testing.h"

static const unsigned resolutions[] = {1, 2, 4, 8};

/* x^8 for 64-bit x: 512 bits, lowest limb first. */
struct wide {
    uint32_t limbs[16];
};

static struct wide wide_multiply(const struct wide *a, uint64_t b) {
    struct wide product = {0};
    const uint64_t factors[2] = {b & UINT32_MAX, b >> 32};
    for (int half = 0; half < 2; half++) {
        uint64_t carry = 0;
        for (int i = 0; i + half < 16; i++) {
            uint64_t sum = product.limbs[i + half] + a->limbs[i] * factors[half] + carry;
            product.limbs[i + half] = (uint32_t)sum;
            carry = sum >> 32;
        }
    }
    return product;
}

/* The slow truth: floor(log2(x^r)), the number of the highest bit set. */
static unsigned reference_bucket(uint64_t x, unsigned resolution) {
    struct wide power = {.limbs = {1}};
    for (unsigned i = 0; i < resolution; i++)
        power = wide_multiply(&power, x > 0 ? x : 1);
    int limb = 15;
    while (power.limbs[limb] == 0)
        limb--;
    return (unsigned)limb * 32 + 31 - (unsigned)__builtin_clz(power.limbs[limb]);
}

TEST_CASE(.seconds = 120);

TEST(bucket_of_zero_and_one_is_zero, .to = 4) {
    ck_assert_uint_eq(aggstats_bucket_of(0, resolutions[_i]), 0);
    ck_assert_uint_eq(aggstats_bucket_of(1, resolutions[_i]), 0);
}

TEST(largest_latency_falls_in_the_last_bucket, .to = 4) {
    ck_assert_uint_eq(aggstats_bucket_of(UINT64_MAX, resolutions[_i]), 64 * resolutions[_i] - 1);
}

TEST(small_latencies_fall_where_the_formula_says, .to = 4) {
    for (uint64_t x = 0; x < 20011; x++)
        ck_assert_uint_eq(aggstats_bucket_of(x, resolutions[_i]), reference_bucket(x, resolutions[_i]));
}

/* Around every border: the largest whole number below it and the smallest not below it, found by bisection. */
TEST(every_border_is_exact, .to = 4) {
    const unsigned resolution = resolutions[_i];
    for (unsigned bucket = 1; bucket < 64 * resolution; bucket++) {
        uint64_t below = 1;
        uint64_t above = UINT64_MAX;
        while (above - below > 1) { /* invariant: reference(below) < bucket <= reference(above) */
            uint64_t middle = below + (above - below) / 2;
            if (reference_bucket(middle, resolution) < bucket)
                below = middle;
            else
                above = middle;
        }
        ck_assert_uint_lt(aggstats_bucket_of(below, resolution), bucket);
        ck_assert_uint_ge(aggstats_bucket_of(above, resolution), bucket);
        ck_assert_uint_eq(aggstats_bucket_of(below, resolution), reference_bucket(below, resolution));
        ck_assert_uint_eq(aggstats_bucket_of(above, resolution), reference_bucket(above, resolution));
    }
}

TEST(scattered_latencies_fall_where_the_formula_says, .to = 4) {
    uint64_t state = 88172645463325252U;
    for (int i = 0; i < 30011; i++) {
        state ^= state << 13; /* xorshift: numbers of all lengths after the shift below */
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t x = state >> (i % 64);
        ck_assert_uint_eq(aggstats_bucket_of(x, resolutions[_i]), reference_bucket(x, resolutions[_i]));
    }
}

TEST(bounds_meet_and_hold_the_mean, .to = 4) {
    const unsigned resolution = resolutions[_i];
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        double lower = aggstats_bucket_lower(bucket, resolution);
        double upper = aggstats_bucket_upper(bucket, resolution);
        double mean = aggstats_bucket_mean(bucket, resolution);
        ck_assert_double_eq(upper, aggstats_bucket_lower(bucket + 1, resolution));
        ck_assert_double_eq_tol(upper / lower, pow(2, 1.0 / resolution), 1e-12);
        ck_assert_double_eq_tol(mean / lower, (1 + pow(2, 1.0 / resolution)) / 2, 1e-12);
    }
    ck_assert_double_eq(aggstats_bucket_lower(0, resolution), 1);
    ck_assert_double_eq(aggstats_bucket_upper(64 * resolution - 1, resolution), ldexp(1, 64));
}

TEST(mean_of_a_bucket_is_three_halves_of_its_lower_bound) {
    ck_assert_double_eq(aggstats_bucket_mean(0, 1), 1.5);
    ck_assert_double_eq(aggstats_bucket_mean(10, 1), 1536);
}

TEST(only_four_resolutions_are_valid) {
    for (unsigned resolution = 0; resolution < 300; resolution++) {
        bool expected = resolution == 1 || resolution == 2 || resolution == 4 || resolution == 8;
        ck_assert_int_eq(aggstats_resolution_valid(resolution), expected);
    }
}

TEST(every_bucket_has_a_slot_of_its_own, .to = 4) {
    const unsigned bucket_count = 64 * resolutions[_i];
    bool is_taken[AGGSTATS_BUCKETS_MAX] = {false};
    for (unsigned bucket = 0; bucket < bucket_count; bucket++) {
        unsigned slot = aggstats_slot(bucket, resolutions[_i]);
        ck_assert_uint_lt(slot, bucket_count);
        ck_assert(!is_taken[slot]);
        is_taken[slot] = true;
    }
}

TEST(calls_of_2_to_the_10_to_15_cycles_take_one_cache_line) {
    for (uint64_t latency_cycles = 1024; latency_cycles < 32768; latency_cycles++) {
        unsigned slot = aggstats_slot(aggstats_bucket_of(latency_cycles, 1), 1);
        ck_assert_uint_lt(offsetof(struct aggstats_counters, buckets) + slot * sizeof(uint64_t), 64);
    }
}
