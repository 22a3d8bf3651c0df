/* Groups: every call is there once, in the group of who made it. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/lane.h"
#include "testing.h"

enum { OP_READ, OP_LOOKUP, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "LOOKUP"};

static struct aggstats_recorder *create_ungrouped(unsigned resolution) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = resolution};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    return recorder;
}

static struct aggstats_recorder *create_recorder(unsigned resolution, unsigned groups_max,
                                                 aggstats_identify_fn identify) {
    struct aggstats_recorder *recorder = create_ungrouped(resolution);
    const struct aggstats_grouping_options grouping = {
        .grouping = AGGSTATS_BY_PROCESS, .groups_max = groups_max, .identify = identify};
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), 0);
    return recorder;
}

static void record(struct aggstats_recorder *recorder, uint32_t caller, unsigned calls) {
    for (unsigned i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, caller);
        const struct aggstats_call_of who = {.thread = caller};
        aggstats_group_add(recorder, OP_READ, &who, aggstats_end(recorder, &span));
    }
}

static struct aggstats_profile take_snapshot(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    return profile;
}

static uint64_t calls_in(const struct aggstats_profile *profile, enum aggstats_grouping grouping, enum aggstats_who who,
                         uint64_t id) {
    uint64_t calls = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        if (group->grouping == grouping && group->who == who && group->id == id)
            calls += group->profile.ops[0].calls;
    }
    return calls;
}

static uint64_t calls_of(const struct aggstats_profile *profile, enum aggstats_who who, uint64_t id) {
    return calls_in(profile, AGGSTATS_BY_PROCESS, who, id);
}

static uint64_t calls_shown_of(struct aggstats_recorder *recorder, enum aggstats_who who, uint64_t id) {
    struct aggstats_profile profile = take_snapshot(recorder);
    uint64_t calls = calls_of(&profile, who, id);
    aggstats_profile_finish(&profile);
    return calls;
}

/* The groups add up to the whole profile. While calls end, the groups may lag behind (exactly: false). */
static void expect_sums(const struct aggstats_profile *profile, bool exactly) {
    const struct aggstats_op_profile *whole = aggstats_profile_op(profile, "READ");
    for (unsigned bucket = 0; whole && bucket < 64 * profile->resolution; bucket++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < profile->group_count; i++)
            sum += profile->groups[i].profile.ops[0].buckets[bucket];
        ck_assert_uint_le(sum, whole->buckets[bucket]);
        ck_assert(!exactly || sum == whole->buckets[bucket]);
    }
}

static void expect_exact_sums(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile = take_snapshot(recorder);
    expect_sums(&profile, true);
    uint64_t total_cycles = 0;
    for (size_t i = 0; i < profile.group_count; i++)
        total_cycles += profile.groups[i].profile.ops[0].total_cycles;
    ck_assert_uint_eq(total_cycles, profile.ops[0].total_cycles);
    aggstats_profile_finish(&profile);
}

/* Waits for what another thread finds out. */
static void wait_a_little(void) {
    const struct timespec little = {.tv_nsec = 1000000};
    nanosleep(&little, NULL);
}

TEST_CASE(.seconds = 120);

TEST(calls_are_in_the_group_of_their_caller) {
    struct aggstats_recorder *recorder = create_recorder(1, 0, NULL);
    record(recorder, 17, 3);
    record(recorder, 4711, 5);
    record(recorder, 0, 7);
    record(recorder, 17, 11);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.groupings, 1U << AGGSTATS_BY_PROCESS);
    ck_assert_uint_eq(profile.group_count, 3);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_ID, 17), 14);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_ID, 4711), 5);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_KERNEL, 0), 7);
    aggstats_profile_finish(&profile);
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

/* Of user 1000 and of root, and the kernel's own: for others, which have a user, and for nobody. */
TEST(groupings_do_not_know_of_each_other) {
    static const struct aggstats_call_of callers[] = {{17, 1000}, {18, 1000}, {19, 0}, {0, 1000}, {0, 0}};
    struct aggstats_recorder *recorder = create_recorder(1, 2, NULL);
    const struct aggstats_grouping_options by_uid = {.grouping = AGGSTATS_BY_UID};
    ck_assert_int_eq(aggstats_recorder_group(recorder, &by_uid), 0);
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, callers[i].thread);
        aggstats_group_add(recorder, OP_READ, &callers[i], aggstats_end(recorder, &span));
    }
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.groupings, 1U << AGGSTATS_BY_PROCESS | 1U << AGGSTATS_BY_UID);
    ck_assert_uint_eq(profile.group_count, 4 + 3);
    ck_assert_int_eq(profile.groups[0].grouping, AGGSTATS_BY_PROCESS);
    ck_assert_int_eq(profile.groups[4].grouping, AGGSTATS_BY_UID);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_PROCESS, AGGSTATS_WHO_KERNEL, 0), 2);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_PROCESS, AGGSTATS_WHO_OTHER, 0), 1);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_UID, AGGSTATS_WHO_KERNEL, 0), 1);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_UID, AGGSTATS_WHO_ID, 1000), 3);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_UID, AGGSTATS_WHO_ID, 0), 1);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.group_count, 0);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* Of the calls that are added. */
