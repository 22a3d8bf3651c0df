/* From two snapshots to the rows of osprof top. */
#include <string.h>

#include "base.h"
#include "testing.h"
#include "top_model.h"

static uint64_t read_buckets[64];
static uint64_t mkdir_buckets[64];
static uint64_t fsync_buckets[64];
static struct aggstats_op_profile ops[3];
static struct aggstats_call calls[3];
static struct aggstats_profile now;

/* Two ops with ended calls, and an op with hanging calls. */
static void set_up(void) {
    memset(read_buckets, 0, sizeof(read_buckets));
    memset(mkdir_buckets, 0, sizeof(mkdir_buckets));
    memset(fsync_buckets, 0, sizeof(fsync_buckets));
    read_buckets[10] = 13;
    read_buckets[12] = 2;
    mkdir_buckets[20] = 1;
    ops[0] = (struct aggstats_op_profile){"MKDIR", 1, 1500000, mkdir_buckets, NULL, 0};
    ops[1] = (struct aggstats_op_profile){"READ", 15, 30000, read_buckets, NULL, 0};
    ops[2] = (struct aggstats_op_profile){"FSYNC", 3, 0, fsync_buckets, NULL, 0};
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        calls[i] = (struct aggstats_call){.op = "FSYNC", .pid = 100 + i, .object = 7};
    calls[0].latency_cycles = 500;
    calls[1].latency_cycles = 70000;
    calls[2].latency_cycles = 500;
    now = (struct aggstats_profile){
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_TSC, .frequency_hz = 1000000000},
        .start_ns = 4711,
        .has_start = true,
        .elapsed_cycles = 5000000,
        .has_elapsed = true,
        .ops = ops,
        .op_count = ARRAY_SIZE(ops),
        .in_flight = calls,
        .in_flight_count = ARRAY_SIZE(calls),
    };
}

static struct aggstats_profile copy_of(const struct aggstats_profile *profile) {
    struct aggstats_profile copy;
    ck_assert_int_eq(aggstats_profile_copy(profile, &copy), 0);
    return copy;
}

static struct top_frame frame_of(const struct aggstats_profile *before) {
    struct top_frame frame;
    ck_assert_int_eq(top_frame_make(before, &now, &frame), 0);
    return frame;
}

/* The names of the ops in their order. */
static void assert_order(const struct top_frame *frame, const char *expected) {
    char names[128] = "";
    for (size_t i = 0; i < frame->op_count; i++)
        sprintf(names + strlen(names), "%s%s", i > 0 ? " " : "", frame->ops[i].profile->name);
    ck_assert_str_eq(names, expected);
}

TEST_CASE(.set_up = set_up);

TEST(without_an_earlier_snapshot_it_is_the_profile_from_its_beginning) {
    struct top_frame frame = frame_of(NULL);
    assert_order(&frame, "MKDIR READ FSYNC");
    ck_assert_uint_eq(frame.ended, 16);
    ck_assert_double_eq(frame.total_cycles, 1530000);
    ck_assert_uint_eq(frame.profile.elapsed_cycles, 5000000);
    const struct top_figures *row = &frame.ops[1].figures;
    ck_assert_uint_eq(row->ended, 15);
    ck_assert_double_eq(row->share, 30000 / 1530000.0);
    ck_assert_double_eq(row->mean_cycles, 2000);
    ck_assert_uint_eq(row->max_bucket, 12);
    top_frame_finish(&frame);
}

TEST(calls_that_ended_before_are_not_in_the_frame) {
    struct aggstats_profile before = copy_of(&now);
    read_buckets[12] = 5;
    ops[1].calls = 18;
    ops[1].total_cycles = 45000;
    now.elapsed_cycles = 7000000;
    struct top_frame frame = frame_of(&before);
    assert_order(&frame, "READ FSYNC");
    ck_assert_uint_eq(frame.ended, 3);
    ck_assert_uint_eq(frame.ops[0].figures.ended, 3);
    ck_assert_double_eq(frame.ops[0].figures.share, 1);
    ck_assert_double_eq(frame.ops[0].figures.mean_cycles, 5000);
    ck_assert_uint_eq(frame.profile.elapsed_cycles, 2000000);
    top_frame_finish(&frame);
    aggstats_profile_finish(&before);
}

TEST(a_call_counts_in_the_interval_in_which_it_ends) {
    struct aggstats_profile before = copy_of(&now);
    struct top_frame frame = frame_of(&before);
    assert_order(&frame, "FSYNC"); /* nothing but the calls that hang */
    ck_assert_uint_eq(frame.ops[0].figures.ended, 0);
    ck_assert_double_eq(frame.ops[0].figures.share, 0);
    top_frame_finish(&frame);

    fsync_buckets[16] = 3;
    ops[2].total_cycles = 200000;
    now.in_flight_count = 0;
    frame = frame_of(&before);
    ck_assert_uint_eq(frame.ops[0].figures.ended, 3);
    ck_assert_uint_eq(frame.ops[0].figures.max_bucket, 16);
    ck_assert_uint_eq(frame.call_count, 0);
    top_frame_finish(&frame);
    aggstats_profile_finish(&before);
}

