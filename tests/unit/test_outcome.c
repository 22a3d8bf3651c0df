/* What comes of calls: failures by kind and bytes, exact over threads, windows, live files, forks and sums. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "base.h"
#include "testing.h"

#define THREADS 8U
#define CALLS 100003U /* of each thread */

enum { OP_READ, OP_LOOKUP, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "LOOKUP"};

/* ---- Help ---- */

static struct aggstats_recorder *create_recorder(unsigned resolution, const char *live_path) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = resolution, .live_path = live_path};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    return recorder;
}

static void fail_with(struct aggstats_recorder *recorder, int error) {
    struct aggstats_span span = aggstats_begin(recorder, OP_LOOKUP, 1, 1);
    aggstats_end_with(recorder, &span, &(struct aggstats_outcome){.error = error});
}

static void move_bytes(struct aggstats_recorder *recorder, uint64_t asked_bytes, uint64_t moved_bytes, int error) {
    struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, 1);
    const struct aggstats_outcome outcome = {
        .error = error, .has_bytes = true, .asked_bytes = asked_bytes, .moved_bytes = moved_bytes};
    aggstats_end_with(recorder, &span, &outcome);
}

static struct aggstats_profile snapshot_of(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    return profile;
}

static uint64_t finished_calls(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
        finished += op->buckets[bucket];
    return finished;
}

/* What an op has: of ENOENT, of EACCES, of all kinds, bytes asked and moved. */
struct counts {
    uint64_t enoent, eacces, failed, asked_bytes, moved_bytes;
};

static struct counts counts_of(const struct aggstats_profile *profile, const char *name) {
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, name);
    if (!op)
        return (struct counts){0};
    return (struct counts){.enoent = op->failures[aggstats_failure_of_error(ENOENT)],
                           .eacces = op->failures[aggstats_failure_of_error(EACCES)],
                           .failed = aggstats_failed_calls(op),
                           .asked_bytes = op->asked_bytes,
                           .moved_bytes = op->moved_bytes};
}

static void check_counts(const struct aggstats_profile *profile, const char *name, struct counts expected) {
    const struct counts seen = counts_of(profile, name);
    ck_assert_uint_eq(seen.enoent, expected.enoent);
    ck_assert_uint_eq(seen.eacces, expected.eacces);
    ck_assert_uint_eq(seen.failed, expected.failed);
    ck_assert_uint_eq(seen.asked_bytes, expected.asked_bytes);
    ck_assert_uint_eq(seen.moved_bytes, expected.moved_bytes);
}

static void check_recorder(struct aggstats_recorder *recorder, struct counts lookup, struct counts read) {
    struct aggstats_profile profile = snapshot_of(recorder);
    check_counts(&profile, "LOOKUP", lookup);
    check_counts(&profile, "READ", read);
    aggstats_profile_finish(&profile);
}

/* ---- Kinds ---- */

TEST(kinds_have_names_and_are_found_by_them) {
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++) {
        ck_assert_ptr_nonnull(aggstats_failure_name(failure));
        ck_assert_int_eq(aggstats_failure_of_name(aggstats_failure_name(failure)), (int)failure);
    }
    ck_assert_ptr_null(aggstats_failure_name(AGGSTATS_FAILURES));
    ck_assert_int_eq(aggstats_failure_of_name("ENOTHING"), -1);
    ck_assert_int_eq(aggstats_failure_of_name(""), -1);
}

/* strerrorname_np() is the C library's own table. */
TEST(error_has_the_kind_of_its_name_or_is_another) {
    const unsigned other = AGGSTATS_FAILURES - 1;
    unsigned named = 0;
    for (int error = -1; error < 5000; error++) {
        const char *name = error > 0 ? strerrorname_np(error) : NULL;
        unsigned failure = aggstats_failure_of_error(error);
        int by_name = name ? aggstats_failure_of_name(name) : -1;
        ck_assert_uint_eq(failure, by_name >= 0 ? (unsigned)by_name : other);
        named += failure != other;
    }
    ck_assert_uint_eq(named, AGGSTATS_FAILURES - 1);
    ck_assert_uint_eq(aggstats_failure_of_error(INT32_MAX), other);
    ck_assert_uint_eq(aggstats_failure_of_error(INT32_MIN), other);
}

/* ---- Counting ---- */