static struct {
    struct aggstats_identity identity;
    bool is_known;
    unsigned asked;
} adding;

static bool identify_adding(void *context, uint32_t number, struct aggstats_identity *ret_identity) {
    (void)context, (void)number;
    adding.asked++;
    *ret_identity = adding.identity;
    return adding.is_known;
}

#define ADDED_CYCLES 100U /* of each call: bucket 6 */

/* Of the caller of that number, who is this process, under this name, if it is known. */
static void add_calls(struct aggstats_recorder *recorder, uint64_t number, const struct aggstats_identity *identity,
                      uint64_t calls) {
    uint64_t buckets[64] = {[6] = calls};
    const struct aggstats_counted counted = {.buckets = buckets, .total_cycles = ADDED_CYCLES * calls};
    const struct aggstats_group_calls added = {.caller = number,
                                               .object = 7,
                                               .op = OP_READ,
                                               .calls = calls,
                                               .total_cycles = ADDED_CYCLES * calls,
                                               .cache = {.read_bytes = 10 * calls}};
    adding.is_known = identity != NULL;
    if (identity)
        adding.identity = *identity;
    aggstats_lane_count(recorder, aggstats_lane_create(recorder), OP_READ, &counted);
    aggstats_group_add_calls(recorder, &added);
}

TEST(number_of_a_caller_means_one_identity) {
    struct aggstats_recorder *recorder = create_recorder(1, 0, identify_adding);
    const struct aggstats_identity shell = {.id = 5, .instance = 1, .name = "sh"};
    const struct aggstats_identity executed = {.id = 5, .instance = 2, .name = "dd"};
    adding.asked = 0;
    add_calls(recorder, 1, &shell, 3);
    add_calls(recorder, 2, &executed, 7);
    add_calls(recorder, 1, &executed, 11); /* it is not asked for */
    ck_assert_uint_eq(adding.asked, 2);
    add_calls(recorder, UINT64_C(1) << 32 | 1, NULL, 13);
    add_calls(recorder, UINT64_C(1) << 32 | 1, &executed, 17);
    ck_assert_uint_eq(adding.asked, 4);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.group_count, 3);
    for (size_t i = 0; i < profile.group_count; i++) {
        const struct aggstats_group *group = &profile.groups[i];
        const struct aggstats_op_profile *op = &group->profile.ops[0];
        const uint64_t calls = group->who == AGGSTATS_WHO_OTHER ? 13 : strcmp(group->name, "sh") == 0 ? 3 + 11 : 7 + 17;
        ck_assert_uint_eq(op->calls, calls);
        ck_assert_uint_eq(op->buckets[6], calls);
        ck_assert_uint_eq(op->total_cycles, ADDED_CYCLES * calls);
    }
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(wrong_wishes_are_refused) {
    struct aggstats_recorder *recorder = create_ungrouped(1);
    struct aggstats_grouping_options grouping = {.grouping = AGGSTATS_UNGROUPED};
    aggstats_group_add(recorder, OP_READ, &(struct aggstats_call_of){.thread = 1}, 1); /* nobody wants to know */
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), -EINVAL);
    grouping.grouping = AGGSTATS_BY_UID;
    grouping.groups_max = AGGSTATS_GROUPS_MAX + 1;
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), -EINVAL);
    grouping.groups_max = AGGSTATS_GROUPS_MIN - 1;
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), -EINVAL);
    grouping.groups_max = 0;
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), 0);
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), -EBUSY);
    grouping.grouping = AGGSTATS_BY_FILE; /* without a way to name them */
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), -EINVAL);
    aggstats_recorder_destroy(recorder);
}

static void record_on(struct aggstats_recorder *recorder, uint64_t object, unsigned calls) {
    for (unsigned i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_READ, object, 1);
        const struct aggstats_call_of of = {.thread = 1, .object = object};
        aggstats_group_add(recorder, OP_READ, &of, aggstats_end(recorder, &span));
    }
}

static uint64_t calls_on(struct aggstats_recorder *recorder, const char *name) {
    struct aggstats_profile profile = take_snapshot(recorder);
    uint64_t calls = 0;
    for (size_t i = 0; i < profile.group_count; i++)
        if (profile.groups[i].grouping == AGGSTATS_BY_FILE && strcmp(profile.groups[i].name, name) == 0)
            calls += profile.groups[i].profile.ops[0].calls;
    aggstats_profile_finish(&profile);
    return calls;
}

