/* Forks: a child counts in memory of its own, and does not affect the counts of its parent. Each test compares exact
 * counts in both. The exit status of a child says whether its counts were right. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/joint_profiles.h"
#include "testing.h"

enum { OP_READ, OP_WRITE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE"};

#define CHILD_SECONDS 60 /* then it hangs, and is killed */

static char directory[] = "/tmp/test-fork-XXXXXX";
static char path[sizeof(directory) + 16];
static char child_path[sizeof(directory) + 16];
static struct aggstats_recorder *recorder;

static int create(const char *live_path, struct aggstats_recorder **ret_recorder) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 2, .live_path = live_path};
    return aggstats_recorder_create(&options, ret_recorder);
}

static void set_up(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/live", directory);
    snprintf(child_path, sizeof(child_path), "%s/child", directory);
    ck_assert_int_eq(create(path, &recorder), 0);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
    unlink(child_path);
    unlink(path);
    rmdir(directory);
}

static void record(struct aggstats_recorder *into, unsigned op, int calls) {
    for (int i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(into, op, 5, 6);
        aggstats_end(into, &span);
    }
}

/* Calls of all ops. */
struct seen {
    uint64_t calls;
    uint64_t finished;
    size_t in_flight;
};

static struct seen sum_up(const struct aggstats_profile *profile) {
    struct seen seen = {.in_flight = profile->in_flight_count};
    for (size_t i = 0; i < profile->op_count; i++) {
        seen.calls += profile->ops[i].calls;
        for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
            seen.finished += profile->ops[i].buckets[bucket];
    }
    return seen;
}

/* Whether a recorder shows that many calls, of which so many have not ended. */
static bool shows(struct aggstats_recorder *of, uint64_t calls, uint64_t open_calls) {
    struct aggstats_profile profile;
    if (aggstats_recorder_snapshot(of, &profile) < 0)
        return false;
    struct seen seen = sum_up(&profile);
    aggstats_profile_finish(&profile);
    return seen.calls == calls && seen.finished == calls - open_calls;
}

static bool live_file_shows(const char *file, uint64_t calls, pid_t pid, bool recording) {
    struct aggstats_profile profile;
    struct aggstats_live_info info;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    int err = aggstats_live_read(fd, &profile, &info, NULL);
    close(fd);
    if (err < 0)
        return false;
    struct seen seen = sum_up(&profile);
    aggstats_profile_finish(&profile);
    return seen.finished == calls && info.pid == pid && info.recording == recording;
}

/* A child lets go of the file as soon as it runs. */
static bool live_file_is_free(const char *file, uint64_t calls, pid_t pid) {
    for (int attempt = 0; attempt < 20000; attempt++) {
        if (live_file_shows(file, calls, pid, false))
            return true;
        usleep(1000);
    }
    return false;
}

typedef bool (*child_fn)(void);

/* By executing a program: memory that the parent's other threads were holding is lost in the child, which valgrind
 * would complain of at the end. */
static void finish(bool is_right) {
    const char *program = is_right ? "true" : "false";
    execlp(program, program, (char *)NULL);
    _exit(EXIT_FAILURE);
}

static pid_t start(child_fn run) {
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(CHILD_SECONDS);
        finish(run());
    }
    return child;
}