TEST(each_failure_is_counted_as_its_kind, .to = 4) {
    struct aggstats_recorder *recorder = create_recorder(1U << _i, NULL);
    uint64_t expected[AGGSTATS_FAILURES] = {0};
    for (int error = 1; error < 200; error++) {
        fail_with(recorder, error);
        expected[aggstats_failure_of_error(error)]++;
    }
    struct aggstats_profile profile = snapshot_of(recorder);
    ck_assert_uint_eq(profile.op_count, 1);
    const struct aggstats_op_profile *op = &profile.ops[0];
    ck_assert_uint_eq(op->calls, 199);
    ck_assert_uint_eq(finished_calls(&profile, op), 199);
    ck_assert_uint_eq(op->asked_bytes, 0);
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
        ck_assert_uint_eq(op->failures[failure], expected[failure]);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(bytes_count_also_of_calls_that_failed, .to = 4) {
    struct aggstats_recorder *recorder = create_recorder(1U << _i, NULL);
    move_bytes(recorder, 4096, 100, 0);
    move_bytes(recorder, 17, 0, EACCES);
    move_bytes(recorder, 0, 0, 0);
    check_recorder(recorder, (struct counts){0},
                   (struct counts){.eacces = 1, .failed = 1, .asked_bytes = 4113, .moved_bytes = 100});
    aggstats_recorder_destroy(recorder);
}

TEST(bytes_that_wrap_break_no_snapshot) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    move_bytes(recorder, UINT64_MAX, 1, 0);
    move_bytes(recorder, 12, 2, 0);
    check_recorder(recorder, (struct counts){0}, (struct counts){.asked_bytes = 11, .moved_bytes = 3});
    aggstats_recorder_destroy(recorder);
}

/* ---- Windows ---- */

TEST(reset_and_pause_hold_for_outcomes_too, .to = 4) {
    struct aggstats_recorder *recorder = create_recorder(1U << _i, NULL);
    fail_with(recorder, ENOENT);
    move_bytes(recorder, 10, 7, 0);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    check_recorder(recorder, (struct counts){0}, (struct counts){0});
    fail_with(recorder, ENOENT);
    fail_with(recorder, EACCES);
    move_bytes(recorder, 100, 70, 0);
    const struct counts lookup = {.enoent = 1, .eacces = 1, .failed = 2};
    const struct counts read = {.asked_bytes = 100, .moved_bytes = 70};
    check_recorder(recorder, lookup, read);
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    fail_with(recorder, EACCES);
    move_bytes(recorder, 1000, 700, EIO);
    check_recorder(recorder, lookup, read);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    check_recorder(recorder, lookup, read);
    fail_with(recorder, EACCES);
    check_recorder(recorder, (struct counts){.enoent = 1, .eacces = 2, .failed = 3}, read);
    aggstats_recorder_destroy(recorder);
}

/* Two failures that are counted just after a reset, of calls that ended just before. */
TEST(window_has_no_more_failures_than_calls) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct aggstats_span span = aggstats_begin(recorder, OP_LOOKUP, 1, 1);
    aggstats_end(recorder, &span);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    aggstats_count_failure(span.counters, 1, EACCES);
    aggstats_count_failure(span.counters, 1, EACCES);
    check_recorder(recorder, (struct counts){0}, (struct counts){0});
    fail_with(recorder, 0);
    check_recorder(recorder, (struct counts){.eacces = 1, .failed = 1}, (struct counts){0});
    aggstats_recorder_destroy(recorder);
}

/* ---- Threads ---- */

static void *work(void *argument) {
    struct aggstats_recorder *recorder = argument;
    for (unsigned i = 0; i < CALLS; i++) {
        fail_with(recorder, i % 3 == 0 ? ENOENT : i % 3 == 1 ? EACCES : 0);
        move_bytes(recorder, 5, 3, 0);
    }
    return NULL;
}

static void start_threads(struct aggstats_recorder *recorder, pthread_t threads[THREADS]) {
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, recorder), 0);
}

static void join_threads(const pthread_t threads[THREADS]) {
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static const struct counts all_lookups = {.enoent = THREADS * ((CALLS + 2) / 3),
                                          .eacces = THREADS * ((CALLS + 1) / 3),
                                          .failed = THREADS * ((CALLS + 2) / 3 + (CALLS + 1) / 3)};
static const struct counts all_reads = {.asked_bytes = THREADS * CALLS * 5, .moved_bytes = THREADS * CALLS * 3};

TEST(no_outcome_is_lost_by_many_threads) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    pthread_t threads[THREADS];
    start_threads(recorder, threads);
    join_threads(threads);
    check_recorder(recorder, all_lookups, all_reads);
    aggstats_recorder_destroy(recorder);
}

static void check_order(const struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        ck_assert_uint_le(aggstats_failed_calls(op), finished_calls(profile, op));
        ck_assert_uint_le(finished_calls(profile, op), op->calls);
    }
}

static void read_live(int fd) {
    struct aggstats_profile profile;
    int err = aggstats_live_read(fd, &profile, NULL, NULL);
    if (err == -EAGAIN)
        return;
    ck_assert_int_eq(err, 0);
    check_order(&profile);
    aggstats_profile_finish(&profile);
}