/* 13 has no name, and of 14 it takes waiting to learn it. */
static bool name_object(void *unused, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    (void)unused;
    bool is_known = object != 13 && (object != 14 || may_wait);
    snprintf(ret_name, AGGSTATS_GROUP_NAME_SIZE, is_known ? "/%u" : "(no name)", (unsigned)object);
    return is_known;
}

TEST(calls_are_with_the_file_that_they_work_on) {
    struct aggstats_recorder *recorder = create_ungrouped(1);
    const struct aggstats_grouping_options by_file = {.grouping = AGGSTATS_BY_FILE, .name_object = name_object};
    ck_assert_int_eq(aggstats_recorder_group(recorder, &by_file), 0);
    record_on(recorder, 7, 3);
    record_on(recorder, 8, 5);
    ck_assert_uint_eq(calls_on(recorder, "/7"), 3); /* whose names need no waiting have them at once */
    record_on(recorder, 7, 11);
    record_on(recorder, 13, 2);
    record_on(recorder, 14, 4);
    ck_assert_uint_eq(calls_on(recorder, "/7"), 14);
    ck_assert_uint_eq(calls_on(recorder, "/8"), 5);
    while (calls_on(recorder, "(no name)") < 2 || calls_on(recorder, "/14") < 4)
        wait_a_little();
    ck_assert_uint_eq(calls_on(recorder, "(no name)"), 2);
    expect_exact_sums(recorder);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    record_on(recorder, 8, 1);
    ck_assert_uint_eq(calls_on(recorder, "/8"), 1);
    ck_assert_uint_eq(calls_on(recorder, "/7"), 0);
    aggstats_recorder_destroy(recorder);
}

/* Callers 170 to 179 are threads of process 17. 13 cannot be found. */
static bool identify_tens(void *unused, uint32_t caller, struct aggstats_identity *ret_identity) {
    (void)unused;
    *ret_identity = (struct aggstats_identity){.id = caller / 10};
    snprintf(ret_identity->name, sizeof(ret_identity->name), "process %u", caller / 10);
    return caller != 13;
}

TEST(threads_come_to_their_process) {
    struct aggstats_recorder *recorder = create_recorder(1, 0, identify_tens);
    for (uint32_t caller = 170; caller < 180; caller++)
        record(recorder, caller, caller - 169);
    record(recorder, 13, 2);
    while (calls_shown_of(recorder, AGGSTATS_WHO_ID, 17) < 55)
        wait_a_little();
    record(recorder, 171, 100);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_ID, 17), 155);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_ID, 13), 2);
    ck_assert_uint_eq(profile.group_count, 2);
    for (size_t i = 0; i < profile.group_count; i++)
        ck_assert_str_eq(profile.groups[i].name, profile.groups[i].id == 17 ? "process 17" : "");
    aggstats_profile_finish(&profile);
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

static uint64_t instance;     /* atomic */
static const char *exec_name; /* atomic */

static bool identify_changing(void *unused, uint32_t caller, struct aggstats_identity *ret_identity) {
    (void)unused;
    *ret_identity = (struct aggstats_identity){.id = caller, .instance = __atomic_load_n(&instance, __ATOMIC_ACQUIRE)};
    snprintf(ret_identity->name, sizeof(ret_identity->name), "%s", __atomic_load_n(&exec_name, __ATOMIC_ACQUIRE));
    return true;
}

/* Calls on until the first or second group has that name. Returns how often it has called */
static unsigned call_until_named(struct aggstats_recorder *recorder, const char *name) {
    for (unsigned calls = 1;; calls++) {
        record(recorder, 5, 1);
        struct aggstats_profile profile = take_snapshot(recorder);
        bool found = false;
        for (size_t i = 0; i < profile.group_count; i++)
            found |= strcmp(profile.groups[i].name, name) == 0;
        aggstats_profile_finish(&profile);
        if (found)
            return calls;
        wait_a_little();
    }
}

static int asked_for_nobody;

static bool identify_nobody(void *unused, uint32_t unused_caller, struct aggstats_identity *unused_identity) {
    (void)unused, (void)unused_caller, (void)unused_identity;
    __atomic_add_fetch(&asked_for_nobody, 1, __ATOMIC_RELEASE);
    return false;
}

