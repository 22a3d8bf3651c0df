/* Joint profiles: that every call is there once, in the row of its value and the bucket of its latency. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "aggstats.h"
#include "aggstats/joint_profiles.h"
#include "testing.h"

enum { OP_READ, OP_LOOKUP, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "LOOKUP"};

static struct aggstats_recorder *create_recorder(unsigned resolution) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = resolution};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    return recorder;
}

static void record(struct aggstats_recorder *recorder, enum aggstats_value value, uint64_t number) {
    struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, 1);
    aggstats_joint_add(recorder, OP_READ, value, number, aggstats_end(recorder, &span));
}

static struct aggstats_profile take_snapshot(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    return profile;
}

static uint64_t calls_in_row(const struct aggstats_joint_profile *joint, unsigned row) {
    uint64_t calls = 0;
    for (size_t at = 0; at < joint->cell_count; at++)
        if (joint->cells[at].row == row)
            calls += joint->cells[at].count;
    return calls;
}

static void sum_columns(const struct aggstats_joint_profile *joint, uint64_t ret_sums[AGGSTATS_BUCKETS_MAX]) {
    for (unsigned bucket = 0; bucket < AGGSTATS_BUCKETS_MAX; bucket++)
        ret_sums[bucket] = 0;
    for (size_t at = 0; at < joint->cell_count; at++)
        ret_sums[joint->cells[at].bucket] += joint->cells[at].count;
}

/* What is in the columns is what is in the op's buckets. */
static void expect_marginals(const struct aggstats_profile *profile, const struct aggstats_joint_profile *joint) {
    uint64_t sums[AGGSTATS_BUCKETS_MAX];
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, joint->op);
    sum_columns(joint, sums);
    for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
        ck_assert_uint_eq(sums[bucket], op->buckets[bucket]);
}

/* While calls end it may lag behind, but never holds more. */
static void expect_contained(const struct aggstats_profile *profile) {
    uint64_t sums[AGGSTATS_BUCKETS_MAX];
    for (size_t i = 0; i < profile->joint_count; i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(profile, profile->joints[i].op);
        sum_columns(&profile->joints[i], sums);
        for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
            ck_assert_uint_le(sums[bucket], op->buckets[bucket]);
    }
}

TEST_CASE(.seconds = 120);

TEST(rows_are_powers_of_two_or_numbers) {
    ck_assert_uint_eq(aggstats_value_row(AGGSTATS_SIZE, 0), 0);
    for (unsigned power = 0; power < 64; power++) {
        uint64_t number = UINT64_C(1) << power;
        ck_assert_uint_eq(aggstats_value_row(AGGSTATS_SIZE, number), power + 1);
        ck_assert_uint_eq(aggstats_value_row(AGGSTATS_SIZE, number + (number - 1)), power + 1);
        ck_assert_uint_eq(aggstats_value_first(AGGSTATS_SIZE, power + 1), number);
    }
    ck_assert_uint_eq(aggstats_value_row(AGGSTATS_ERROR, ENOENT), ENOENT);
    ck_assert_uint_eq(aggstats_value_row(AGGSTATS_ERROR, EHWPOISON), EHWPOISON);
    ck_assert_uint_eq(aggstats_value_row(AGGSTATS_ERROR, 100000), aggstats_value_rows(AGGSTATS_ERROR) - 1);
    ck_assert_uint_eq(aggstats_value_row(AGGSTATS_PAST_EOF, 1), 1);
    for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++) {
        ck_assert_uint_le(aggstats_value_rows((enum aggstats_value)value), AGGSTATS_VALUE_ROWS_MAX);
        ck_assert_int_eq(aggstats_value_of_name(aggstats_value_name(value)), (int)value);
    }
    ck_assert_int_eq(aggstats_value_of_name("past_eof"), AGGSTATS_PAST_EOF);
    ck_assert_int_eq(aggstats_value_of_name("taste"), -1);
    ck_assert_ptr_null(aggstats_value_name(AGGSTATS_VALUE_COUNT));
}

