/* How much of the time calls are in flight. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/busy.h"
#include "aggstats/lane.h"
#include "aggstats/slow.h"
#include "proc.h"
#include "testing.h"

static struct aggstats_recorder *create_watched(void) {
    static const char *const names[] = {"READ"};
    const struct aggstats_recorder_options options = {.op_names = names, .op_count = 1, .resolution = 1};
    struct aggstats_recorder *recorder;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_watch(recorder, false), 0);
    return recorder;
}

static struct aggstats_busy busy_of(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    struct aggstats_busy busy = profile.busy;
    ck_assert_uint_le(busy.busy, busy.looks);
    aggstats_profile_finish(&profile);
    return busy;
}

static void wait_a_little(void) {
    const struct timespec little = {.tv_nsec = 1000000};
    nanosleep(&little, NULL);
}

/* More looks than there were, whatever they see. */
static struct aggstats_busy wait_for_looks(struct aggstats_recorder *recorder, uint64_t more) {
    const uint64_t before = busy_of(recorder).looks;
    while (busy_of(recorder).looks < before + more)
        wait_a_little();
    return busy_of(recorder);
}

TEST(looks_see_calls_in_flight_and_nothing_else) {
    struct aggstats_recorder *recorder = create_watched();
    struct aggstats_busy idle = wait_for_looks(recorder, 20);
    ck_assert_uint_eq(idle.busy, 0);
    ck_assert_uint_eq(idle.most, 0);
    struct aggstats_span span = aggstats_begin(recorder, 0, 1, 1);
    while (busy_of(recorder).busy < 5)
        wait_a_little();
    aggstats_end(recorder, &span);
    struct aggstats_busy after = busy_of(recorder);
    ck_assert_uint_eq(after.most, 1);
    ck_assert_uint_eq(wait_for_looks(recorder, 40).busy, after.busy);
    aggstats_recorder_destroy(recorder);
}

static bool find_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    (void)context, (void)look, (void)ret_wait;
    return false;
}

/* How often threads other than this one have gone to sleep so far. */
static unsigned long count_sleeps(void) {
    unsigned long sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (const struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
        uint64_t sleeps = 0;
        unsigned long thread = strtoul(task->d_name, NULL, 10);
        if (thread > 0 && thread != (unsigned long)getpid() &&
            proc_status_number(thread, "voluntary_ctxt_switches", 10, &sleeps))
            sum += sleeps;
    }
    closedir(tasks);
    return sum;
}

static void check_quiet(struct aggstats_recorder *recorder, time_t until_quiet_s, uint64_t looks_min) {
    const struct timespec until_quiet = {.tv_sec = until_quiet_s};
    const struct timespec quiet = {.tv_sec = 6};
    nanosleep(&until_quiet, NULL);
    const unsigned long before = count_sleeps();
    nanosleep(&quiet, NULL);
    const unsigned long sleeps = count_sleeps() - before;
#if defined(__SANITIZE_THREAD__) /* which has a thread of its own */
    ck_assert_uint_gt(sleeps, 0);
#else
    ck_assert_uint_le(sleeps, 6);
#endif
    struct aggstats_busy idle = busy_of(recorder);
    ck_assert_uint_eq(idle.busy, 0);
    ck_assert_uint_ge(idle.looks, looks_min);
}

static void check_call_is_seen(struct aggstats_recorder *recorder) {
    const struct timespec call = {.tv_nsec = 500000000};
    aggstats_slow_begin(recorder);
    struct aggstats_span span = aggstats_begin(recorder, 0, 1, 1);
    nanosleep(&call, NULL);
    aggstats_end(recorder, &span);
    struct aggstats_busy after = busy_of(recorder);
    ck_assert_uint_ge(after.busy, 5);
    ck_assert_uint_le(after.busy, 60);
}

/* Less than one a second; and the first call afterwards is seen, and not the time before it. */
TEST(calls_end_quiet_times_that_cost_few_wake_ups) {
    struct aggstats_recorder *recorder = create_watched();
    check_quiet(recorder, 1, 700 - 20);
    check_call_is_seen(recorder);
    aggstats_recorder_destroy(recorder);
}