/* Calls before and after it was found to be gone. */
TEST(caller_that_is_gone_is_one_group) {
    struct aggstats_recorder *recorder = create_recorder(1, 0, identify_nobody);
    record(recorder, 13, 1);
    for (int before = 0; before < 3; before++) {
        while (__atomic_load_n(&asked_for_nobody, __ATOMIC_ACQUIRE) <= before)
            record(recorder, 13, 1);
        record(recorder, 13, 1);
        struct aggstats_profile profile = take_snapshot(recorder);
        ck_assert_uint_eq(profile.group_count, 1);
        ck_assert_uint_eq(profile.groups[0].id, 13);
        aggstats_profile_finish(&profile);
    }
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

TEST(another_program_is_the_same_process) {
    __atomic_store_n(&instance, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&exec_name, "sh", __ATOMIC_RELEASE);
    struct aggstats_recorder *recorder = create_recorder(1, 0, identify_changing);
    unsigned calls = call_until_named(recorder, "sh");
    __atomic_store_n(&exec_name, "cat", __ATOMIC_RELEASE);
    calls += call_until_named(recorder, "cat");
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.group_count, 1);
    ck_assert_uint_eq(profile.groups[0].profile.ops[0].calls, calls);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(number_used_anew_is_another_process) {
    __atomic_store_n(&instance, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&exec_name, "early", __ATOMIC_RELEASE);
    struct aggstats_recorder *recorder = create_recorder(1, 0, identify_changing);
    call_until_named(recorder, "early");
    __atomic_store_n(&exec_name, "late", __ATOMIC_RELEASE);
    __atomic_store_n(&instance, 2, __ATOMIC_RELEASE);
    call_until_named(recorder, "late");
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.group_count, 2);
    ck_assert_uint_eq(profile.groups[0].id, profile.groups[1].id);
    ck_assert_str_ne(profile.groups[0].name, profile.groups[1].name);
    aggstats_profile_finish(&profile);
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

/* ---- Names at the first call ---- */

static unsigned asked_first; /* atomic */

/* Callers 170 to 179 are threads of process 17. 13 is not told. */
static bool identify_first(void *unused, uint32_t caller, struct aggstats_identity *ret_identity) {
    (void)unused;
    __atomic_add_fetch(&asked_first, 1, __ATOMIC_RELAXED);
    *ret_identity = (struct aggstats_identity){.id = caller / 10};
    snprintf(ret_identity->name, sizeof(ret_identity->name), "%s", caller % 2 ? "odd" : "even");
    return caller != 13;
}

static void group_by(struct aggstats_recorder *recorder, enum aggstats_grouping by, aggstats_identify_fn identify,
                     aggstats_identify_fn first) {
    const struct aggstats_grouping_options grouping = {.grouping = by, .identify = identify, .identify_first = first};
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), 0);
}

static uint64_t calls_named(const struct aggstats_profile *profile, enum aggstats_grouping by, const char *name) {
    uint64_t calls = 0;
    for (size_t i = 0; i < profile->group_count; i++)
        if (profile->groups[i].grouping == by && strcmp(profile->groups[i].name, name) == 0)
            calls += profile->groups[i].profile.ops[0].calls;
    return calls;
}

/* A caller that is asked for later is gone by then. */
TEST(callers_have_the_name_of_their_first_call) {
    struct aggstats_recorder *recorder = create_ungrouped(1);
    group_by(recorder, AGGSTATS_BY_PROCESS, identify_nobody, identify_first);
    group_by(recorder, AGGSTATS_BY_PROGRAM, identify_nobody, identify_first);
    for (uint32_t caller = 170; caller < 180; caller++)
        record(recorder, caller, 3);
    record(recorder, 13, 5);
    ck_assert_uint_eq(__atomic_load_n(&asked_first, __ATOMIC_RELAXED), 11);
    for (int round = 0; round < 20; round++) {
        struct aggstats_profile profile = take_snapshot(recorder);
        ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_PROCESS, AGGSTATS_WHO_ID, 17), 30);
        ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_PROCESS, AGGSTATS_WHO_ID, 13), 5);
        ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROCESS, "odd"), 15);
        ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROGRAM, "odd"), 15);
        ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROGRAM, "even"), 15);
        ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_PROGRAM, AGGSTATS_WHO_OTHER, 0), 5);
        aggstats_profile_finish(&profile);
        wait_a_little();
    }
    aggstats_recorder_destroy(recorder);
}

/* By name they are few, however many there were. */
TEST(many_callers_are_few_programs) {
    struct aggstats_recorder *recorder = create_ungrouped(1);
    group_by(recorder, AGGSTATS_BY_PROGRAM, identify_nobody, identify_first);
    for (uint32_t caller = 1000; caller < 10000; caller++)
        record(recorder, caller, 2);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.group_count, 2);
    ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROGRAM, "odd"), 9000);
    ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROGRAM, "even"), 9000);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* What more come are not asked for, and nobody's calls are lost. */
