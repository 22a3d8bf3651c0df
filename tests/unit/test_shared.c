/* A live file in which several processes count: nothing is lost however they end, and blocks are used again. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/shared.h"
#include "aggstats/watched.h"
#include "run_suite.h"

enum { OP_READ, OP_WRITE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE"};

#define THREADS_MAX 16
#define MANY_THREADS 101

static char directory[] = "/tmp/test-shared-XXXXXX";
static char path[sizeof(directory) + 16];
static struct aggstats_recorder *maker;
static pthread_barrier_t all_have_counted;
static pthread_barrier_t all_may_end;

static int make(unsigned shared_threads) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = path};
    return shared_threads == 0 ? aggstats_recorder_create(&options, &maker)
                               : aggstats_recorder_create_shared(&options, shared_threads, &maker);
}

static void set_up(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/live", directory);
    ck_assert_int_eq(make(THREADS_MAX), 0);
}

static void tear_down(void) {
    aggstats_recorder_destroy(maker);
    unlink(path);
    rmdir(directory);
}

static struct aggstats_recorder *join(void) {
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, &recorder), 0);
    return recorder;
}

static void record(struct aggstats_recorder *into, unsigned op, int calls) {
    for (int i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(into, op, 5, 6);
        aggstats_end(into, &span);
    }
}

static void read_file(struct aggstats_profile *ret_profile, struct aggstats_live_info *ret_info) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(aggstats_live_read(fd, ret_profile, ret_info, NULL), 0);
    close(fd);
}

/* Calls of an op, all of which have ended. */
static uint64_t calls_of(const char *op_name) {
    struct aggstats_profile profile;
    read_file(&profile, NULL);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, op_name);
    uint64_t calls = op ? op->calls : 0;
    uint64_t ended = 0;
    for (unsigned bucket = 0; op && bucket < 64; bucket++)
        ended += op->buckets[bucket];
    aggstats_profile_finish(&profile);
    ck_assert_uint_eq(calls, ended);
    return calls;
}

static bool is_incomplete(void) {
    struct aggstats_profile profile;
    read_file(&profile, NULL);
    bool incomplete = profile.incomplete;
    aggstats_profile_finish(&profile);
    return incomplete;
}

static off_t file_bytes(void) {
    struct stat attr;
    ck_assert_int_eq(stat(path, &attr), 0);
    return attr.st_size;
}

static void wait_for(pid_t child) {
    int status;
    ck_assert_int_ge(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
}

/* A process that counts, and ends in one of the ways that leave no time for anything. */
static void count_in_child(struct aggstats_recorder *recorder, int calls, bool is_killed) {
    pid_t child = fork();
    if (child == 0) {
        record(recorder, OP_READ, calls);
        if (is_killed)
            kill(getpid(), SIGKILL);
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    wait_for(child);
}

/* ---- Counting ---- */

START_TEST(processes_count_together) {
    struct aggstats_recorder *recorder = join();
    record(recorder, OP_READ, 7);
    count_in_child(recorder, 11, false);
    count_in_child(recorder, 13, true);
    record(recorder, OP_WRITE, 3);
    ck_assert_uint_eq(calls_of("READ"), 7 + 11 + 13);
    ck_assert_uint_eq(calls_of("WRITE"), 3);
    ck_assert(!is_incomplete());
}
END_TEST

START_TEST(blocks_of_processes_that_have_ended_are_used_again) {
    struct aggstats_recorder *recorder = join();
    count_in_child(recorder, 1, true);
    off_t bytes = file_bytes();
    for (int i = 0; i < 101; i++)
        count_in_child(recorder, 1, i % 2 == 0);
    ck_assert_int_eq(file_bytes(), bytes);
    ck_assert_uint_eq(calls_of("READ"), 102);
}
END_TEST

static void *count_in_thread(void *recorder) {
    record(recorder, OP_READ, 17);
    return NULL;
}

START_TEST(blocks_of_threads_that_have_ended_are_used_again) {
    struct aggstats_recorder *recorder = join();
    for (int i = 0; i < 101; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, count_in_thread, recorder), 0);
        pthread_join(thread, NULL);
    }
    ck_assert_uint_eq(calls_of("READ"), 101 * 17);
    ck_assert(!is_incomplete()); /* far more threads than there may be at one time */
}
END_TEST

