/* Sampled profiles: that intervals add up to the whole, exactly, whatever happens meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggstats.h"
#include "testing.h"

#define INTERVAL_NS UINT64_C(10000000)

enum { OP_READ, OP_WRITE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE"};

static struct aggstats_recorder *create_recorder(unsigned resolution) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = resolution};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    return recorder;
}

static void record(struct aggstats_recorder *recorder, unsigned op, int calls) {
    for (int i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(recorder, op, 1, 1);
        aggstats_end(recorder, &span);
    }
}

static void sleep_ns(uint64_t ns) {
    const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&pause, NULL);
}

/* Intervals in order, buckets in order, and each bucket the sum of its samples. */
static void expect_exact(const struct aggstats_profile *profile) {
    for (size_t i = 1; i < profile->interval_count; i++)
        ck_assert_uint_ge(profile->borders[i], profile->borders[i - 1]);
    for (size_t i = 0; profile->interval_cycles > 0 && i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        uint64_t sums[AGGSTATS_BUCKETS_MAX] = {0};
        for (size_t at = 0; at < op->sample_count; at++) {
            const struct aggstats_cell *sample = &op->samples[at];
            ck_assert_uint_lt(sample->row, profile->interval_count);
            ck_assert_uint_gt(sample->count, 0);
            if (at > 0 && sample->row == sample[-1].row)
                ck_assert_uint_gt(sample->bucket, sample[-1].bucket);
            else if (at > 0)
                ck_assert_uint_gt(sample->row, sample[-1].row);
            sums[sample->bucket] += sample->count;
        }
        for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
            ck_assert_uint_eq(sums[bucket], op->buckets[bucket]);
    }
}

static struct aggstats_profile take_snapshot(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    expect_exact(&profile);
    return profile;
}

static uint64_t calls_of(const struct aggstats_profile *profile, const char *name) {
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, name);
    return op ? op->calls : 0;
}

/* ---- Recording ---- */

TEST_CASE(.seconds = 120);

TEST(calls_fall_into_the_interval_in_which_they_end) {
    struct aggstats_recorder *recorder = create_recorder(1);
    record(recorder, OP_WRITE, 7); /* before sampling begins: part of the first interval */
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, 50 * INTERVAL_NS, 0), 0);
    record(recorder, OP_READ, 11);
    sleep_ns(75 * INTERVAL_NS);
    record(recorder, OP_READ, 13);
    struct aggstats_profile profile = take_snapshot(recorder);
    const struct aggstats_op_profile *reads = aggstats_profile_op(&profile, "READ");
    uint64_t first = 0;
    uint64_t last = 0;
    for (size_t at = 0; at < reads->sample_count; at++) {
        if (reads->samples[at].row == 0)
            first += reads->samples[at].count;
        else
            last += reads->samples[at].count;
    }
    ck_assert_uint_eq(first, 11);
    ck_assert_uint_eq(last, 13);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "WRITE")->samples[0].row, 0);
    ck_assert_uint_eq(profile.borders[profile.interval_count - 1], profile.elapsed_cycles);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

static struct aggstats_recorder *shared;
static bool done; /* atomic */

static void *record_much(void *unused) {
    for (int i = 0; i < 300000; i++)
        record(shared, i % OP_COUNT, 1);
    return unused;
}

static void *look_often(void *unused) {
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        struct aggstats_profile profile = take_snapshot(shared);
        aggstats_profile_finish(&profile);
    }
    return unused;
}

/* Two intervals have become one. */
static bool was_merged(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile = take_snapshot(recorder);
    bool is_longer = profile.interval_cycles > profile.clock.frequency_hz / 100 + 1;
    aggstats_profile_finish(&profile);
    return is_longer;
}

/* Few intervals, so that they are merged again and again. */
TEST(intervals_add_up_under_load_and_when_merged, .to = 2) {
    pthread_t threads[4];
    pthread_t looker;
    __atomic_store_n(&done, false, __ATOMIC_RELEASE);
    shared = create_recorder(_i ? 8 : 1);
    ck_assert_int_eq(aggstats_recorder_set_interval(shared, INTERVAL_NS, 4), 0);
    ck_assert_int_eq(pthread_create(&looker, NULL, look_often, NULL), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_much, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    while (!was_merged(shared))
        sleep_ns(INTERVAL_NS);
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    pthread_join(looker, NULL);
    struct aggstats_profile profile = take_snapshot(shared);
    ck_assert_uint_eq(calls_of(&profile, "READ"), 600000);
    ck_assert_uint_eq(calls_of(&profile, "WRITE"), 600000);
    ck_assert_uint_le(profile.interval_count, 5); /* and the one that goes on */
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(shared);
}

TEST(reset_begins_anew_and_off_ends_it) {
    struct aggstats_recorder *recorder = create_recorder(1);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, INTERVAL_NS, 2), 0);
    record(recorder, OP_READ, 5);
    sleep_ns(100 * INTERVAL_NS);
    struct aggstats_profile before = take_snapshot(recorder);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    record(recorder, OP_READ, 3);
    struct aggstats_profile after = take_snapshot(recorder);
    ck_assert_uint_eq(calls_of(&after, "READ"), 3);
    ck_assert_uint_lt(after.interval_cycles, before.interval_cycles);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, 0, 0), 0);
    struct aggstats_profile off = take_snapshot(recorder);
    ck_assert_uint_eq(off.interval_cycles, 0);
    ck_assert_uint_eq(off.interval_count, 0);
    ck_assert_uint_eq(calls_of(&off, "READ"), 3);
    aggstats_profile_finish(&before);
    aggstats_profile_finish(&after);
    aggstats_profile_finish(&off);
    aggstats_recorder_destroy(recorder);
}