TEST(first_calls_are_asked_for_within_bounds) {
    enum { CALLERS = 200000 };
    time_t before = time(NULL);
    struct aggstats_recorder *recorder = create_ungrouped(1);
    group_by(recorder, AGGSTATS_BY_PROGRAM, identify_nobody, identify_first);
    for (uint32_t caller = 1000; caller < 1000 + CALLERS; caller++)
        record(recorder, caller, 1);
    unsigned asked = __atomic_load_n(&asked_first, __ATOMIC_RELAXED);
    ck_assert_uint_ge(asked, 10000);
    ck_assert_uint_le(asked, 10000U * (unsigned)(time(NULL) - before + 2));
    struct aggstats_profile profile = take_snapshot(recorder);
    uint64_t others = calls_in(&profile, AGGSTATS_BY_PROGRAM, AGGSTATS_WHO_OTHER, 0);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_PROGRAM, AGGSTATS_WHO_ID, 0) + others, CALLERS);
    ck_assert_uint_eq(others, CALLERS - asked);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

static bool identify_first_changing(void *unused, uint32_t caller, struct aggstats_identity *ret_identity) {
    return identify_changing(unused, caller, ret_identity);
}

/* Unlike those of a process, the calls of before stay where they are. */
TEST(another_program_has_what_it_calls) {
    __atomic_store_n(&exec_name, "sh", __ATOMIC_RELEASE);
    struct aggstats_recorder *recorder = create_ungrouped(1);
    group_by(recorder, AGGSTATS_BY_PROGRAM, identify_changing, identify_first_changing);
    record(recorder, 5, 7);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROGRAM, "sh"), 7);
    aggstats_profile_finish(&profile);
    __atomic_store_n(&exec_name, "cat", __ATOMIC_RELEASE);
    unsigned calls = call_until_named(recorder, "cat");
    record(recorder, 5, 100);
    profile = take_snapshot(recorder);
    ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROGRAM, "sh") +
                          calls_named(&profile, AGGSTATS_BY_PROGRAM, "cat"),
                      7 + calls + 100);
    ck_assert_uint_ge(calls_named(&profile, AGGSTATS_BY_PROGRAM, "cat"), 101);
    ck_assert_uint_ge(calls_named(&profile, AGGSTATS_BY_PROGRAM, "sh"), 7);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(number_used_anew_is_asked_for_again) {
    __atomic_store_n(&exec_name, "early", __ATOMIC_RELEASE);
    struct aggstats_recorder *recorder = create_ungrouped(1);
    group_by(recorder, AGGSTATS_BY_PROCESS, identify_nobody, identify_first_changing);
    int asked_before = __atomic_load_n(&asked_for_nobody, __ATOMIC_ACQUIRE);
    record(recorder, 5, 3);
    while (__atomic_load_n(&asked_for_nobody, __ATOMIC_ACQUIRE) == asked_before)
        wait_a_little();
    wait_a_little();
    record(recorder, 5 + 64, 1); /* in the place of 5 among those whom this thread has met lately */
    __atomic_store_n(&exec_name, "late", __ATOMIC_RELEASE);
    record(recorder, 5, 4);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_PROCESS, AGGSTATS_WHO_ID, 5), 7);
    ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROCESS, "early"), 4);
    ck_assert_uint_eq(calls_named(&profile, AGGSTATS_BY_PROCESS, "late"), 4);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(first_calls_are_asked_for_in_one_way) {
    struct aggstats_recorder *recorder = create_ungrouped(1);
    const struct aggstats_grouping_options other = {
        .grouping = AGGSTATS_BY_PROGRAM, .identify = identify_nobody, .identify_first = identify_first_changing};
    group_by(recorder, AGGSTATS_BY_PROCESS, identify_nobody, identify_first);
    ck_assert_int_eq(aggstats_recorder_group(recorder, &other), -EINVAL);
    aggstats_recorder_destroy(recorder);
}

TEST(least_recent_callers_are_added_up, .to = 2) {
    struct aggstats_recorder *recorder = create_recorder(_i ? 8 : 1, 3, NULL);
    for (uint32_t caller = 1; caller <= 2000; caller++) {
        record(recorder, caller, 2);
        record(recorder, 7, 1); /* stays, for it calls again and again */
    }
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.group_count, 4);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_ID, 2000), 2);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_ID, 1999), 2);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_ID, 7), 2002);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_OTHER, 0), 6000 - 2002 - 4);
    ck_assert_int_eq(profile.groups[3].who, AGGSTATS_WHO_OTHER);
    aggstats_profile_finish(&profile);
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

/* Numbers that are far apart, and alike in their low bits. */
static bool identify_itself(void *unused, uint32_t caller, struct aggstats_identity *ret_identity) {
    (void)unused;
    *ret_identity = (struct aggstats_identity){.id = caller, .instance = 12345, .name = "itself"};
    return true;
}

