/* Lanes: calls that one thread begins and another ends count as those of threads do, and are seen in flight. */
#include <pthread.h>

#include "aggstats.h"
#include "aggstats/lane.h"
#include "testing.h"

#define START_CYCLES 1000000U
#define LATENCY_CYCLES 4096U

enum { OP_A, OP_B, OPS };

static struct aggstats_recorder *recorder;

static void set_up(void) {
    static const char *const names[OPS] = {"A", "B"};
    const struct aggstats_recorder_options options = {.op_names = names, .op_count = OPS, .resolution = 1};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
}

static struct aggstats_span begin(unsigned op, uint64_t object) {
    struct aggstats_block *lane = aggstats_lane_create(recorder);
    ck_assert_ptr_nonnull(lane);
    return aggstats_lane_begin(recorder, lane, op, object, 4711, 4712, START_CYCLES);
}

static void *end_in_thread(void *span) {
    const struct aggstats_outcome failed = {.error = 2, .has_bytes = true, .asked_bytes = 7};
    aggstats_end_at(recorder, span, START_CYCLES + LATENCY_CYCLES, &failed);
    return NULL;
}

static struct aggstats_profile snapshot(void) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    return profile;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(call_that_another_thread_ends_has_the_latency_that_was_told) {
    pthread_t thread;
    struct aggstats_span span = begin(OP_A, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, end_in_thread, &span), 0);
    pthread_join(thread, NULL);
    struct aggstats_profile profile = snapshot();
    ck_assert_uint_eq(profile.op_count, 1);
    ck_assert_uint_eq(profile.ops[0].calls, 1);
    ck_assert_uint_eq(profile.ops[0].total_cycles, LATENCY_CYCLES);
    ck_assert_uint_eq(profile.ops[0].buckets[12], 1);
    ck_assert_uint_eq(profile.ops[0].longest_cycles, LATENCY_CYCLES);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    aggstats_profile_finish(&profile);
}

TEST(calls_that_overlap_are_all_in_flight) {
    struct aggstats_span first = begin(OP_A, 11);
    begin(OP_B, 13);
    begin(OP_B, 17);
    end_in_thread(&first);
    struct aggstats_profile profile = snapshot();
    ck_assert_uint_eq(profile.in_flight_count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(profile.in_flight[i].pid, 4711);
        ck_assert(profile.in_flight[i].object == 13 || profile.in_flight[i].object == 17);
    }
    aggstats_profile_finish(&profile);
}

TEST(lane_is_not_given_to_a_thread) {
    struct aggstats_span in_lane = begin(OP_A, 19);
    struct aggstats_span of_thread = aggstats_begin(recorder, OP_B, 23, 29);
    ck_assert_ptr_ne(in_lane.block, of_thread.block);
    aggstats_end(recorder, &of_thread);
    end_in_thread(&in_lane);
    struct aggstats_profile profile = snapshot();
    ck_assert_uint_eq(profile.op_count, 2);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    aggstats_profile_finish(&profile);
}

/* Also of a window that has begun since: no window has less finished calls than calls. */
TEST(call_that_is_forgotten_is_in_no_window) {
    struct aggstats_span ended = begin(OP_A, 31);
    struct aggstats_span forgotten = begin(OP_A, 37);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    aggstats_lane_forget(&forgotten);
    end_in_thread(&ended);
    struct aggstats_profile profile = snapshot();
    ck_assert_uint_eq(profile.op_count, 1);
    ck_assert_uint_eq(profile.ops[0].calls, 1);
    ck_assert_uint_eq(profile.ops[0].buckets[12], 1);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    profile = snapshot();
    ck_assert_uint_eq(profile.op_count, 0);
    aggstats_profile_finish(&profile);
}

static bool is_incomplete(void) {
    struct aggstats_profile profile = snapshot();
    const bool incomplete = profile.incomplete;
    aggstats_profile_finish(&profile);
    return incomplete;
}

static int save(void *context, const struct aggstats_profile *profile) {
    *(bool *)context = profile->incomplete;
    return 0;
}

TEST(profile_is_incomplete_in_the_window_in_which_calls_were_lost) {
    bool was_incomplete = false;
    ck_assert(!is_incomplete());
    aggstats_recorder_add_lost(recorder, 3);
    ck_assert(is_incomplete());
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    ck_assert(!is_incomplete());
    aggstats_recorder_add_lost(recorder, 5);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, save, &was_incomplete), 0);
    ck_assert(was_incomplete);
    ck_assert(!is_incomplete());
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    aggstats_recorder_add_lost(recorder, 7);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    ck_assert(!is_incomplete());
}

/* 3 of bucket 10 and 2 of bucket 12. */
static void count_five(struct aggstats_block *lane, uint64_t total_cycles) {
    const uint64_t buckets[64] = {[10] = 3, [12] = 2};
    const struct aggstats_counted counted = {
        .buckets = buckets, .total_cycles = total_cycles, .seen_cycles = START_CYCLES};
    aggstats_lane_count(recorder, lane, OP_B, &counted);
}

TEST(calls_that_were_counted_elsewhere_add_up_and_none_is_said_to_be_the_longest) {
    struct aggstats_block *lane = aggstats_lane_create(recorder);
    count_five(lane, 12000);
    count_five(lane, 13000);
    struct aggstats_profile profile = snapshot();
    ck_assert_uint_eq(profile.op_count, 1);
    ck_assert_str_eq(profile.ops[0].name, "B");
    ck_assert_uint_eq(profile.ops[0].calls, 10);
    ck_assert_uint_eq(profile.ops[0].buckets[10], 6);
    ck_assert_uint_eq(profile.ops[0].buckets[12], 4);
    ck_assert_uint_eq(profile.ops[0].total_cycles, 25000);
    ck_assert_uint_eq(profile.ops[0].longest_cycles, 0);
    ck_assert_uint_eq(profile.clamped, 0);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    aggstats_profile_finish(&profile);
}

TEST(longest_of_calls_that_were_counted_elsewhere_is_kept_if_it_is_known) {
    struct aggstats_block *lane = aggstats_lane_create(recorder);
    const uint64_t buckets[64] = {[12] = 2};
    struct aggstats_counted counted = {.buckets = buckets, .total_cycles = 12000, .longest_cycles = 7000};
    aggstats_lane_count(recorder, lane, OP_B, &counted);
    counted.longest_cycles = 6500;
    aggstats_lane_count(recorder, lane, OP_B, &counted);
    struct aggstats_profile profile = snapshot();
    ck_assert_uint_eq(profile.ops[0].calls, 4);
    ck_assert_uint_eq(profile.ops[0].longest_cycles, 7000);
    aggstats_profile_finish(&profile);
}

TEST(calls_that_were_counted_elsewhere_are_of_the_window_in_which_they_are_added) {
    struct aggstats_block *lane = aggstats_lane_create(recorder);
    const uint64_t buckets[64] = {[0] = 7};
    const struct aggstats_counted counted = {.buckets = buckets, .total_cycles = 5, .clamped = 2};
    count_five(lane, 12000);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    aggstats_lane_count(recorder, lane, OP_A, &counted);
    struct aggstats_profile profile = snapshot();
    ck_assert_uint_eq(profile.op_count, 1);
    ck_assert_str_eq(profile.ops[0].name, "A");
    ck_assert_uint_eq(profile.ops[0].calls, 7);
    ck_assert_uint_eq(profile.ops[0].total_cycles, 5);
    ck_assert_uint_eq(profile.clamped, 2);
    aggstats_profile_finish(&profile);
}