TEST(calls_are_counted_while_asked_for) {
    struct aggstats_recorder *recorder = create_recorder(1);
    record(recorder, AGGSTATS_SIZE, 4096);
    ck_assert_int_eq(aggstats_recorder_set_joint(recorder, OP_READ, 1U << AGGSTATS_SIZE), 0);
    record(recorder, AGGSTATS_SIZE, 4096);
    record(recorder, AGGSTATS_SIZE, 0);
    record(recorder, AGGSTATS_OFFSET, 7); /* nobody wants to know */
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.joint_count, 1);
    ck_assert_str_eq(profile.joints[0].op, "READ");
    ck_assert_int_eq(profile.joints[0].value, AGGSTATS_SIZE);
    ck_assert_uint_eq(calls_in_row(&profile.joints[0], 13), 1);
    ck_assert_uint_eq(calls_in_row(&profile.joints[0], 0), 1);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_set_joint(recorder, OP_READ, 0), 0);
    record(recorder, AGGSTATS_SIZE, 4096);
    profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.joint_count, 0);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_set_joint(recorder, OP_READ, 1U << AGGSTATS_SIZE), 0);
    record(recorder, AGGSTATS_SIZE, 1);
    profile = take_snapshot(recorder); /* begins anew */
    ck_assert_uint_eq(profile.joints[0].cell_count, 1);
    ck_assert_uint_eq(calls_in_row(&profile.joints[0], 1), 1);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_set_joint(recorder, OP_COUNT, 0), -EINVAL);
    ck_assert_int_eq(aggstats_recorder_set_joint(recorder, OP_READ, 1U << AGGSTATS_VALUE_COUNT), -EINVAL);
    aggstats_recorder_destroy(recorder);
}

TEST(reset_and_pause_hold_for_them_too) {
    struct aggstats_recorder *recorder = create_recorder(1);
    ck_assert_int_eq(aggstats_recorder_set_joint(recorder, OP_READ, 1U << AGGSTATS_SIZE), 0);
    record(recorder, AGGSTATS_SIZE, 1);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    record(recorder, AGGSTATS_SIZE, 2);
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    record(recorder, AGGSTATS_SIZE, 4);
    struct aggstats_profile paused = take_snapshot(recorder);
    ck_assert_uint_eq(paused.joints[0].cell_count, 1);
    ck_assert_uint_eq(calls_in_row(&paused.joints[0], 2), 1);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    record(recorder, AGGSTATS_SIZE, 8);
    struct aggstats_profile resumed = take_snapshot(recorder);
    ck_assert_uint_eq(calls_in_row(&resumed.joints[0], 3), 0);
    ck_assert_uint_eq(calls_in_row(&resumed.joints[0], 4), 1);
    expect_marginals(&resumed, &resumed.joints[0]);
    aggstats_profile_finish(&paused);
    aggstats_profile_finish(&resumed);
    aggstats_recorder_destroy(recorder);
}

static struct aggstats_recorder *shared;

static bool done; /* atomic */

static void *record_until_done(void *unused) {
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        record(shared, AGGSTATS_SIZE, 1);
    return unused;
}

TEST(windows_hold_no_more_than_their_op) {
    pthread_t threads[3];
    __atomic_store_n(&done, false, __ATOMIC_RELEASE);
    shared = create_recorder(1);
    ck_assert_int_eq(aggstats_recorder_set_joint(shared, OP_READ, 1U << AGGSTATS_SIZE), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_until_done, NULL), 0);
    for (int i = 0; i < 500; i++) {
        ck_assert_int_eq(i % 3 ? aggstats_recorder_pause(shared) : aggstats_recorder_reset(shared), 0);
        struct aggstats_profile profile = take_snapshot(shared);
        expect_contained(&profile);
        aggstats_profile_finish(&profile);
        ck_assert_int_eq(aggstats_recorder_resume(shared), 0);
    }
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    aggstats_recorder_destroy(shared);
}

static void *record_much(void *unused) {
    for (uint64_t i = 0; i < 200000; i++)
        record(shared, AGGSTATS_SIZE, i % 5000);
    return unused;
}

TEST(no_call_is_lost_with_many_threads, .to = 2) {
    pthread_t threads[4];
    shared = create_recorder(_i ? 8 : 1);
    ck_assert_int_eq(aggstats_recorder_set_joint(shared, OP_READ, 1U << AGGSTATS_SIZE), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_much, NULL), 0);
    for (int i = 0; i < 200; i++) {
        struct aggstats_profile profile = take_snapshot(shared);
        expect_contained(&profile);
        aggstats_profile_finish(&profile);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    struct aggstats_profile profile = take_snapshot(shared);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 800000);
    expect_marginals(&profile, &profile.joints[0]);
    ck_assert_uint_eq(calls_in_row(&profile.joints[0], 0), 160);
    ck_assert_int_eq(aggstats_profile_coarsen(&profile, 1), 0);
    expect_marginals(&profile, &profile.joints[0]);
    struct aggstats_profile twice;
    ck_assert_int_eq(aggstats_profile_copy(&profile, &twice), 0);
    ck_assert_int_eq(aggstats_profile_add(&twice, &profile), 0);
    expect_marginals(&twice, &twice.joints[0]);
    ck_assert_uint_eq(calls_in_row(&twice.joints[0], 0), 320);
    aggstats_profile_finish(&twice);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(shared);
}