TEST(callers_of_like_numbers_stay_themselves) {
    enum { CALLERS = 40 };
    struct aggstats_recorder *recorder = create_recorder(1, 0, identify_itself);
    struct aggstats_profile profile = {0};
    unsigned rounds = 0;
    do { /* until all are known */
        for (uint32_t caller = 1; caller <= CALLERS; caller++)
            record(recorder, caller << 16, 1);
        rounds++;
        wait_a_little();
        aggstats_profile_finish(&profile);
        profile = take_snapshot(recorder);
        bool all_named = profile.group_count == CALLERS;
        for (size_t i = 0; i < profile.group_count; i++)
            all_named &= strcmp(profile.groups[i].name, "itself") == 0;
        if (all_named)
            break;
    } while (true);
    for (uint32_t caller = 1; caller <= CALLERS; caller++)
        ck_assert_uint_eq(calls_of(&profile, AGGSTATS_WHO_ID, caller << 16), rounds);
    aggstats_profile_finish(&profile);
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

/* All callers are threads of one process. */
static bool identify_one(void *unused, uint32_t caller, struct aggstats_identity *ret_identity) {
    *ret_identity = (struct aggstats_identity){.id = 1, .instance = 1, .name = "one"};
    (void)unused, (void)caller;
    return true;
}

TEST(many_threads_are_one_process) {
    struct aggstats_recorder *recorder = create_recorder(1, 2, identify_one);
    for (uint32_t caller = 1; caller <= 1000; caller++)
        record(recorder, caller, 2);
    while (calls_shown_of(recorder, AGGSTATS_WHO_ID, 1) < 2000)
        wait_a_little();
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.group_count, 1);
    ck_assert_str_eq(profile.groups[0].name, "one");
    aggstats_profile_finish(&profile);
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

TEST(reset_and_pause_hold_for_them_too) {
    struct aggstats_recorder *recorder = create_recorder(1, 0, NULL);
    record(recorder, 1, 2);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    ck_assert_uint_eq(calls_shown_of(recorder, AGGSTATS_WHO_ID, 1), 0);
    record(recorder, 1, 3);
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    record(recorder, 1, 5);
    record(recorder, 2, 5);
    ck_assert_uint_eq(calls_shown_of(recorder, AGGSTATS_WHO_ID, 1), 3);
    ck_assert_uint_eq(calls_shown_of(recorder, AGGSTATS_WHO_ID, 2), 0);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    record(recorder, 1, 7);
    ck_assert_uint_eq(calls_shown_of(recorder, AGGSTATS_WHO_ID, 1), 10);
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;

static bool identify_when_let(void *unused, uint32_t caller, struct aggstats_identity *ret_identity) {
    pthread_mutex_lock(&hold);
    pthread_mutex_unlock(&hold);
    return identify_tens(unused, caller, ret_identity);
}

TEST(nobody_waits_for_who_it_is) {
    struct aggstats_recorder *recorder = create_recorder(1, 0, identify_when_let);
    pthread_mutex_lock(&hold);
    for (uint32_t caller = 100; caller < 130; caller++)
        record(recorder, caller, 401); /* more than fit a queue */
    expect_exact_sums(recorder);
    ck_assert_uint_eq(calls_shown_of(recorder, AGGSTATS_WHO_ID, 100), 401);
    pthread_mutex_unlock(&hold);
    while (calls_shown_of(recorder, AGGSTATS_WHO_ID, 10) < 4010)
        wait_a_little();
    expect_exact_sums(recorder);
    aggstats_recorder_destroy(recorder);
}

static struct aggstats_recorder *shared;
static bool done; /* atomic */

static void *record_until_done(void *unused) {
    for (uint32_t caller = 0; !__atomic_load_n(&done, __ATOMIC_ACQUIRE); caller = (caller + 1) % 3000)
        record(shared, caller, 1);
    return unused;
}

TEST(windows_hold_no_more_than_their_op) {
    pthread_t threads[3];
    __atomic_store_n(&done, false, __ATOMIC_RELEASE);
    shared = create_recorder(1, 0, identify_tens);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_until_done, NULL), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(i % 3 ? aggstats_recorder_pause(shared) : aggstats_recorder_reset(shared), 0);
        struct aggstats_profile profile = take_snapshot(shared);
        expect_sums(&profile, false);
        aggstats_profile_finish(&profile);
        ck_assert_int_eq(aggstats_recorder_resume(shared), 0);
    }
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    aggstats_recorder_destroy(shared);
}

static void *record_much(void *first) {
    for (uint32_t i = 0; i < 100000; i++)
        record(shared, *(const uint32_t *)first + i % 37, 1);
    return NULL;
}

