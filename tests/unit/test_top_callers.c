/* From two snapshots to the callers of osprof top: what was called in between, and nothing else. */
#include <string.h>

#include "base.h"
#include "testing.h"
#include "top_callers.h"

#define GROUPS_MAX 8

/* A snapshot that is being made: each group has calls of READ in bucket 10 (1,500 cycles each) and of FSYNC in 20. */
struct snapshot {
    struct aggstats_profile profile;
    struct aggstats_group groups[GROUPS_MAX];
    struct aggstats_op_profile ops[GROUPS_MAX + 1][2];
    uint64_t buckets[GROUPS_MAX + 1][2][64];
};

static struct snapshot before, now;

static void set_ops(struct snapshot *snapshot, size_t place, uint64_t reads, uint64_t fsyncs) {
    snapshot->buckets[place][0][10] = reads;
    snapshot->buckets[place][1][20] = fsyncs;
    snapshot->ops[place][0] =
        (struct aggstats_op_profile){"READ", reads, 1500 * reads, snapshot->buckets[place][0], NULL, 0};
    snapshot->ops[place][1] =
        (struct aggstats_op_profile){"FSYNC", fsyncs, 1500000 * fsyncs, snapshot->buckets[place][1], NULL, 0};
}

static void init(struct snapshot *snapshot, uint64_t elapsed_cycles) {
    memset(snapshot, 0, sizeof(*snapshot));
    set_ops(snapshot, GROUPS_MAX, 0, 0);
    snapshot->profile = (struct aggstats_profile){
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_TSC, .frequency_hz = 1000000000},
        .start_ns = 4711,
        .has_start = true,
        .elapsed_cycles = elapsed_cycles,
        .has_elapsed = true,
        .ops = snapshot->ops[GROUPS_MAX],
        .op_count = 2,
        .groupings = 1U << AGGSTATS_BY_PROCESS,
        .groups = snapshot->groups,
    };
}

static void set_up(void) {
    init(&before, 5000000);
    init(&now, 7000000);
}

/* all: the calls of the whole profile, of which those of the groups are a part */
static void add(struct snapshot *snapshot, enum aggstats_who who, uint64_t id, const char *name, uint64_t reads,
                uint64_t fsyncs) {
    size_t place = snapshot->profile.group_count++;
    struct aggstats_group *group = &snapshot->groups[place];
    set_ops(snapshot, place, reads, fsyncs);
    set_ops(snapshot, GROUPS_MAX, snapshot->ops[GROUPS_MAX][0].calls + reads,
            snapshot->ops[GROUPS_MAX][1].calls + fsyncs);
    *group = (struct aggstats_group){.grouping = AGGSTATS_BY_PROCESS, .who = who, .id = id};
    snprintf(group->name, sizeof(group->name), "%s", name);
    group->profile = (struct aggstats_profile){
        .resolution = 1, .clock = snapshot->profile.clock, .ops = snapshot->ops[place], .op_count = fsyncs > 0 ? 2 : 1};
}

static void add_process(struct snapshot *snapshot, uint64_t id, const char *name, uint64_t reads) {
    add(snapshot, AGGSTATS_WHO_ID, id, name, reads, 0);
}

/* "grep 4711: 3, kernel: 5": whose calls there were, in the order of rows. */
static void assert_rows(const struct aggstats_profile *earlier, enum top_order order, const char *expected) {
    struct top_callers_frame frame;
    char text[256] = "";
    ck_assert_int_eq(top_callers_frame_make(earlier, &now.profile, AGGSTATS_BY_PROCESS, &frame), 0);
    top_callers_frame_sort(&frame, order);
    for (size_t i = 0; i < frame.row_count; i++) {
        const struct top_caller *row = &frame.rows[i];
        sprintf(text + strlen(text), "%s%s", i > 0 ? ", " : "", row->figures.name);
        if (row->group->who == AGGSTATS_WHO_ID)
            sprintf(text + strlen(text), " %d", (int)row->group->id);
        sprintf(text + strlen(text), ": %d", (int)row->figures.ended);
    }
    ck_assert_str_eq(text, expected);
    top_callers_frame_finish(&frame);
}

TEST_CASE(.set_up = set_up);

TEST(without_an_earlier_snapshot_all_calls_are_shown) {
    add(&now, AGGSTATS_WHO_ID, 10, "dd", 7, 2);
    add(&now, AGGSTATS_WHO_KERNEL, 0, "", 5, 0);
    struct top_callers_frame frame;
    ck_assert_int_eq(top_callers_frame_make(NULL, &now.profile, AGGSTATS_BY_PROCESS, &frame), 0);
    ck_assert_uint_eq(frame.row_count, 2);
    const struct top_figures *figures = &frame.rows[0].figures;
    ck_assert_str_eq(figures->name, "dd");
    ck_assert_uint_eq(figures->ended, 9);
    ck_assert_double_eq(figures->total_cycles, 3010500);
    ck_assert_double_eq(figures->mean_cycles, 3010500 / 9.0);
    ck_assert_double_eq(figures->share, 3010500 / 3018000.0);
    ck_assert_uint_eq(figures->max_bucket, 20);
    ck_assert_uint_eq(frame.profile.elapsed_cycles, 7000000);
    top_callers_frame_finish(&frame);
}