TEST(so_they_do_where_slow_ones_are_looked_for) {
    const struct aggstats_slow_options slow = {.threshold_ns = 10000000, .find_cause = find_cause};
    struct aggstats_recorder *recorder = create_watched();
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &slow), 0);
    check_quiet(recorder, 7, 1300 - 20);
    check_call_is_seen(recorder);
    aggstats_recorder_destroy(recorder);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A call of a thread, or in a lane. Returns how long it took. */
static int64_t call_for_50_ms(struct aggstats_recorder *recorder, struct aggstats_block *lane) {
    const struct aggstats_outcome none = {0};
    const struct timespec call = {.tv_nsec = 50000000};
    const int64_t start_ns = now_ns();
    const uint64_t start_cycles = aggstats_clock_now(aggstats_hot(recorder)->clock_kind);
    struct aggstats_span span =
        lane ? aggstats_lane_begin(recorder, lane, 0, 1, 1, 1, start_cycles) : aggstats_begin(recorder, 0, 1, 1);
    nanosleep(&call, NULL);
    const int64_t taken_ns = now_ns() - start_ns;
    aggstats_end_at(recorder, &span, aggstats_clock_now(aggstats_hot(recorder)->clock_kind), &none);
    return taken_ns;
}

/* Calls that each come after a quiet time have the share of the looks that they have of the time. */
static void check_share(bool is_lane) {
    const struct timespec quiet = {.tv_nsec = 500000000};
    struct aggstats_recorder *recorder = create_watched();
    struct aggstats_block *lane = is_lane ? aggstats_lane_create(recorder) : NULL;
    const int64_t start_ns = now_ns();
    int64_t busy_ns = 0;
    for (int i = 0; i < 13; i++) {
        nanosleep(&quiet, NULL);
        busy_ns += call_for_50_ms(recorder, lane);
    }
    const double looks = (double)(now_ns() - start_ns) / 1e7;
    const double busy_looks = (double)busy_ns / 1e7;
    struct aggstats_busy seen = busy_of(recorder);
    ck_assert_double_ge((double)seen.looks, looks * 0.8 - 20);
    ck_assert_double_le((double)seen.looks, looks * 1.05);
    ck_assert_double_ge((double)seen.busy, busy_looks * 0.6);
    ck_assert_double_le((double)seen.busy, busy_looks * 1.4);
    aggstats_recorder_destroy(recorder);
}

TEST(calls_after_quiet_times_have_their_share_of_the_looks) {
    check_share(false);
}

TEST(so_have_those_in_lanes) {
    check_share(true);
}

/* Whose thread has stayed behind. Returns whether the call is counted. */
static bool counts_in_child(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    struct aggstats_span span = aggstats_begin(recorder, 0, 1, 1);
    aggstats_end(recorder, &span);
    if (aggstats_recorder_snapshot(recorder, &profile) < 0)
        return false;
    const bool is_counted = profile.op_count == 1 && profile.ops[0].calls == 1 && profile.busy.looks == 0;
    aggstats_profile_finish(&profile);
    return is_counted;
}