TEST(no_call_is_lost_with_many_threads, .to = 2) {
    static const uint32_t first[4] = {0, 20, 500, 500000};
    pthread_t threads[4];
    shared = create_recorder(_i ? 8 : 1, _i ? 4 : 0, identify_tens);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_much, (void *)(uintptr_t)&first[i]), 0);
    for (int i = 0; i < 50; i++) {
        struct aggstats_profile profile = take_snapshot(shared);
        expect_sums(&profile, false);
        aggstats_profile_finish(&profile);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    struct aggstats_profile profile = take_snapshot(shared);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 400000);
    aggstats_profile_finish(&profile);
    expect_exact_sums(shared);
    aggstats_recorder_destroy(shared);
}

/* ---- Switched on while calls are counted ---------------------------------------------------------- */

static const struct aggstats_grouping_options late_ones[] = {
    {.grouping = AGGSTATS_BY_PROCESS, .identify = identify_nobody, .identify_first = identify_first},
    {.grouping = AGGSTATS_BY_UID},
};

/* All groups of a grouping together are the whole. While threads call, the latency of calls that ended after the whole was
 * taken is estimated by their buckets. */
static void expect_sums_of_each(const struct aggstats_profile *profile, bool is_estimated) {
    const struct aggstats_op_profile *whole = aggstats_profile_op(profile, "READ");
    const double error = is_estimated ? pow(2, 1.0 / profile->resolution) : 1; /* a bucket's width */
    uint64_t cycles[AGGSTATS_GROUPINGS] = {0};
    for (unsigned bucket = 0; whole && bucket < 64 * profile->resolution; bucket++) {
        uint64_t sums[AGGSTATS_GROUPINGS] = {0};
        for (size_t i = 0; i < profile->group_count; i++) {
            sums[profile->groups[i].grouping] += profile->groups[i].profile.ops[0].buckets[bucket];
            cycles[profile->groups[i].grouping] += bucket == 0 ? profile->groups[i].profile.ops[0].total_cycles : 0;
        }
        for (unsigned kind = 0; kind < AGGSTATS_GROUPINGS; kind++)
            ck_assert(!(profile->groupings & 1U << kind) || sums[kind] == whole->buckets[bucket]);
    }
    for (unsigned kind = 0; whole && kind < AGGSTATS_GROUPINGS; kind++)
        ck_assert(!(profile->groupings & 1U << kind) || cycles[kind] <= whole->total_cycles * error);
}

static void switch_on(struct aggstats_recorder *recorder) {
    ck_assert_int_eq(aggstats_recorder_begin_groups(recorder, late_ones, 2), 0);
}

/* Each grouping has all calls of the whole, and of the others `others`; so many of these began before. */
static void expect_late(struct aggstats_recorder *recorder, uint64_t calls, uint64_t others, uint64_t ungrouped) {
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.ungrouped_calls, ungrouped);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_UID, AGGSTATS_WHO_OTHER, 0), others);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_UID, AGGSTATS_WHO_ID, 0), calls - others);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_PROCESS, AGGSTATS_WHO_OTHER, 0), others);
    expect_sums_of_each(&profile, false);
    aggstats_profile_finish(&profile);
}

static void expect_no_groups(struct aggstats_recorder *recorder, uint64_t calls) {
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.ops[0].calls, calls);
    ck_assert_uint_eq(profile.group_count + profile.groupings + profile.ungrouped_calls, 0);
    aggstats_profile_finish(&profile);
}

TEST(calls_before_late_groups_are_others_and_are_said, .to = 2) {
    struct aggstats_recorder *recorder = create_ungrouped(_i ? 8 : 1);
    record(recorder, 21, 7);
    struct aggstats_span in_flight = aggstats_begin(recorder, OP_READ, 1, 21);
    switch_on(recorder);
    record(recorder, 31, 5);
    aggstats_end(recorder, &in_flight); /* nobody has asked whose it is */
    expect_late(recorder, 13, 8, 8);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    record(recorder, 31, 3);
    expect_late(recorder, 3, 0, 0);
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    record(recorder, 31, 2);
    expect_late(recorder, 3, 0, 0);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    expect_late(recorder, 3, 0, 0);
    aggstats_recorder_destroy(recorder);
}