TEST(the_oldest_call_in_flight_comes_first) {
    struct top_frame frame = frame_of(NULL);
    ck_assert_uint_eq(frame.call_count, 3);
    ck_assert_uint_eq(frame.calls[0]->pid, 101);
    ck_assert_uint_eq(frame.calls[1]->pid, 100);
    ck_assert_uint_eq(frame.calls[2]->pid, 102);
    top_frame_finish(&frame);
}

TEST(sums_over_operations_do_not_wrap) {
    read_buckets[10] = UINT64_MAX;
    read_buckets[12] = 0;
    mkdir_buckets[20] = UINT64_MAX;
    for (size_t i = 0; i < 2; i++) {
        ops[i].calls = ops[i].moved_bytes = UINT64_MAX;
        ops[i].failures[0] = UINT64_MAX;
    }
    struct top_frame frame = frame_of(NULL);
    const wide_count twice = 2 * (wide_count)UINT64_MAX;
    ck_assert(frame.ended == twice);
    ck_assert(frame.failed == twice);
    ck_assert(frame.moved_bytes == twice);
    top_frame_finish(&frame);
}

TEST(nothing_at_all_is_an_empty_frame) {
    struct aggstats_profile empty = now;
    empty.op_count = empty.in_flight_count = 0;
    struct top_frame frame;
    ck_assert_int_eq(top_frame_make(&empty, &empty, &frame), 0);
    ck_assert_uint_eq(frame.op_count, 0);
    ck_assert_uint_eq(frame.ended, 0);
    ck_assert_double_eq(frame.total_cycles, 0);
    top_frame_sort(&frame, TOP_BY_MEAN);
    top_frame_finish(&frame);
}

TEST(the_axis_is_over_all_that_was_ever_seen) {
    struct aggstats_profile before = copy_of(&now);
    struct top_frame frame = frame_of(&before);
    ck_assert_uint_ne(frame.seen_buckets[10], 0);
    ck_assert_uint_ne(frame.seen_buckets[20], 0);
    ck_assert_uint_eq(frame.seen_buckets[11], 0);
    top_frame_finish(&frame);
    aggstats_profile_finish(&before);
}

/* ---- Resets ---- */

TEST(a_reset_in_between_is_noticed_although_counts_grew) {
    struct aggstats_profile before = copy_of(&now);
    read_buckets[12] = 5;
    ops[1].calls = 18;
    now.start_ns++;
    struct top_frame frame = {.ended = 99};
    ck_assert(!top_is_one_recording(&before, &now));
    ck_assert_int_eq(top_frame_make(&before, &now, &frame), -ERANGE);
    ck_assert_uint_eq(frame.ended, 99);
    aggstats_profile_finish(&before);
}

TEST(counts_that_shrank_are_noticed) {
    struct aggstats_profile before = copy_of(&now);
    read_buckets[10]--;
    struct top_frame frame;
    ck_assert_int_eq(top_frame_make(&before, &now, &frame), -ERANGE);
    aggstats_profile_finish(&before);
}

TEST(another_resolution_is_another_recording) {
    struct aggstats_profile before = now;
    before.resolution = 2;
    ck_assert(!top_is_one_recording(&before, &now));
}

TEST(a_clock_rate_that_became_better_known_is_no_reset) {
    struct aggstats_profile before = copy_of(&now);
    now.clock.frequency_hz += now.clock.frequency_hz / 100;
    struct top_frame frame = frame_of(&before);
    ck_assert_uint_eq(frame.profile.clock.frequency_hz, now.clock.frequency_hz);
    top_frame_finish(&frame);
    aggstats_profile_finish(&before);
}

/* ---- Order ---- */

static const struct {
    enum top_order order;
    const char *names;
} orders[] = {
    {TOP_BY_SHARE, "MKDIR READ FSYNC"}, {TOP_BY_CALLS, "READ MKDIR FSYNC"}, {TOP_BY_MEAN, "MKDIR READ FSYNC"},
    {TOP_BY_MAX, "MKDIR READ FSYNC"},   {TOP_BY_NAME, "FSYNC MKDIR READ"},
};

TEST(operations_are_ordered, .to = ARRAY_SIZE(orders)) {
    struct top_frame frame = frame_of(NULL);
    top_frame_sort(&frame, orders[_i].order);
    assert_order(&frame, orders[_i].names);
    top_frame_finish(&frame);
}

TEST(equals_are_ordered_by_name_and_those_that_hang_come_last) {
    memset(mkdir_buckets, 0, sizeof(mkdir_buckets));
    memset(read_buckets, 0, sizeof(read_buckets));
    read_buckets[0] = mkdir_buckets[0] = 15;
    ops[0].calls = 15;
    ops[0].total_cycles = ops[1].total_cycles = 0;
    struct top_frame frame = frame_of(NULL);
    assert_order(&frame, "FSYNC MKDIR READ"); /* no latency at all: by name */
    top_frame_sort(&frame, TOP_BY_MAX);
    assert_order(&frame, "MKDIR READ FSYNC");
    top_frame_sort(&frame, TOP_BY_CALLS);
    assert_order(&frame, "MKDIR READ FSYNC");
    top_frame_finish(&frame);
}
