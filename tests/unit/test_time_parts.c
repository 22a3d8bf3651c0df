/* Where the time went: parts that add up, and bounds that are none the wrong way. */
#include <stdio.h>
#include <string.h>

#include "answer_model.h"
#include "base.h"
#include "histograms.h"
#include "testing.h"
#include "time_parts.h"

#define OPS_MAX 8
#define S UINT64_C(1000000000)

static struct histogram histograms[OPS_MAX];
static struct aggstats_op_profile ops[OPS_MAX];
static struct aggstats_profile profile; /* 1 GHz: cycles are nanoseconds */
static struct time_parts parts;

static void set_up(void) {
    memset(ops, 0, sizeof(ops));
    profile = (struct aggstats_profile){
        .resolution = 1, .clock = {.kind = AGGSTATS_CLOCK_TSC, .frequency_hz = S}, .ops = ops};
}

/* An operation with one call. Call with the largest first. */
static void add_op(const char *name, uint64_t total_cycles) {
    struct histogram *histogram = &histograms[profile.op_count];
    struct aggstats_op_profile *op = &ops[profile.op_count++];
    ck_assert_uint_le(profile.op_count, OPS_MAX);
    histogram_init(histogram);
    histogram_add(histogram, aggstats_bucket_of(total_cycles, 1), 1, 1);
    *op = histogram->op;
    snprintf(op->name, sizeof(op->name), "%s", name);
    op->total_cycles = total_cycles;
}

static void elapse(uint64_t cycles) {
    profile.has_elapsed = true;
    profile.elapsed_cycles = cycles;
}

static void use_cpu(uint64_t user_ns, uint64_t system_ns) {
    profile.has_cpu = true;
    profile.user_ns = user_ns;
    profile.system_ns = system_ns;
}

static void wait_for_cpu(uint64_t ns) {
    profile.has_queue = true;
    profile.queue_ns = ns;
}

/* Checks what is true of all. */
static void make(void) {
    struct answer_model model;
    double sum = 0;
    answer_model_make(&profile, NULL, 0, &model);
    time_parts_make(&profile, &model, &parts);
    for (size_t i = 0; i < parts.count; i++) {
        ck_assert_double_gt(parts.parts[i].cycles, 0);
        sum += parts.parts[i].cycles;
    }
    ck_assert_double_eq_tol(sum, parts.whole_cycles, 1);
}

static void check_part(size_t i, enum time_part_kind kind, enum time_part_bound bound, double cycles) {
    ck_assert_uint_lt(i, parts.count);
    ck_assert_int_eq(parts.parts[i].kind, kind);
    ck_assert_int_eq(parts.parts[i].bound, bound);
    ck_assert_double_eq_tol(parts.parts[i].cycles, cycles, 1);
}

TEST_CASE(.set_up = set_up);

TEST(nothing_has_no_parts) {
    make();
    ck_assert_uint_eq(parts.count, 0);
    ck_assert_double_eq(parts.whole_cycles, 0);
}

TEST(without_calls_all_of_the_wall_time_is_outside) {
    elapse(S);
    make();
    ck_assert_uint_eq(parts.count, 1);
    check_part(0, TIME_OUTSIDE, TIME_AT_LEAST, S);
}

TEST(calls_that_may_overlap_bound_their_part_of_the_wall_time) {
    add_op("READ", S);
    add_op("WRITE", S / 2);
    elapse(4 * S);
    make();
    ck_assert(parts.is_wall && parts.may_overlap);
    ck_assert_uint_eq(parts.count, 3);
    check_part(0, TIME_OP, TIME_AT_MOST, S);
    check_part(1, TIME_OP, TIME_AT_MOST, S / 2);
    check_part(2, TIME_OUTSIDE, TIME_AT_LEAST, 2.5 * S);
    ck_assert_str_eq(parts.parts[1].op->name, "WRITE");
}

TEST(of_latency_beyond_the_wall_time_the_bar_is_latency) {
    add_op("READ", 3 * S);
    add_op("WRITE", 2 * S);
    elapse(4 * S);
    use_cpu(S, S);
    make();
    ck_assert(!parts.is_wall);
    ck_assert_uint_eq(parts.count, 2);
    check_part(0, TIME_OP, TIME_EXACT, 3 * S);
    check_part(1, TIME_OP, TIME_EXACT, 2 * S);
}

TEST(latency_as_long_as_the_wall_time_leaves_nothing) {
    add_op("READ", 4 * S);
    elapse(4 * S);
    make();
    ck_assert(parts.is_wall);
    ck_assert_uint_eq(parts.count, 1);
}

TEST(without_a_wall_time_the_bar_is_latency) {
    add_op("READ", S);
    make();
    ck_assert(!parts.is_wall);
    check_part(0, TIME_OP, TIME_EXACT, S);
}

TEST(small_operations_are_one_part) {
    static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        add_op(names[i], i < 3 ? S : S / 1000);
    make();
    ck_assert_uint_eq(parts.count, 4);
    check_part(3, TIME_OTHER_OPS, TIME_EXACT, 4 * S / 1000.0);
    ck_assert_uint_eq(parts.parts[3].op_count, 4);
}