TEST(child_of_a_process_whose_thread_sleeps_wakes_nobody) {
    const struct timespec quiet = {.tv_nsec = 700000000};
    struct aggstats_recorder *recorder = create_watched();
    int status;
    nanosleep(&quiet, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(counts_in_child(recorder) ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    call_for_50_ms(recorder, NULL);
    ck_assert_uint_gt(busy_of(recorder).busy, 0);
    aggstats_recorder_destroy(recorder);
}

TEST(nobody_looks_unless_asked) {
    static const char *const names[] = {"READ"};
    const struct aggstats_recorder_options options = {.op_names = names, .op_count = 1, .resolution = 1};
    struct aggstats_recorder *recorder;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_uint_eq(busy_of(recorder).looks, 0);
    ck_assert_int_eq(aggstats_recorder_watch(recorder, false), 0);
    ck_assert_int_eq(aggstats_recorder_watch(recorder, false), -EBUSY);
    aggstats_recorder_destroy(recorder);
}

TEST(reset_begins_anew_and_a_pause_does_not_count) {
    struct aggstats_recorder *recorder = create_watched();
    struct aggstats_span span = aggstats_begin(recorder, 0, 1, 1);
    while (busy_of(recorder).busy < 5)
        wait_a_little();
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    struct aggstats_busy paused = busy_of(recorder);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    ck_assert_uint_eq(busy_of(recorder).looks, 0);
    for (int i = 0; i < 50; i++)
        wait_a_little();
    ck_assert_uint_eq(busy_of(recorder).looks, 0);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    ck_assert_uint_gt(wait_for_looks(recorder, 3).busy, 0);
    ck_assert_uint_gt(paused.busy, 0);
    aggstats_end(recorder, &span);
    aggstats_recorder_destroy(recorder);
}

static int save(void *context, const struct aggstats_profile *profile) {
    *(struct aggstats_busy *)context = profile->busy;
    return 0;
}

TEST(looks_are_in_one_span_each) {
    struct aggstats_recorder *recorder = create_watched();
    struct aggstats_busy saved;
    wait_for_looks(recorder, 200);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, save, &saved), 0);
    ck_assert_uint_ge(saved.looks, 200);
    ck_assert_uint_lt(busy_of(recorder).looks, saved.looks);
    aggstats_recorder_destroy(recorder);
}

TEST(sums_and_differences_have_them) {
    struct aggstats_profile a = {.resolution = 1, .busy = {.looks = 100, .busy = 30, .most = 2}};
    struct aggstats_profile b = {.resolution = 1, .busy = {.looks = 50, .busy = 50, .most = 7}};
    const struct aggstats_profile unwatched = {.resolution = 1};
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.busy.looks, 150);
    ck_assert_uint_eq(a.busy.busy, 80);
    ck_assert_uint_eq(a.busy.most, 7);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert_uint_eq(a.busy.looks, 100);
    ck_assert_uint_eq(a.busy.busy, 30);
    ck_assert_int_eq(aggstats_profile_add(&a, &unwatched), 0);
    ck_assert_uint_eq(a.busy.looks, 0);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
}

/* ---- Looks of each op ---- */

enum { READ, WRITE, STAT, OPS };
static const char *const op_names[OPS] = {"READ", "WRITE", "STAT"};

struct op_looks {
    struct aggstats_busy whole;
    uint64_t of[OPS];
};

static struct op_looks op_looks_in(const struct aggstats_profile *profile) {
    struct op_looks looks = {.whole = profile->busy};
    for (unsigned op = 0; op < OPS; op++) {
        const struct aggstats_op_profile *found = aggstats_profile_op(profile, op_names[op]);
        looks.of[op] = found ? found->busy_looks : 0;
        ck_assert_uint_le(looks.of[op], profile->busy.busy);
    }
    return looks;
}

static struct op_looks op_looks_of(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    const struct op_looks looks = op_looks_in(&profile);
    aggstats_profile_finish(&profile);
    return looks;
}

static struct aggstats_recorder *create_with_ops(const char *live_path) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OPS, .resolution = 1, .live_path = live_path};
    struct aggstats_recorder *recorder;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_watch(recorder, false), 0);
    return recorder;
}

static void call_until_seen(struct aggstats_recorder *recorder, unsigned op, uint64_t looks) {
    struct aggstats_span span = aggstats_begin(recorder, op, 1, 1);
    while (op_looks_of(recorder).of[op] < looks)
        wait_a_little();
    aggstats_end(recorder, &span);
}

TEST(each_op_has_its_looks) {
    struct aggstats_recorder *recorder = create_with_ops(NULL);
    call_until_seen(recorder, READ, 5);
    const struct op_looks read = op_looks_of(recorder);
    ck_assert(read.whole.by_op);
    ck_assert_uint_eq(read.of[READ], read.whole.busy);
    ck_assert_uint_eq(read.of[WRITE], 0);
    call_until_seen(recorder, WRITE, 3);
    const struct op_looks both = op_looks_of(recorder);
    ck_assert_uint_eq(both.of[READ], read.of[READ]);
    ck_assert_uint_eq(both.of[READ] + both.of[WRITE], both.whole.busy);
    ck_assert_uint_eq(both.of[STAT], 0);
    aggstats_recorder_destroy(recorder);
}