/* A child is no thread of its parent's: both count at once. */
START_TEST(child_and_parent_count_at_once) {
    struct aggstats_recorder *recorder = join();
    record(recorder, OP_READ, 1);
    pid_t child = fork();
    if (child == 0) {
        record(recorder, OP_READ, 100003);
        _exit(0);
    }
    record(recorder, OP_READ, 100019);
    wait_for(child);
    ck_assert_uint_eq(calls_of("READ"), 1 + 100003 + 100019);
}
END_TEST

START_TEST(child_of_vfork_counts_as_its_parent) {
    struct aggstats_recorder *recorder = join();
    /* NOLINTBEGIN(clang-analyzer-*): it is what is tested */
    pid_t child = vfork();
    if (child == 0) {
        record(recorder, OP_READ, 5); /* the first call of all */
        _exit(0);
    }
    /* NOLINTEND(clang-analyzer-*) */
    wait_for(child);
    record(recorder, OP_READ, 2);
    ck_assert_uint_eq(calls_of("READ"), 7);
}
END_TEST

START_TEST(call_that_was_watched_counts_like_others) {
    struct aggstats_recorder *recorder = join();
    const struct aggstats_outcome outcome = {.error = ENOENT, .has_bytes = true, .asked_bytes = 10, .moved_bytes = 4};
    errno = EXDEV;
    struct aggstats_span span = aggstats_watch(recorder, OP_WRITE, 0);
    span.start_cycles = 1000;
    aggstats_watched_count(recorder, OP_WRITE, &span, 5000, &outcome);
    ck_assert_int_eq(errno, EXDEV);
    struct aggstats_profile profile;
    read_file(&profile, NULL);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, "WRITE");
    ck_assert_uint_eq(op->calls, 1);
    ck_assert_uint_eq(op->total_cycles, 4000);
    ck_assert_uint_eq(op->asked_bytes, 10);
    ck_assert_uint_eq(op->moved_bytes, 4);
    ck_assert_uint_eq(op->failures[aggstats_failure_of_error(ENOENT)], 1);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    aggstats_profile_finish(&profile);
}
END_TEST

static size_t calls_in_flight(void) {
    struct aggstats_profile profile;
    read_file(&profile, NULL);
    size_t count = profile.in_flight_count;
    aggstats_profile_finish(&profile);
    return count;
}

START_TEST(call_that_a_process_ended_in_is_forgotten) {
    struct aggstats_recorder *recorder = join();
    struct aggstats_span own = aggstats_begin(recorder, OP_WRITE, 5, 6);
    pid_t child = fork();
    if (child == 0) {
        aggstats_begin(recorder, OP_READ, 5, 6);
        kill(getpid(), SIGKILL);
    }
    wait_for(child);
    ck_assert_uint_eq(calls_in_flight(), 2);
    aggstats_recorder_forget_dead(maker);
    ck_assert_uint_eq(calls_in_flight(), 1);
    aggstats_end(recorder, &own);
    ck_assert_uint_eq(calls_in_flight(), 0);
}
END_TEST

/* Nobody counts there any more: what has neither ended nor a name was left. */
START_TEST(calls_left_are_counted_when_nobody_counts) {
    struct aggstats_profile profile;
    struct aggstats_recorder *recorder = join();
    for (int i = 0; i < 3; i++)
        aggstats_begin(recorder, OP_READ, 5, 6); /* the last one has a name */
    record(recorder, OP_WRITE, 1);
    aggstats_begin(recorder, OP_READ, 5, 6);
    read_file(&profile, NULL);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->left_calls, 0); /* they may be interrupted */
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(maker);
    maker = NULL;
    read_file(&profile, NULL);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->left_calls, 3);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "WRITE")->left_calls, 0);
    ck_assert_uint_eq(profile.in_flight_count, 1);
    aggstats_profile_finish(&profile);
}
END_TEST

