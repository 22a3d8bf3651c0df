/* Names of objects: a snapshot has those that only the recorder's thread may ask for, but waits for no thread that
 * hangs; calls count to the object that place_of() says. */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "testing.h"

enum { OP_READ, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ"};

/* What the lower file system is to the name functions here. */
struct lower {
    sem_t answers; /* posted once: it answers, and goes on to */
    bool hangs;
};

static bool name_by_waiting(void *context, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    struct lower *lower = context;
    if (may_wait && lower->hangs) {
        sem_wait(&lower->answers);
        sem_post(&lower->answers);
    }
    snprintf(ret_name, AGGSTATS_GROUP_NAME_SIZE, "%s%llu", may_wait ? "/" : "/may be ", (unsigned long long)object);
    return may_wait;
}

static uint64_t hundreds(void *context, uint64_t object) {
    (void)context;
    return object < 100 ? 0 : object - object % 100;
}

static struct aggstats_recorder *create_recorder(enum aggstats_grouping grouping, struct lower *lower) {
    const struct aggstats_recorder_options options = {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1};
    const struct aggstats_grouping_options wanted = {
        .grouping = grouping,
        .context = lower,
        .name_object = name_by_waiting,
        .place_of = grouping == AGGSTATS_BY_DIRECTORY ? hundreds : NULL,
    };
    struct aggstats_recorder *recorder = NULL;
    sem_init(&lower->answers, 0, 0);
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_group(recorder, &wanted), 0);
    return recorder;
}

static void destroy_recorder(struct aggstats_recorder *recorder, struct lower *lower) {
    sem_post(&lower->answers);
    aggstats_recorder_destroy(recorder);
    sem_destroy(&lower->answers);
}

static void record(struct aggstats_recorder *recorder, uint64_t object) {
    struct aggstats_span span = aggstats_begin(recorder, OP_READ, object, 0);
    const struct aggstats_call_of of = {.object = object};
    aggstats_group_add(recorder, OP_READ, &of, aggstats_end(recorder, &span));
}

/* Calls of all groups with that name; "other": calls of the group `other`. */
static uint64_t calls_named(struct aggstats_recorder *recorder, const char *name) {
    struct aggstats_profile profile;
    uint64_t calls = 0;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    for (size_t i = 0; i < profile.group_count; i++) {
        const struct aggstats_group *group = &profile.groups[i];
        if (strcmp(group->who == AGGSTATS_WHO_OTHER ? "other" : group->name, name) == 0)
            calls += group->profile.ops[0].calls;
    }
    aggstats_profile_finish(&profile);
    return calls;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

TEST_CASE(.seconds = 120);

TEST(snapshot_has_names_of_the_last_moment) {
    struct lower lower = {.hangs = false};
    struct aggstats_recorder *recorder = create_recorder(AGGSTATS_BY_FILE, &lower);
    for (uint64_t object = 1; object <= 50; object++) {
        char name[32];
        snprintf(name, sizeof(name), "/%llu", (unsigned long long)object);
        record(recorder, object);
        ck_assert_uint_eq(calls_named(recorder, name), 1);
    }
    destroy_recorder(recorder, &lower);
}

/* The first waits, but not long; the next finds that it is no use. */
TEST(snapshot_does_not_wait_for_a_thread_that_hangs) {
    struct lower lower = {.hangs = true};
    struct aggstats_recorder *recorder = create_recorder(AGGSTATS_BY_FILE, &lower);
    record(recorder, 7);
    double start_s = now_s();
    ck_assert_uint_eq(calls_named(recorder, "/may be 7"), 1);
    ck_assert_double_lt(now_s() - start_s, 10); /* 0.2 s, where the machine has time for us */
    start_s = now_s();
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_eq(calls_named(recorder, "/may be 7"), 1);
    ck_assert_double_lt(now_s() - start_s, 100); /* far from 1000 times 0.2 s */
    sem_post(&lower.answers);
    while (calls_named(recorder, "/7") == 0)
        ;
    destroy_recorder(recorder, &lower);
}

TEST_CASE();

TEST(calls_count_to_their_directory) {
    struct lower lower = {.hangs = false};
    struct aggstats_recorder *recorder = create_recorder(AGGSTATS_BY_DIRECTORY, &lower);
    record(recorder, 101);
    record(recorder, 102);
    record(recorder, 200);
    record(recorder, 3); /* of which no directory is known */
    record(recorder, 0);
    ck_assert_uint_eq(calls_named(recorder, "/100"), 2);
    ck_assert_uint_eq(calls_named(recorder, "/200"), 1);
    ck_assert_uint_eq(calls_named(recorder, "other"), 2);
    destroy_recorder(recorder, &lower);
}

TEST(files_take_no_directories_and_directories_need_them) {
    const struct aggstats_recorder_options options = {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    struct aggstats_grouping_options wanted = {
        .grouping = AGGSTATS_BY_FILE, .name_object = name_by_waiting, .place_of = hundreds};
    ck_assert_int_eq(aggstats_recorder_group(recorder, &wanted), -EINVAL);
    wanted = (struct aggstats_grouping_options){.grouping = AGGSTATS_BY_DIRECTORY, .name_object = name_by_waiting};
    ck_assert_int_eq(aggstats_recorder_group(recorder, &wanted), -EINVAL);
    aggstats_recorder_destroy(recorder);
}