/* The look counts once for each of them, and once for all. */
TEST(calls_at_once_are_looks_of_both_ops) {
    struct aggstats_recorder *recorder = create_with_ops(NULL);
    struct aggstats_block *lane = aggstats_lane_create(recorder);
    const uint64_t now_cycles = aggstats_clock_now(aggstats_hot(recorder)->clock_kind);
    const struct aggstats_outcome none = {0};
    struct aggstats_span span = aggstats_lane_begin(recorder, lane, READ, 1, 1, 1, now_cycles);
    call_until_seen(recorder, WRITE, 5);
    aggstats_end_at(recorder, &span, now_cycles + 1, &none);
    const struct op_looks looks = op_looks_of(recorder);
    ck_assert_uint_ge(looks.of[READ], looks.of[WRITE]);
    ck_assert_uint_gt(looks.of[READ] + looks.of[WRITE], looks.whole.busy);
    ck_assert_uint_eq(looks.whole.most, 2);
    aggstats_recorder_destroy(recorder);
}

TEST(reset_forgets_looks_of_ops) {
    struct aggstats_recorder *recorder = create_with_ops(NULL);
    call_until_seen(recorder, READ, 3);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    call_until_seen(recorder, WRITE, 3);
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    struct aggstats_span span = aggstats_begin(recorder, READ, 1, 1);
    for (int i = 0; i < 50; i++)
        wait_a_little();
    aggstats_end(recorder, &span);
    const struct op_looks looks = op_looks_of(recorder);
    ck_assert_uint_eq(looks.of[READ], 0);
    ck_assert_uint_eq(looks.of[WRITE], looks.whole.busy);
    aggstats_recorder_destroy(recorder);
}

static int save_op_looks(void *context, const struct aggstats_profile *profile) {
    *(struct op_looks *)context = op_looks_in(profile);
    return 0;
}

TEST(looks_of_ops_are_in_one_span_each) {
    struct aggstats_recorder *recorder = create_with_ops(NULL);
    struct op_looks saved;
    call_until_seen(recorder, READ, 4);
    call_until_seen(recorder, WRITE, 1);
    const struct op_looks before = op_looks_of(recorder);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, save_op_looks, &saved), 0);
    ck_assert_uint_eq(saved.of[READ], before.of[READ]);
    call_until_seen(recorder, WRITE, 2);
    const struct op_looks after = op_looks_of(recorder);
    ck_assert_uint_eq(after.of[READ], 0);
    ck_assert_uint_eq(after.of[WRITE], after.whole.busy);
    aggstats_recorder_destroy(recorder);
}

TEST(live_file_has_looks_of_ops) {
    char path[] = "/tmp/test_busy.XXXXXX";
    struct aggstats_profile profile;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(path);
    struct aggstats_recorder *recorder = create_with_ops(path);
    call_until_seen(recorder, WRITE, 3);
    const struct op_looks shown = op_looks_of(recorder);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(aggstats_live_read(fd, &profile, NULL, NULL), 0);
    const struct op_looks read = op_looks_in(&profile);
    ck_assert(read.whole.by_op);
    ck_assert_uint_eq(read.of[WRITE], shown.of[WRITE]);
    ck_assert_uint_eq(read.of[WRITE], read.whole.busy);
    aggstats_profile_finish(&profile);
    close(fd);
    unlink(path);
    aggstats_recorder_destroy(recorder);
}

#define WITH_LOOKS "# osprof 1\n# busy: 30 looks 100 most 2\n# busy_ops: READ 20 WRITE 15\n"
#define OPS_OF_IT "OP_READ 1 5\n 0 0 1\nOP_WRITE 1 5\n 0 0 1\n"