TEST(snapshots_meanwhile_never_have_more_failures_than_calls) {
    char path[] = "/tmp/test_outcome.XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(path);
    struct aggstats_recorder *recorder = create_recorder(1, path);
    const int live_fd = open(path, O_RDONLY | O_CLOEXEC);
    pthread_t threads[THREADS];
    start_threads(recorder, threads);
    for (unsigned i = 0; i < 300; i++) {
        struct aggstats_profile profile = snapshot_of(recorder);
        check_order(&profile);
        aggstats_profile_finish(&profile);
        read_live(live_fd);
        if (i % 3 == 0)
            ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    }
    join_threads(threads);
    ck_assert_int_eq(aggstats_recorder_unlink_live(recorder), 0);
    close(live_fd);
    aggstats_recorder_destroy(recorder);
}

/* ---- What outlives a thread, a process, a fork ---- */

TEST(live_file_has_them, .to = 4) {
    char path[] = "/tmp/test_outcome.XXXXXX";
    close(mkstemp(path));
    unlink(path);
    struct aggstats_recorder *recorder = create_recorder(1U << _i, path);
    pthread_t threads[THREADS];
    start_threads(recorder, threads);
    join_threads(threads);
    struct aggstats_profile profile;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(aggstats_live_read(fd, &profile, NULL, NULL), 0);
    check_counts(&profile, "LOOKUP", all_lookups);
    check_counts(&profile, "READ", all_reads);
    aggstats_profile_finish(&profile);
    close(fd);
    ck_assert_int_eq(aggstats_recorder_unlink_live(recorder), 0);
    aggstats_recorder_destroy(recorder);
}

TEST(child_has_none_of_its_parents) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    fail_with(recorder, ENOENT);
    move_bytes(recorder, 5, 3, 0);
    pid_t child = fork();
    if (child == 0) {
        fail_with(recorder, EACCES);
        check_recorder(recorder, (struct counts){.eacces = 1, .failed = 1}, (struct counts){0});
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    check_recorder(recorder, (struct counts){.enoent = 1, .failed = 1},
                   (struct counts){.asked_bytes = 5, .moved_bytes = 3});
    aggstats_recorder_destroy(recorder);
}

/* ---- Arithmetic ---- */

TEST(sums_and_differences_have_them) {
    struct aggstats_recorder *recorder = create_recorder(8, NULL);
    fail_with(recorder, ENOENT);
    move_bytes(recorder, 5, 3, 0);
    struct aggstats_profile first = snapshot_of(recorder);
    fail_with(recorder, ENOENT);
    fail_with(recorder, EACCES);
    move_bytes(recorder, 11, 8, 0);
    struct aggstats_profile second = snapshot_of(recorder);
    ck_assert_int_eq(aggstats_profile_subtract(&second, &first), 0);
    check_counts(&second, "LOOKUP", (struct counts){.enoent = 1, .eacces = 1, .failed = 2});
    check_counts(&second, "READ", (struct counts){.asked_bytes = 11, .moved_bytes = 8});
    ck_assert_int_eq(aggstats_profile_coarsen(&first, 2), 0);
    ck_assert_int_eq(aggstats_profile_add(&second, &first), 0);
    ck_assert_int_eq(aggstats_profile_rescale(&second, 3 * second.clock.frequency_hz), 0);
    check_counts(&second, "LOOKUP", (struct counts){.enoent = 2, .eacces = 1, .failed = 3});
    check_counts(&second, "READ", (struct counts){.asked_bytes = 16, .moved_bytes = 11});
    aggstats_profile_finish(&first);
    aggstats_profile_finish(&second);
    aggstats_recorder_destroy(recorder);
}

TEST(difference_has_no_more_failures_than_calls) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    fail_with(recorder, 0);
    struct aggstats_profile earlier = snapshot_of(recorder);
    fail_with(recorder, 0);
    struct aggstats_profile later = snapshot_of(recorder);
    later.ops[0].failures[aggstats_failure_of_error(EACCES)] = 2;
    ck_assert_int_eq(aggstats_profile_subtract(&later, &earlier), 0);
    check_counts(&later, "LOOKUP", (struct counts){.eacces = 1, .failed = 1});
    aggstats_profile_finish(&earlier);
    aggstats_profile_finish(&later);
    aggstats_recorder_destroy(recorder);
}

TEST(what_has_fewer_cannot_be_taken_from, .to = 3) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    move_bytes(recorder, 5, 3, EIO);
    struct aggstats_profile earlier = snapshot_of(recorder);
    struct aggstats_profile later = snapshot_of(recorder);
    uint64_t *const counts[] = {&later.ops[0].asked_bytes, &later.ops[0].moved_bytes,
                                &later.ops[0].failures[aggstats_failure_of_error(EIO)]};
    (*counts[_i])--;
    ck_assert_int_eq(aggstats_profile_subtract(&later, &earlier), -ERANGE);
    *counts[_i] = UINT64_MAX;
    ck_assert_int_eq(aggstats_profile_add(&later, &earlier), -EOVERFLOW);
    aggstats_profile_finish(&earlier);
    aggstats_profile_finish(&later);
    aggstats_recorder_destroy(recorder);
}