TEST(at_most_five_operations_are_named_and_one_more) {
    static const char *const names[] = {"A", "B", "C", "D", "E", "F"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        add_op(names[i], S);
    make();
    ck_assert_uint_eq(parts.count, 6);
    check_part(5, TIME_OP, TIME_EXACT, S);
    ck_assert_str_eq(parts.parts[5].op->name, "F");
}

TEST(one_thread_whose_cpu_time_is_its_own_has_exact_parts) {
    add_op("READ", S);
    elapse(10 * S);
    use_cpu(4 * S, S / 20); /* the system time may be within calls, or not */
    wait_for_cpu(2 * S);
    make();
    ck_assert(parts.is_wall && !parts.may_overlap);
    ck_assert_uint_eq(parts.count, 4);
    check_part(0, TIME_OP, TIME_EXACT, S);
    check_part(1, TIME_CPU, TIME_EXACT, 4.025 * S);
    check_part(2, TIME_QUEUE, TIME_AT_MOST, 2 * S);
    check_part(3, TIME_WAITS, TIME_AT_LEAST, 2.975 * S);
}

TEST(one_thread_that_did_not_wait_for_a_cpu_has_exact_waits) {
    add_op("READ", S);
    elapse(10 * S);
    use_cpu(4 * S, 0);
    wait_for_cpu(S / 100);
    make();
    ck_assert_uint_eq(parts.count, 3);
    check_part(1, TIME_CPU, TIME_EXACT, 4 * S);
    check_part(2, TIME_WAITS, TIME_EXACT, 5 * S);
}

TEST(cpu_time_that_may_be_within_calls_is_a_part_of_its_own) {
    add_op("READ", 3 * S);
    elapse(10 * S);
    use_cpu(2 * S, 3 * S);
    wait_for_cpu(S);
    make();
    ck_assert_uint_eq(parts.count, 4);
    check_part(1, TIME_CPU, TIME_AT_LEAST, 2 * S);
    check_part(2, TIME_CPU_OR_WAITS, TIME_EXACT, 4 * S);
    check_part(3, TIME_WAITS, TIME_AT_LEAST, S);
    ck_assert_double_eq_tol(parts.queued_most, S, 1);
}

TEST(waiting_for_a_cpu_is_no_longer_than_the_rest) {
    add_op("READ", S);
    elapse(4 * S);
    use_cpu(S, 0);
    wait_for_cpu(100 * S);
    make();
    ck_assert_uint_eq(parts.count, 3);
    check_part(1, TIME_CPU, TIME_EXACT, S);
    check_part(2, TIME_QUEUE, TIME_AT_MOST, 2 * S);
}

TEST(the_cpu_time_of_several_threads_is_a_bound) {
    add_op("READ", S);
    elapse(10 * S);
    use_cpu(2 * S, S);
    make();
    ck_assert_uint_eq(parts.count, 3);
    check_part(0, TIME_OP, TIME_AT_MOST, S);
    check_part(1, TIME_CPU, TIME_AT_MOST, 3 * S);
    check_part(2, TIME_QUEUE_WAITS, TIME_AT_LEAST, 6 * S);
}

TEST(cpu_time_beyond_the_rest_divides_nothing) {
    add_op("READ", S);
    elapse(4 * S);
    use_cpu(9 * S, 0);
    make();
    ck_assert_uint_eq(parts.count, 2);
    check_part(1, TIME_OUTSIDE, TIME_AT_LEAST, 3 * S);
}

TEST(calls_one_at_a_time_are_exact) {
    add_op("READ", S);
    elapse(2 * S);
    profile.busy = (struct aggstats_busy){.looks = 100, .busy = 50, .most = 1};
    make();
    ck_assert(!parts.may_overlap);
    check_part(0, TIME_OP, TIME_EXACT, S);
    check_part(1, TIME_OUTSIDE, TIME_EXACT, S);
}

TEST(two_calls_at_once_are_not_those_of_one_thread) {
    add_op("READ", S);
    elapse(10 * S);
    use_cpu(4 * S, 0);
    wait_for_cpu(S);
    profile.busy = (struct aggstats_busy){.looks = 100, .busy = 10, .most = 2};
    make();
    ck_assert(parts.may_overlap);
    check_part(0, TIME_OP, TIME_AT_MOST, S);
    check_part(1, TIME_OUTSIDE, TIME_AT_LEAST, 9 * S);
}

TEST(what_was_not_measured_is_outside) {
    add_op("READ", S);
    elapse(10 * S);
    use_cpu(4 * S, 0);
    wait_for_cpu(S);
    make();
    ck_assert(!parts.has_unmeasured);
    profile.not_seen[AGGSTATS_UNSEEN_STATIC] = 1;
    make();
    ck_assert(parts.has_unmeasured);
    ck_assert_uint_eq(parts.count, 2);
    check_part(1, TIME_OUTSIDE, TIME_EXACT, 9 * S);
    profile.not_seen[AGGSTATS_UNSEEN_STATIC] = 0;
    ops[0].left_calls = 1;
    make();
    ck_assert(parts.has_unmeasured);
    check_part(1, TIME_OUTSIDE, TIME_EXACT, 9 * S);
}