static bool succeeds(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static void expect_parent(uint64_t calls) {
    ck_assert(shows(recorder, calls, 0));
    ck_assert(live_file_shows(path, calls, getpid(), true));
    ck_assert_str_eq(aggstats_recorder_live_path(recorder), path);
}

/* ---- One thread ---- */

static bool count_from_nothing(void) {
    bool is_empty = shows(recorder, 0, 0) && !aggstats_recorder_live_path(recorder);
    record(recorder, OP_READ, 17);
    record(recorder, OP_WRITE, 19);
    return is_empty && shows(recorder, 36, 0) && aggstats_recorder_live_complete(recorder);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down, .seconds = 120);

TEST(child_starts_from_nothing_and_the_parent_goes_on) {
    record(recorder, OP_READ, 101);
    ck_assert(succeeds(start(count_from_nothing)));
    expect_parent(101);
    record(recorder, OP_READ, 103);
    expect_parent(204);
}

static bool count_without_ever_having_counted(void) {
    return count_from_nothing() && aggstats_recorder_reset(recorder) == 0 && shows(recorder, 0, 0);
}

TEST(parent_that_has_not_counted_yet_is_no_exception) {
    ck_assert(succeeds(start(count_without_ever_having_counted)));
    expect_parent(0);
    record(recorder, OP_WRITE, 7);
    expect_parent(7);
}

static bool remove_live_file(void) {
    record(recorder, OP_READ, 3);
    return aggstats_recorder_unlink_live(recorder) == 0 && access(path, F_OK) == 0;
}

TEST(child_does_not_remove_the_live_file) {
    ck_assert(succeeds(start(remove_live_file)));
    expect_parent(0);
}

static struct aggstats_span outer;
static struct aggstats_span inner;

static bool end_calls(void) {
    bool are_open = shows(recorder, 2, 2);
    aggstats_end(recorder, &inner);
    aggstats_end(recorder, &outer);
    record(recorder, OP_READ, 11);
    return are_open && shows(recorder, 13, 0);
}

TEST(calls_in_progress_end_in_both) {
    record(recorder, OP_READ, 5);
    outer = aggstats_begin(recorder, OP_WRITE, 1, 1);
    inner = aggstats_begin(recorder, OP_READ, 2, 2);
    ck_assert(succeeds(start(end_calls)));
    ck_assert(shows(recorder, 7, 2));
    aggstats_end(recorder, &inner);
    aggstats_end(recorder, &outer);
    expect_parent(7);
}

static bool fork_again(void) {
    record(recorder, OP_READ, 23);
    return succeeds(start(count_from_nothing)) && shows(recorder, 23, 0);
}

TEST(grandchild_starts_from_nothing_too) {
    record(recorder, OP_READ, 29);
    ck_assert(succeeds(start(fork_again)));
    expect_parent(29);
}

static bool execute(void) {
    record(recorder, OP_READ, 31);
    execl("/bin/true", "true", (char *)NULL);
    return false;
}

TEST(child_that_executes_a_program_does_no_harm) {
    record(recorder, OP_READ, 37);
    ck_assert(succeeds(start(execute)));
    expect_parent(37);
}

static bool record_anew(void) {
    struct aggstats_recorder *own = NULL;
    record(recorder, OP_READ, 2);
    aggstats_recorder_destroy(recorder);
    if (create(child_path, &own) < 0)
        return false;
    record(own, OP_READ, 41);
    return live_file_shows(child_path, 41, getpid(), true);
}

TEST(child_may_make_a_recorder_with_a_live_file) {
    record(recorder, OP_READ, 43);
    pid_t child = start(record_anew);
    ck_assert(succeeds(child));
    ck_assert(live_file_shows(child_path, 41, child, false));
    expect_parent(43);
}

/* ---- A parent that dies ---- */

static int hold[2]; /* the grandchild waits for its end */

static bool wait_for_end(void) {
    char byte;
    record(recorder, OP_READ, 47);
    close(hold[1]);
    return read(hold[0], &byte, 1) == 0;
}

static bool leave_child_behind(void) {
    if (create(child_path, &recorder) < 0)
        return false;
    record(recorder, OP_READ, 53);
    start(wait_for_end);
    return true;
}

TEST(dead_parent_is_not_said_to_record) {
    ck_assert_int_eq(pipe(hold), 0);
    pid_t parent = start(leave_child_behind);
    ck_assert(succeeds(parent));
    ck_assert(live_file_is_free(child_path, 53, parent));
    close(hold[0]);
    close(hold[1]);
}

/* ---- Children without handlers ---- */

TEST(vforked_child_counts_for_its_parent) {
    volatile bool is_shared = false; /* valgrind and ThreadSanitizer make it a fork */
    record(recorder, OP_READ, 59);
    pid_t child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (child == 0) {
        is_shared = true;              // NOLINT(clang-analyzer-unix.Vfork)
        record(recorder, OP_READ, 61); // NOLINT(clang-analyzer-unix.Vfork)
        _exit(EXIT_SUCCESS);
    }
    ck_assert(succeeds(child));
    expect_parent(is_shared ? 120 : 59);
}

#if !defined(__SANITIZE_THREAD__)
static void *record_in_thread(void *unused) {
    record(recorder, OP_READ, 1009);
    return unused;
}

TEST(child_without_handlers_counts_nowhere) {
    record(recorder, OP_READ, 67);
    pid_t child = _Fork();
    if (child == 0) {
        pthread_t thread;
        alarm(CHILD_SECONDS);
        record(recorder, OP_READ, 1009);
        record(recorder, OP_WRITE, 1009);
        aggstats_group_add(recorder, OP_READ, &(struct aggstats_call_of){.thread = 1}, 1);
        _exit(pthread_create(&thread, NULL, record_in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0
                  ? EXIT_SUCCESS
                  : EXIT_FAILURE);
    }
    ck_assert(succeeds(child));
    expect_parent(67);
}

/* ---- The recorder's threads ---- */

static bool has_dimensions(struct aggstats_recorder *of) {
    struct aggstats_profile profile;
    if (aggstats_recorder_snapshot(of, &profile) < 0)
        return true;
    bool has = profile.interval_count > 0 || profile.group_count > 0 || profile.joint_count > 0;
    aggstats_profile_finish(&profile);
    return has;
}

static void record_dimensions(struct aggstats_recorder *into, int calls) {
    for (int i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(into, OP_READ, 5, 6);
        uint64_t latency_cycles = aggstats_end(into, &span);
        aggstats_group_add(into, OP_READ, &(struct aggstats_call_of){.thread = 4711}, latency_cycles);
        aggstats_joint_add(into, OP_READ, AGGSTATS_ERROR, 0, latency_cycles);
    }
}

static bool ask_for_dimensions(void) {
    const struct aggstats_grouping_options grouping = {.grouping = AGGSTATS_BY_PROCESS};
    return aggstats_recorder_group(recorder, &grouping) == 0 &&
           aggstats_recorder_set_interval(recorder, AGGSTATS_INTERVAL_MIN_NS, 0) == 0 &&
           aggstats_recorder_set_joint(recorder, OP_READ, 1U << AGGSTATS_ERROR) == 0;
}

static bool group_is(uint64_t calls) {
    struct aggstats_profile profile;
    if (aggstats_recorder_snapshot(recorder, &profile) < 0)
        return false;
    bool is = profile.group_count == 1 && profile.groups[0].profile.ops[0].calls == calls &&
              profile.interval_count > 0 && profile.joint_count == 1;
    aggstats_profile_finish(&profile);
    return is;
}

static bool ask_anew(void) {
    record_dimensions(recorder, 71);
    if (has_dimensions(recorder) || !shows(recorder, 71, 0) || !ask_for_dimensions())
        return false;
    record_dimensions(recorder, 73);
    bool is_right = group_is(73) && shows(recorder, 144, 0);
    aggstats_recorder_destroy(recorder);
    return is_right;
}

static bool only_destroy(void) {
    record_dimensions(recorder, 71);
    aggstats_recorder_destroy(recorder);
    return true;
}

static bool end_sampling(void) {
    return aggstats_recorder_set_interval(recorder, 0, 0) == 0 && !has_dimensions(recorder) && shows(recorder, 0, 0);
}

/* The locks of AddressSanitizer's allocator stay as they were at the fork: a child may wait for them for ever, where
 * other threads allocate memory at that moment, be they the recorder's. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST(threads_of_the_recorder_stay_with_the_parent) {
    static const child_fn children[] = {ask_anew, only_destroy, end_sampling};
    ck_assert(ask_for_dimensions());
    uint64_t calls = 0;
    for (int round = 0; round < 12; round++) {
        record_dimensions(recorder, 997);
        calls += 997;
        ck_assert(succeeds(start(children[round % 3])));
    }
    ck_assert(group_is(calls));
    expect_parent(calls);
}
#endif
#endif

/* ---- Threads that record, and take the library's locks, while another forks ---- */

#define THREADS 3
#define CHILDREN 41

static struct aggstats_recorder *second;
static bool stop; /* atomic */

/* Turning from one recorder to the other takes the registry's lock each time. Returns rounds by the argument. */
static void *alternate(void *argument) {
    uint64_t rounds = 0;
    for (; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); rounds++) {
        record(recorder, OP_READ, 1);
        record(second, OP_WRITE, 2);
    }
    *(uint64_t *)argument = rounds;
    return NULL;
}

static void *snapshot_and_reset(void *argument) {
    (void)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        struct aggstats_profile profile;
        if (aggstats_recorder_snapshot(second, &profile) == 0)
            aggstats_profile_finish(&profile);
        aggstats_recorder_reset(second);
    }
    return NULL;
}