START_TEST(notes_of_all_are_added_up) {
    struct aggstats_profile profile;
    struct aggstats_live_info info;
    aggstats_recorder_note(join(), 1, 20);
    aggstats_recorder_note(join(), 1, 3);
    read_file(&profile, &info);
    ck_assert_uint_eq(info.notes[0], 0);
    ck_assert_uint_eq(info.notes[1], 23);
    aggstats_profile_finish(&profile);
}
END_TEST

/* ---- Calls in flight, seen by the process that made the file ---- */

START_TEST(file_is_busy_while_a_call_is_in_flight) {
    struct aggstats_recorder *recorder = join();
    ck_assert(!aggstats_recorder_shared_in_flight(maker));
    struct aggstats_span span = aggstats_begin(recorder, OP_WRITE, 5, 6);
    ck_assert(aggstats_recorder_shared_in_flight(maker));
    aggstats_end(recorder, &span);
    ck_assert(!aggstats_recorder_shared_in_flight(maker));
    span = aggstats_watch(recorder, OP_READ, 6);
    ck_assert(aggstats_recorder_shared_in_flight(maker));
    aggstats_watched_drop(&span);
    ck_assert(!aggstats_recorder_shared_in_flight(maker));
}
END_TEST

static void *wait_in_a_call(void *recorder) {
    struct aggstats_span span = aggstats_begin(recorder, OP_READ, 5, 6);
    pthread_barrier_wait(&all_have_counted);
    pthread_barrier_wait(&all_have_counted);
    aggstats_end(recorder, &span);
    pthread_barrier_wait(&all_have_counted);
    pthread_barrier_wait(&all_may_end);
    return NULL;
}

/* Each thread in turn is the only one in a call, also those for whom more blocks must be mapped. */
START_TEST(every_thread_makes_the_file_busy) {
    struct aggstats_recorder *recorder;
    pthread_t threads[MANY_THREADS];
    aggstats_recorder_destroy(maker);
    unlink(path);
    ck_assert_int_eq(make(MANY_THREADS + 1), 0);
    recorder = join();
    pthread_barrier_init(&all_have_counted, NULL, 2);
    pthread_barrier_init(&all_may_end, NULL, MANY_THREADS + 1);
    for (size_t i = 0; i < MANY_THREADS; i++) {
        ck_assert(!aggstats_recorder_shared_in_flight(maker));
        ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_in_a_call, recorder), 0);
        pthread_barrier_wait(&all_have_counted);
        ck_assert(aggstats_recorder_shared_in_flight(maker));
        pthread_barrier_wait(&all_have_counted);
        pthread_barrier_wait(&all_have_counted);
    }
    pthread_barrier_wait(&all_may_end);
    for (size_t i = 0; i < MANY_THREADS; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(process_that_ended_in_a_call_is_not_busy) {
    struct aggstats_recorder *recorder = join();
    pid_t child = fork();
    if (child == 0) {
        aggstats_begin(recorder, OP_READ, 5, 6);
        kill(getpid(), SIGSTOP);
        kill(getpid(), SIGKILL);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert(aggstats_recorder_shared_in_flight(maker));
    kill(child, SIGCONT);
    wait_for(child);
    ck_assert(!aggstats_recorder_shared_in_flight(maker));
}
END_TEST

/* ---- Faults ---- */

#if !defined(__SANITIZE_THREAD__)
#define THREADS_TOO_MANY 3

static void *count_and_wait(void *recorder) {
    record(recorder, OP_READ, 1);
    pthread_barrier_wait(&all_have_counted);
    return NULL;
}

START_TEST(threads_that_find_no_room_are_told_of) {
    struct aggstats_recorder *recorder = join();
    pthread_t threads[THREADS_MAX + THREADS_TOO_MANY];
    pthread_barrier_init(&all_have_counted, NULL, THREADS_MAX + THREADS_TOO_MANY);
    for (size_t i = 0; i < THREADS_MAX + THREADS_TOO_MANY; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_and_wait, recorder), 0);
    for (size_t i = 0; i < THREADS_MAX + THREADS_TOO_MANY; i++)
        pthread_join(threads[i], NULL);
    ck_assert(is_incomplete());
    ck_assert_uint_eq(calls_of("READ"), THREADS_MAX - 1); /* and this thread, which has joined, has room of its own */
}
END_TEST
#endif

START_TEST(file_that_is_gone_loses_new_threads_only) {
    struct aggstats_recorder *recorder = join();
    record(recorder, OP_READ, 2);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    count_in_child(recorder, 3, false);
    record(recorder, OP_READ, 5);
    struct aggstats_profile profile;
    struct aggstats_live_info info;
    ck_assert_int_eq(aggstats_live_read(fd, &profile, &info, NULL), 0);
    close(fd);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 7);
    ck_assert_uint_eq(info.notes[AGGSTATS_NOTE_MISSING], 1); /* the process, however many calls */
    ck_assert_uint_eq(info.notes[AGGSTATS_NOTE_DENIED], 0);
    ck_assert(!profile.incomplete);
    aggstats_profile_finish(&profile);
}
END_TEST

