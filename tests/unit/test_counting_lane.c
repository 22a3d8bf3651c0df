/* Calls that were counted in the kernel are those of a recorder, whatever its resolution. */
#include <string.h>

#include "counting_lane.h"
#include "testing.h"

static const char *const ops[] = {"READ", "WRITE"};
static struct aggstats_recorder *recorder;
static struct counting_lane lane;

static void open_lane(unsigned resolution) {
    const struct aggstats_recorder_options options = {
        .op_names = ops,
        .op_count = 2,
        .resolution = resolution,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1000000000}};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(counting_lane_open(&lane, recorder), 0);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
    recorder = NULL;
}

/* As the kernel does. */
static void count(struct collected *collected, uint64_t ns) {
    collected->buckets[collected_bucket(ns)]++;
    collected->total_ns += ns;
    if (ns > collected->longest_ns)
        collected->longest_ns = ns;
}

TEST_CASE(.tear_down = tear_down);

TEST(kernel_has_the_buckets_of_the_library) {
    for (unsigned shift = 0; shift < 64; shift++) {
        for (uint64_t eighth = 8; eighth < 16; eighth++) {
            for (uint64_t off = 0; off < 3; off++) {
                const uint64_t ns = (eighth << shift >> 3) + off - 1;
                ck_assert_uint_eq(collected_bucket(ns), aggstats_bucket_of(ns, COLLECTED_RESOLUTION));
            }
        }
    }
    /* on both sides of irrational borders */
    const uint64_t borders[] = {0x9837f0518db8a970, 0xb504f333f9de6485, 0xd744fccad69d6af5};
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(collected_bucket(borders[i]), 63 * 4 + i + 1);
        ck_assert_uint_eq(collected_bucket(borders[i] - 1), 63 * 4 + i);
    }
}

TEST(calls_are_in_the_buckets_of_the_recorder, .to = 4) {
    static const unsigned resolutions[] = {1, 2, 4, 8};
    const unsigned resolution = resolutions[_i];
    static const uint64_t latencies_ns[] = {0, 1, 700, 701, 90000, 3000000000, 400000000000};
    struct collected collected = {.total_ns = 0};
    struct aggstats_profile profile;
    open_lane(resolution);
    for (unsigned i = 0; i < 7; i++)
        count(&collected, latencies_ns[i]);
    counting_lane_add(&lane, 1, &collected, 1);
    counting_lane_add(&lane, 1, &collected, 2);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, 1);
    ck_assert_str_eq(profile.ops[0].name, "WRITE");
    ck_assert_uint_eq(profile.ops[0].calls, 14);
    ck_assert_uint_eq(profile.ops[0].total_cycles, 2 * UINT64_C(403000091402));
    ck_assert_uint_eq(profile.ops[0].longest_cycles, 400000000000);
    const unsigned coarse = resolution < COLLECTED_RESOLUTION ? resolution : COLLECTED_RESOLUTION;
    for (unsigned i = 2; i < 7; i++) /* at a finer resolution a call is in the first of the buckets that it may be in */
        ck_assert_uint_ge(profile.ops[0].buckets[aggstats_bucket_of(latencies_ns[i], coarse) * resolution / coarse], 2);
    aggstats_profile_finish(&profile);
}

TEST(failures_and_bytes_are_those_of_the_kernel) {
    struct collected collected = {
        .asked_bytes = 4096, .moved_bytes = 100, .failures = {[0] = 1, [2] = 3 /* ENOENT */, [133] = 1}};
    struct aggstats_profile profile;
    open_lane(4);
    for (unsigned i = 0; i < 5; i++)
        count(&collected, 700);
    counting_lane_add(&lane, 0, &collected, 1);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.ops[0].asked_bytes, 4096);
    ck_assert_uint_eq(profile.ops[0].moved_bytes, 100);
    ck_assert_uint_eq(aggstats_failed_calls(&profile.ops[0]), 5);
    ck_assert_uint_eq(profile.ops[0].failures[aggstats_failure_of_error(2)], 3);
    ck_assert_uint_eq(profile.ops[0].failures[AGGSTATS_FAILURES - 1], 2);
    aggstats_profile_finish(&profile);
}

TEST(what_has_no_lane_is_dropped) {
    struct collected collected = {.total_ns = 0};
    count(&collected, 7);
    counting_lane_add(&(struct counting_lane){.recorder = NULL}, 0, &collected, 1);
}