static bool count_in_both(void) {
    bool are_empty = shows(recorder, 0, 0) && shows(second, 0, 0);
    for (int i = 0; i < 13; i++) {
        record(recorder, OP_READ, 7);
        record(second, OP_READ, 11);
    }
    return are_empty && shows(recorder, 91, 0) && shows(second, 143, 0) && aggstats_recorder_reset(second) == 0 &&
           shows(second, 0, 0);
}

#ifndef __SANITIZE_ADDRESS__
TEST(forks_beside_threads_that_record_lose_nothing) {
    pthread_t threads[THREADS + 1];
    uint64_t rounds[THREADS] = {0};
    uint64_t calls = 0;
    ck_assert_int_eq(create(NULL, &second), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, alternate, &rounds[i]), 0);
    ck_assert_int_eq(pthread_create(&threads[THREADS], NULL, snapshot_and_reset, NULL), 0);
    for (int i = 0; i < CHILDREN; i++)
        ck_assert(succeeds(start(count_in_both)));
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        calls += rounds[i];
    }
    pthread_join(threads[THREADS], NULL);
    expect_parent(calls);
    aggstats_recorder_destroy(second);
}
#endif

/* Recorders that come and go: none of their live files is left locked by a child. */
static void *create_and_destroy(void *argument) {
    struct aggstats_recorder *short_lived = NULL;
    (void)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE) && create(child_path, &short_lived) == 0) {
        record(short_lived, OP_READ, 1);
        aggstats_recorder_destroy(short_lived);
        if (!live_file_is_free(child_path, 1, getpid()))
            *(bool *)argument = false;
        unlink(child_path);
    }
    return NULL;
}

TEST(recorders_that_come_and_go_meanwhile_let_go_of_their_files) {
    pthread_t thread = 0;
    bool are_free = true;
    pid_t children[CHILDREN];
    ck_assert_int_eq(pipe(hold), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, create_and_destroy, &are_free), 0);
    for (int i = 0; i < CHILDREN; i++)
        children[i] = start(wait_for_end);
    usleep(20000);
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    close(hold[1]);
    for (int i = 0; i < CHILDREN; i++)
        ck_assert(succeeds(children[i]));
    close(hold[0]);
    ck_assert(are_free);
    expect_parent(0);
}