/* A pause takes no time. */
TEST(a_pause_is_in_no_interval) {
    struct aggstats_recorder *recorder = create_recorder(1);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, INTERVAL_NS, 0), 0);
    record(recorder, OP_READ, 5);
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    struct aggstats_profile paused = take_snapshot(recorder);
    record(recorder, OP_READ, 5);
    sleep_ns(5 * INTERVAL_NS);
    struct aggstats_profile later = take_snapshot(recorder);
    ck_assert_uint_eq(later.interval_count, paused.interval_count);
    ck_assert_uint_eq(calls_of(&later, "READ"), 5);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    record(recorder, OP_READ, 2);
    struct aggstats_profile resumed = take_snapshot(recorder);
    while (resumed.interval_count <= paused.interval_count) { /* the sampler may get no CPU for a while */
        aggstats_profile_finish(&resumed);
        sleep_ns(INTERVAL_NS);
        resumed = take_snapshot(recorder);
    }
    ck_assert_uint_eq(calls_of(&resumed, "READ"), 7);
    aggstats_profile_finish(&paused);
    aggstats_profile_finish(&later);
    aggstats_profile_finish(&resumed);
    aggstats_recorder_destroy(recorder);
}

TEST(interval_may_change_at_any_time) {
    struct aggstats_recorder *recorder = create_recorder(1);
    for (uint64_t i = 0; i < 50; i++) {
        ck_assert_int_eq(aggstats_recorder_set_interval(recorder, i % 5 == 4 ? 0 : (i + 1) * INTERVAL_NS, 0), 0);
        record(recorder, OP_READ, 10);
        struct aggstats_profile profile = take_snapshot(recorder);
        ck_assert_uint_eq(calls_of(&profile, "READ"), 10 * (i + 1));
        aggstats_profile_finish(&profile);
    }
    aggstats_recorder_destroy(recorder);
}

TEST(impossible_intervals_are_refused) {
    struct aggstats_recorder *recorder = create_recorder(1);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, INTERVAL_NS - 1, 0), -EINVAL);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, AGGSTATS_INTERVAL_MAX_NS + 1, 0), -EINVAL);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, INTERVAL_NS, 1), -EINVAL);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, INTERVAL_NS, 7), -EINVAL);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, INTERVAL_NS, AGGSTATS_INTERVALS_MAX + 2), -EINVAL);
    struct aggstats_profile profile = take_snapshot(recorder);
    ck_assert_uint_eq(profile.interval_cycles, 0);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* ---- Profiles ---- */

static struct aggstats_profile parse(const char *text) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error = {0};
    FILE *stream = tmpfile();
    fputs(text, stream);
    rewind(stream);
    int err = aggstats_profile_parse(stream, &profile, &error);
    ck_assert_msg(err == 0, "line %zu: %s", error.line, error.message);
    fclose(stream);
    expect_exact(&profile);
    return profile;
}

#define HEADER                                                                                                         \
    "# osprof 1\n# clock: tsc 1000 Hz\n# resolution: 2\n# elapsed: 350\n# interval: 100\n# borders: 100 210 350\n"

static const char sampled[] = HEADER "OP_READ 9 90\n 0 0 2 1\n-\n 0 3 0 2\nOP_WRITE 1 5\n-\n 0 0 0 0 1\n";

TEST_CASE();

TEST(copies_are_whole) {
    struct aggstats_profile profile = parse(sampled);
    struct aggstats_profile copy;
    char *text;
    size_t size_bytes;
    ck_assert_int_eq(aggstats_profile_copy(&profile, &copy), 0);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_profile_format(&copy, &text, &size_bytes), 0);
    ck_assert_str_eq(text, sampled);
    free(text);
    aggstats_profile_finish(&copy);
}

TEST(coarser_buckets_keep_their_intervals) {
    struct aggstats_profile profile = parse(sampled);
    ck_assert_int_eq(aggstats_profile_coarsen(&profile, 1), 0);
    expect_exact(&profile);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, "READ");
    ck_assert_uint_eq(op->sample_count, 3);
    ck_assert_uint_eq(op->samples[0].count, 3);
    ck_assert_uint_eq(op->samples[1].count, 3);
    ck_assert_uint_eq(op->samples[1].row, 2);
    aggstats_profile_finish(&profile);
}

TEST(another_clock_rate_keeps_the_sums) {
    struct aggstats_profile profile = parse(sampled);
    ck_assert_int_eq(aggstats_profile_rescale(&profile, 1700), 0);
    expect_exact(&profile);
    ck_assert_uint_eq(profile.interval_cycles, 170);
    ck_assert_uint_eq(profile.borders[1], 357);
    ck_assert_uint_eq(calls_of(&profile, "READ"), 9);
    uint64_t finished = 0;
    for (size_t at = 0; at < aggstats_profile_op(&profile, "READ")->sample_count; at++)
        finished += aggstats_profile_op(&profile, "READ")->samples[at].count;
    ck_assert_uint_eq(finished, 8);
    aggstats_profile_finish(&profile);
}

TEST(sums_and_differences_have_no_intervals) {
    struct aggstats_profile a = parse(sampled);
    struct aggstats_profile b = parse(sampled);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.interval_count, 0);
    ck_assert_uint_eq(a.interval_cycles, 0);
    ck_assert_uint_eq(aggstats_profile_op(&a, "READ")->sample_count, 0);
    ck_assert_uint_eq(calls_of(&a, "READ"), 18);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert_uint_eq(a.interval_cycles, 0);
    ck_assert_uint_eq(aggstats_profile_op(&a, "READ")->buckets[1], 3);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
}