START_TEST(file_of_one_process_is_refused) {
    struct aggstats_recorder *recorder = NULL;
    aggstats_recorder_destroy(maker);
    unlink(path);
    ck_assert_int_eq(make(0), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, &recorder), -EBADMSG);
    ck_assert_ptr_null(recorder);
}
END_TEST

START_TEST(file_with_other_operations_is_refused) {
    static const char *const others[OP_COUNT] = {"READ", "REED"};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_join(path, others, OP_COUNT, &recorder), -EBADMSG);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, 1, &recorder), -EBADMSG);
    ck_assert_int_eq(aggstats_recorder_join(directory, op_names, OP_COUNT, &recorder), -EISDIR);
}
END_TEST

START_TEST(file_that_is_cut_short_is_refused) {
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(truncate(path, 4096), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, &recorder), -EBADMSG);
    ck_assert_int_eq(truncate(path, 100), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, &recorder), -EBADMSG);
    ck_assert_int_eq(truncate(path, file_bytes() + (1 << 22)), 0); /* for the recorder to end well */
}
END_TEST

int main(void) {
    Suite *suite = suite_create("shared");
    TCase *counting = tcase_create("counting");
    tcase_add_checked_fixture(counting, set_up, tear_down);
    tcase_set_timeout(counting, 120);
    tcase_add_test(counting, processes_count_together);
    tcase_add_test(counting, blocks_of_processes_that_have_ended_are_used_again);
    tcase_add_test(counting, blocks_of_threads_that_have_ended_are_used_again);
    tcase_add_test(counting, child_and_parent_count_at_once);
    tcase_add_test(counting, child_of_vfork_counts_as_its_parent);
    tcase_add_test(counting, call_that_was_watched_counts_like_others);
    tcase_add_test(counting, call_that_a_process_ended_in_is_forgotten);
    tcase_add_test(counting, calls_left_are_counted_when_nobody_counts);
    tcase_add_test(counting, notes_of_all_are_added_up);
    suite_add_tcase(suite, counting);
    TCase *busy = tcase_create("busy");
    tcase_add_checked_fixture(busy, set_up, tear_down);
    tcase_set_timeout(busy, 120);
    tcase_add_test(busy, file_is_busy_while_a_call_is_in_flight);
    tcase_add_test(busy, every_thread_makes_the_file_busy);
    tcase_add_test(busy, process_that_ended_in_a_call_is_not_busy);
    suite_add_tcase(suite, busy);
    TCase *faults = tcase_create("faults");
    tcase_add_checked_fixture(faults, set_up, tear_down);
/* They all count in one place, which nobody reads. */
#if !defined(__SANITIZE_THREAD__)
    tcase_add_test(faults, threads_that_find_no_room_are_told_of);
#endif
    tcase_add_test(faults, file_that_is_gone_loses_new_threads_only);
    tcase_add_test(faults, file_of_one_process_is_refused);
    tcase_add_test(faults, file_with_other_operations_is_refused);
    tcase_add_test(faults, file_that_is_cut_short_is_refused);
    suite_add_tcase(suite, faults);
    return run_suite(suite);
}