TEST(only_those_who_called_in_between_are_shown_with_these_calls) {
    add_process(&before, 10, "grep", 100);
    add_process(&before, 11, "idle", 400);
    add(&before, AGGSTATS_WHO_KERNEL, 0, "", 50, 0);
    add_process(&now, 10, "grep", 103);
    add_process(&now, 11, "idle", 400);
    add(&now, AGGSTATS_WHO_KERNEL, 0, "", 55, 0);
    add_process(&now, 12, "new", 2);
    assert_rows(&before.profile, TOP_BY_SHARE, "kernel: 5, grep 10: 3, new 12: 2");
    assert_rows(&before.profile, TOP_BY_NAME, "grep 10: 3, kernel: 5, new 12: 2");
}

TEST(ops_that_were_not_called_in_between_are_gone) {
    add(&before, AGGSTATS_WHO_ID, 10, "dd", 1, 9);
    add(&now, AGGSTATS_WHO_ID, 10, "dd", 4, 9);
    struct top_callers_frame frame;
    ck_assert_int_eq(top_callers_frame_make(&before.profile, &now.profile, AGGSTATS_BY_PROCESS, &frame), 0);
    ck_assert_uint_eq(frame.rows[0].group->profile.op_count, 1);
    ck_assert_str_eq(frame.rows[0].group->profile.ops[0].name, "READ");
    ck_assert_uint_eq(frame.rows[0].figures.max_bucket, 10);
    ck_assert_double_eq(frame.rows[0].figures.share, 1);
    ck_assert_uint_eq(frame.profile.elapsed_cycles, 2000000);
    top_callers_frame_finish(&frame);
}

TEST(another_name_makes_no_other_process) {
    add_process(&before, 10, "sh", 100);
    add_process(&now, 10, "grep", 105);
    assert_rows(&before.profile, TOP_BY_SHARE, "grep 10: 5");
}

TEST(two_processes_may_have_had_one_number) {
    add_process(&before, 10, "sh", 1000);
    add_process(&now, 10, "sh", 7000); /* the new one, although it comes first */
    add_process(&now, 10, "sh", 1000);
    assert_rows(&before.profile, TOP_BY_SHARE, "sh 10: 7000");
    init(&before, 5000000);
    add_process(&before, 10, "sh", 6000);
    add_process(&before, 10, "sh", 1000);
    assert_rows(&before.profile, TOP_BY_SHARE, "sh 10: 1000");
}

TEST(who_was_added_to_the_others_has_not_called_again) {
    add_process(&before, 10, "sh", 1000);
    add_process(&before, 11, "ls", 30);
    add(&before, AGGSTATS_WHO_OTHER, 0, "", 200, 0);
    add_process(&now, 11, "ls", 32);
    add(&now, AGGSTATS_WHO_OTHER, 0, "", 1207, 0);
    assert_rows(&before.profile, TOP_BY_SHARE, "other: 7, ls 11: 2"); /* it may have made these seven first */
}

TEST(the_first_who_are_added_make_the_others) {
    add_process(&before, 10, "sh", 1000);
    add_process(&before, 11, "ls", 500);
    add(&now, AGGSTATS_WHO_OTHER, 0, "", 1500, 0);
    assert_rows(&before.profile, TOP_BY_SHARE, "");
}

TEST(who_was_added_to_the_others_may_begin_anew) {
    add_process(&before, 10, "sh", 1000);
    add_process(&now, 10, "sh", 3);
    add(&now, AGGSTATS_WHO_OTHER, 0, "", 1000, 0);
    assert_rows(&before.profile, TOP_BY_SHARE, "sh 10: 3");
}

TEST(calls_that_came_to_another_group_are_no_new_calls_of_the_others) {
    add_process(&before, 4712, "", 2); /* a thread, until it was known whose */
    add_process(&before, 4711, "java", 50);
    add(&before, AGGSTATS_WHO_OTHER, 0, "", 200, 0);
    add_process(&now, 4711, "java", 52);
    add(&now, AGGSTATS_WHO_OTHER, 0, "", 200, 0);
    assert_rows(&before.profile, TOP_BY_SHARE, "java 4711: 2");
}

TEST(who_is_told_a_few_calls_less_has_not_begun_anew) {
    add_process(&before, 10, "busy", 1000);
    add_process(&before, 11, "idle", 900000);
    add_process(&now, 10, "busy", 1500);
    add_process(&now, 11, "idle", 899980);
    assert_rows(&before.profile, TOP_BY_SHARE, "busy 10: 500");
}

TEST(totals_are_such_as_the_calls_can_have) {
    add_process(&before, 10, "sh", 1000);
    add_process(&now, 10, "sh", 1003);
    static const struct {
        uint64_t now_cycles;
        double expected_cycles;
    } rows[] = {{0, 3 * 1024}, {1500000 + 5000, 5000}, {9000000, 3 * 2048}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct top_callers_frame frame;
        now.ops[0][0].total_cycles = rows[i].now_cycles;
        ck_assert_int_eq(top_callers_frame_make(&before.profile, &now.profile, AGGSTATS_BY_PROCESS, &frame), 0);
        ck_assert_double_eq_tol(frame.rows[0].figures.total_cycles, rows[i].expected_cycles, 3);
        top_callers_frame_finish(&frame);
    }
}

TEST(a_reset_is_noticed) {
    add_process(&before, 10, "sh", 1000);
    add_process(&now, 10, "sh", 2000);
    now.profile.start_ns++;
    struct top_callers_frame frame = {.row_count = 99};
    ck_assert_int_eq(top_callers_frame_make(&before.profile, &now.profile, AGGSTATS_BY_PROCESS, &frame), -ERANGE);
    ck_assert_uint_eq(frame.row_count, 99);
}

TEST(nobody_at_all_is_an_empty_frame) {
    assert_rows(NULL, TOP_BY_SHARE, "");
    assert_rows(&before.profile, TOP_BY_MAX, "");
}