static struct aggstats_profile parse(const char *text) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    ck_assert_msg(aggstats_profile_parse(stream, &profile, &error) == 0, "%s", error.message);
    fclose(stream);
    return profile;
}

static void check_op_looks(const struct aggstats_profile *profile, uint64_t read, uint64_t write) {
    const struct op_looks looks = op_looks_in(profile);
    ck_assert(looks.whole.by_op);
    ck_assert_uint_eq(looks.of[READ], read);
    ck_assert_uint_eq(looks.of[WRITE], write);
}

TEST(sums_and_differences_have_looks_of_ops) {
    struct aggstats_profile a = parse(WITH_LOOKS OPS_OF_IT);
    struct aggstats_profile b =
        parse("# osprof 1\n# busy: 5 looks 10 most 1\n# busy_ops: READ 5\nOP_READ 1 5\n 0 0 1\n");
    check_op_looks(&a, 20, 15);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    check_op_looks(&a, 25, 15);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    check_op_looks(&a, 20, 15);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
}

/* As of a profile of before there were any: nothing is known of the sum, and not that there were none. */
TEST(sum_with_one_that_has_none_has_none) {
    struct aggstats_profile a = parse(WITH_LOOKS OPS_OF_IT);
    struct aggstats_profile b = parse("# osprof 1\n# busy: 5 looks 10 most 1\nOP_READ 1 5\n 0 0 1\n");
    ck_assert(!b.busy.by_op);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.busy.looks, 110);
    ck_assert(!a.busy.by_op);
    ck_assert_uint_eq(aggstats_profile_op(&a, "READ")->busy_looks, 0);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
}

/* The looks of READ grow by more than all do, or would shrink. */
TEST(impossible_difference_of_looks_is_unknown) {
    static const char *const earlier[] = {
        "# osprof 1\n# busy: 25 looks 90 most 2\n# busy_ops: READ 10\nOP_READ 1 5\n 0 0 1\n",
        "# osprof 1\n# busy: 25 looks 90 most 2\n# busy_ops: READ 21\nOP_READ 1 5\n 0 0 1\n"};
    for (size_t i = 0; i < 2; i++) {
        struct aggstats_profile a = parse(WITH_LOOKS OPS_OF_IT);
        struct aggstats_profile b = parse(earlier[i]);
        ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
        ck_assert_uint_eq(a.busy.busy, 5);
        ck_assert(!a.busy.by_op);
        aggstats_profile_finish(&a);
        aggstats_profile_finish(&b);
    }
}

TEST(text_has_looks_of_ops) {
    static const char *const lines[] = {"# busy_ops: READ 20 WRITE 15\n", "# busy_ops: none\n"};
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        char *written = NULL;
        size_t size = 0;
        snprintf(text, sizeof(text), "# osprof 1\n# busy: 30 looks 100 most 2\n%s" OPS_OF_IT, lines[i]);
        struct aggstats_profile profile = parse(text);
        FILE *stream = open_memstream(&written, &size);
        ck_assert_int_eq(aggstats_profile_write(&profile, stream), 0);
        fclose(stream);
        ck_assert_ptr_nonnull(strstr(written, lines[i]));
        aggstats_profile_finish(&profile);
        free(written);
    }
}

TEST(impossible_looks_of_ops_are_refused) {
    static const char *const lines[] = {"# busy_ops: READ 31\n", "# busy_ops: READ 1 READ 2\n",
                                        "# busy_ops: READ\n",    "# busy_ops: STAT 1\n",
                                        "# busy_ops:\n",         "# busy_ops: READ none\n"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[512];
        struct aggstats_profile profile;
        struct aggstats_parse_error error;
        snprintf(text, sizeof(text), "# osprof 1\n# busy: 30 looks 100 most 2\n%s" OPS_OF_IT, lines[i]);
        FILE *stream = fmemopen(text, strlen(text), "r");
        ck_assert_msg(aggstats_profile_parse(stream, &profile, &error) == -EBADMSG, "%s", lines[i]);
        fclose(stream);
    }
}