TEST(groups_that_end_are_forgotten_and_begin_anew) {
    struct aggstats_recorder *recorder = create_recorder(1, 0, NULL); /* from its start on */
    record(recorder, 21, 4);
    aggstats_recorder_end_groups(recorder);
    expect_no_groups(recorder, 4);
    record(recorder, 21, 1500); /* more than a queue holds */
    expect_no_groups(recorder, 1504);
    ck_assert_int_eq(aggstats_recorder_begin_groups(recorder, &late_ones[0], 1), -EINVAL); /* another than before */
    ck_assert_int_eq(aggstats_recorder_begin_groups(recorder, &late_ones[1], 1), 0);
    record(recorder, 21, 3);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.groupings, 1U << AGGSTATS_BY_UID);
    ck_assert_uint_eq(profile.ungrouped_calls, 1504);
    ck_assert_uint_eq(calls_in(&profile, AGGSTATS_BY_UID, AGGSTATS_WHO_ID, 0), 3);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_begin_groups(recorder, &late_ones[1], 1), -EBUSY);
    aggstats_recorder_end_groups(recorder);
    aggstats_recorder_end_groups(recorder); /* changes nothing */
    expect_no_groups(recorder, 1507);
    aggstats_recorder_destroy(recorder);
}

/* All or none: what is on stays as it was. */
TEST(wrong_late_groups_change_nothing) {
    struct aggstats_recorder *recorder = create_ungrouped(1);
    const struct aggstats_grouping_options twice[] = {late_ones[1], late_ones[1]};
    const struct aggstats_grouping_options nameless[] = {late_ones[1], {.grouping = AGGSTATS_BY_FILE}};
    record(recorder, 21, 4);
    ck_assert_int_eq(aggstats_recorder_begin_groups(recorder, twice, 2), -EINVAL);
    ck_assert_int_eq(aggstats_recorder_begin_groups(recorder, nameless, 2), -EINVAL);
    expect_no_groups(recorder, 4);
    ck_assert_int_eq(aggstats_recorder_begin_groups(recorder, &late_ones[1], 1), 0);
    record(recorder, 21, 2);
    const struct aggstats_grouping_options one_is_on[] = {{.grouping = AGGSTATS_BY_PROCESS}, late_ones[1]};
    ck_assert_int_eq(aggstats_recorder_begin_groups(recorder, one_is_on, 2), -EBUSY);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.groupings, 1U << AGGSTATS_BY_UID);
    ck_assert_uint_eq(profile.ungrouped_calls, 4);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

static struct aggstats_recorder *rotating;

/* While a profile is saved calls go on, and groups may end and begin. */
static int save_and_switch(void *context, const struct aggstats_profile *profile) {
    const bool *switches = context;
    expect_sums_of_each(profile, false);
    record(rotating, 31, 2);
    if (*switches) {
        aggstats_recorder_end_groups(rotating);
        record(rotating, 41, 3);
        switch_on(rotating);
        record(rotating, 31, 4);
    }
    return 0;
}

TEST(late_groups_are_rotated_with_the_whole) {
    bool switches = false;
    rotating = create_ungrouped(1);
    record(rotating, 21, 7);
    switch_on(rotating);
    record(rotating, 31, 5);
    ck_assert_int_eq(aggstats_recorder_rotate(rotating, save_and_switch, &switches), 0);
    expect_late(rotating, 2, 0, 0);
    switches = true;
    ck_assert_int_eq(aggstats_recorder_rotate(rotating, save_and_switch, &switches), 0);
    expect_late(rotating, 9, 5, 5);
    ck_assert_int_eq(aggstats_recorder_rotate(rotating, save_and_switch, &switches), 0);
    expect_late(rotating, 9, 5, 5);
    aggstats_recorder_destroy(rotating);
}

/* A number of another thread by then, as nobody looked meanwhile. */
TEST(late_groups_ask_for_callers_again) {
    struct aggstats_recorder *recorder = create_ungrouped(1);
    const unsigned before = __atomic_load_n(&asked_first, __ATOMIC_RELAXED);
    for (unsigned round = 1; round <= 3; round++) {
        switch_on(recorder);
        record(recorder, 171, 2);
        ck_assert_uint_eq(__atomic_load_n(&asked_first, __ATOMIC_RELAXED), before + round);
        aggstats_recorder_end_groups(recorder);
    }
    aggstats_recorder_destroy(recorder);
}

TEST(groups_are_switched_while_many_threads_call, .to = 2) {
    static const uint32_t first[4] = {0, 20, 500, 500000};
    pthread_t threads[4];
    shared = create_ungrouped(_i ? 8 : 1);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_much, (void *)(uintptr_t)&first[i]), 0);
    for (int i = 0; i < 50; i++) {
        switch_on(shared);
        struct aggstats_profile profile = take_snapshot(shared);
        expect_sums_of_each(&profile, true);
        aggstats_profile_finish(&profile);
        aggstats_recorder_end_groups(shared);
    }
    switch_on(shared);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    struct aggstats_profile profile = take_snapshot(shared);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 400000);
    expect_sums_of_each(&profile, false);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(shared);
}
