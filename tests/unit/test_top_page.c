/* The pages of osprof top, to the character. */
#include <errno.h>
#include <locale.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "testing.h"
#include "top_page.h"

#define HZ 1000000000

static uint64_t read_buckets[64];
static uint64_t fsync_buckets[64];
static struct aggstats_op_profile ops[2];
static struct aggstats_call calls[2];
static struct top_watch watch;

static char mount_key[] = "mount";
static char mount_value[] = "/mnt\033[2J";
static char path[] = "/srv/a\nb";
static struct aggstats_label label = {mount_key, mount_value};

/* A snapshot of a 1 GHz clock, as the first one of a watch. */
static void set_up(void) {
    memset(read_buckets, 0, sizeof(read_buckets));
    memset(fsync_buckets, 0, sizeof(fsync_buckets));
    read_buckets[10] = 1000;
    read_buckets[12] = 20;
    fsync_buckets[24] = 3;
    ops[0] = (struct aggstats_op_profile){"FSYNC", 5, 75000000, fsync_buckets, NULL, 0, 0, 0, {0}};
    ops[1] =
        (struct aggstats_op_profile){"READ", 1020, 25000000, read_buckets, NULL, 0, 0, 0, {0}, .longest_cycles = 7500};
    calls[0] =
        (struct aggstats_call){.op = "FSYNC", .latency_cycles = 500, .object = 7, .pid = 4711, .program = "\033]0;x"};
    calls[1] = (struct aggstats_call){.op = "FSYNC", .latency_cycles = 9000000000, .object = 8, .path = path};
    watch = (struct top_watch){.has_latest = true, .is_fresh = true, .since_beginning = true};
    watch.latest.taken_ns = INT64_C(1000000007) * 1000000000;
    watch.latest.profile = (struct aggstats_profile){
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_TSC, .frequency_hz = 1000000000},
        .start_ns = INT64_C(1000000000) * 1000000000,
        .has_start = true,
        .elapsed_cycles = 7000000000,
        .has_elapsed = true,
        .labels = &label,
        .label_count = 1,
        .ops = ops,
        .op_count = ARRAY_SIZE(ops),
        .in_flight = calls,
        .in_flight_count = ARRAY_SIZE(calls),
    };
}

static void tear_down(void) {
    top_frame_finish(&watch.frame);
}

/* The heading and a view, on a canvas of that width; the caller frees it. */
static char *draw(size_t view, int width, bool ascii) {
    char *text = NULL;
    size_t size_bytes;
    const struct screen screen = {.width = width, .ascii = ascii, .stream = open_memstream(&text, &size_bytes)};
    ck_assert_ptr_nonnull(screen.stream);
    struct sheet sheet = sheet_of(&screen, HZ);
    ck_assert_int_eq(top_frame_make(NULL, &watch.latest.profile, &watch.frame), 0);
    top_page_put_heading(&sheet, &watch);
    top_views[view].put(&sheet, &watch);
    sheet_print(&sheet);
    fclose(screen.stream);
    return text;
}

static const char heading[] = "2001-09-09 01:46:47 UTC  7.00 s since 01:46:40  /mnt?[2J\n"
                              "1,023 calls ended, 100 ms in all; 2 in flight, the oldest FSYNC for 9.00 s\n";

static const char in_flight[] = "  operation             age      pid  program          path\n"
                                "  FSYNC              9.00 s        0  -                /srv/a?b\n"
                                "  FSYNC              500 ns     4711  ?]0;x            (not known)\n";

static void assert_drawn(const char *drawn, const char *table) {
    char expected[2048];
    snprintf(expected, sizeof(expected), "%s%s%s", heading, table, in_flight);
    ck_assert_str_eq(drawn, expected);
}

bool testing_possible(void) {
    setenv("TZ", "UTC", 1);
    tzset();
    return setlocale(LC_CTYPE, "C.UTF-8") != NULL;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(operations_have_a_chart_and_calls_in_flight_below_them) {
    CLEANUP_FREE char *text = draw(1, 80, false);
    assert_drawn(text, "operation   share      calls     mean    p99.9       max  1 µs      1 ms\n"
                       "FSYNC      75.0 %          3  25.0 ms  29.9 ms  ≤33.6 ms                ▁\n"
                       "READ       25.0 %      1,020  24.5 µs  7.17 µs   7.50 µs  ▄ ▂\n\n");
}

TEST(in_ascii_a_digit_stands_for_a_height) {
    CLEANUP_FREE char *text = draw(1, 80, true);
    assert_drawn(text, "operation   share      calls     mean    p99.9       max  1 us      1 ms\n"
                       "FSYNC      75.0 %          3  25.0 ms  29.9 ms <=33.6 ms                1\n"
                       "READ       25.0 %      1,020  24.5 us  7.17 us   7.50 us  4 2\n\n");
}

TEST(what_does_not_fit_is_left_out) {
    CLEANUP_FREE char *text = draw(1, 40, true);
    ck_assert_ptr_nonnull(strstr(text, "operation   share      calls     mean\n"
                                       "FSYNC      75.0 %          3  25.0 ms\n"
                                       "READ       25.0 %      1,020  24.5 us\n"
                                       "\n"
                                       "  operation             age      pid\n"
                                       "    path\n"
                                       "  FSYNC              9.00 s        0\n"
                                       "    /srv/a?b\n"));
}

/* In 7 seconds. */
static void move_and_fail(void) {
    ops[1].asked_bytes = 7 * 5000000;
    ops[1].moved_bytes = 7 * 4194304;
    ops[0].failures[aggstats_failure_of_error(EIO)] = 2;
    ops[0].failures[aggstats_failure_of_error(ENOSPC)] = 1;
}

TEST(rates_of_bytes_and_failures_are_below_the_operations) {
    move_and_fail();
    CLEANUP_FREE char *text = draw(1, 80, false);
    ck_assert_ptr_nonnull(
        strstr(text, "1,020  24.5 µs  7.17 µs   7.50 µs  ▄ ▂\nAll: 4.00 MiB/s moved, 0.43/s failed\n\n  operation"));
}

TEST(rates_of_operations_have_columns_where_there_is_room) {
    move_and_fail();
    CLEANUP_FREE char *text = draw(1, 110, false);
    ck_assert_ptr_nonnull(strstr(text, "    mean    p99.9       max       moved    failed  "));
    ck_assert_ptr_nonnull(
        strstr(text, "FSYNC      75.0 %          3  25.0 ms  29.9 ms  ≤33.6 ms                0.43/s  "));
    ck_assert_ptr_nonnull(
        strstr(text, "READ       25.0 %      1,020  24.5 µs  7.17 µs   7.50 µs  4.00 MiB/s            "));
}

TEST(rates_need_the_time) {
    move_and_fail();
    watch.latest.profile.has_elapsed = false;
    CLEANUP_FREE char *text = draw(1, 110, false);
    ck_assert_ptr_null(strstr(text, "moved"));
}

TEST(calls_in_flight_alone) {
    CLEANUP_FREE char *text = draw(2, 80, false);
    assert_drawn(text, "");
}

TEST(causes_are_told_beside_the_calls_that_wait_now) {
    struct aggstats_cause causes[] = {{"FSYNC", {.words = "waiting for the\033 disk"}, 2, 60000000, 50000000},
                                      {"READ", {.words = "waiting for a lock"}, 1, 20000000, 20000000}};
    watch.latest.profile.slow_cycles = 10000000;
    watch.latest.profile.causes = causes;
    watch.latest.profile.cause_count = 2;
    strcpy(calls[1].cause.words, "waiting for the disk");
    CLEANUP_FREE char *text = draw(4, 80, false);
    ck_assert_ptr_nonnull(strstr(text,
                                 "\n   share    total  calls  operation  cause\n"
                                 "  75.0 %  60.0 ms      2  FSYNC      waiting for the? disk\n"
                                 "  25.0 %  20.0 ms      1  READ       waiting for a lock\n"
                                 "\n"
                                 "  operation             age      pid  program          path\n"
                                 "  FSYNC              9.00 s        0  -                /srv/a?b\n"
                                 "                                                       waiting for the disk\n"));
    ck_assert_ptr_null(strstr(text, "4711"));
}

TEST(why_there_are_no_causes_is_told) {
    CLEANUP_FREE char *off = draw(4, 80, false);
    ck_assert_ptr_nonnull(strstr(off, "\nNobody looks for slow calls; osproffs -o slow=10ms does.\n"));
    top_frame_finish(&watch.frame);
    watch.latest.profile.slow_cycles = 10000000;
    CLEANUP_FREE char *none = draw(4, 80, false);
    ck_assert_ptr_nonnull(strstr(none, "\nNo slow call has ended.\n\nNo slow call is in flight.\n"));
}

TEST(what_has_not_ended_has_no_mean) {
    ops[0].total_cycles = 0;
    fsync_buckets[24] = 0;
    CLEANUP_FREE char *text = draw(1, 80, true);
    ck_assert_ptr_nonnull(strstr(text, "\nFSYNC       0.0 %          0        -        -         -\n"));
}

TEST(nothing_is_told_as_nothing) {
    watch.latest.profile.op_count = watch.latest.profile.in_flight_count = 0;
    watch.latest.profile.has_start = watch.latest.profile.has_elapsed = false;
    watch.latest.profile.label_count = 0;
    watch.source.path = path;
    struct aggstats_profile *profile = &watch.latest.profile;
    ck_assert_int_eq(top_frame_make(NULL, profile, &watch.frame), 0);
    char *text = NULL;
    size_t size_bytes;
    const struct screen screen = {.width = 80, .stream = open_memstream(&text, &size_bytes)};
    struct sheet sheet = sheet_of(&screen, HZ);
    top_page_put_heading(&sheet, &watch);
    for (size_t view = 0; view < TOP_VIEWS; view++)
        top_views[view].put(&sheet, &watch);
    sheet_print(&sheet);
    fclose(screen.stream);
    ck_assert_str_eq(text, "2001-09-09 01:46:47 UTC  time not known since the beginning  /srv/a?b\n"
                           "0 calls ended, 0 ns in all; none in flight\n"
                           "No calls\n"
                           "No operation was called.\n"
                           "\n"
                           "No call is in flight.\n"
                           "The mount is being asked.\n"
                           "Nobody looks for slow calls; osproffs -o slow=10ms does.\n");
    free(text);
}

/* ---- The page that answers ---- */

TEST(the_first_view_is_the_page_that_answers) {
    CLEANUP_FREE char *text = draw(0, 80, true);
    char expected[1024];
    snprintf(expected, sizeof(expected), "%s%s", heading,
             "7.00 s elapsed; calls to /mnt?[2J took 100 ms (1.4 %), summed over threads\n"
             "In flight: 2 calls, the oldest FSYNC for 9.00 s\n"
             "\n"
             "% of latency  spent in           calls  their p50\n"
             "      75.0 %  FSYNC                  3    23.7 ms\n"
             "      23.1 %  READ      1,000 of 1,020    1.45 us\n"
             "       1.9 %  READ         20 of 1,020    5.46 us\n"
             "\n"
             "bytes     none read or written\n"
             "failed    nothing\n"
             "next      osprof show --op FSYNC '/mnt?[2J'  # its latencies as a chart\n");
    ck_assert_str_eq(text, expected);
}

/* ---- Callers ---- */

static const char calls_title[] = "Calls by process, 7.00 s since 01:46:40:\n";

/* The snapshot with groups: a process whose name does harm, and the kernel. */
static void set_up_callers(void) {
    static struct aggstats_group groups[2];
    set_up();
    groups[0] = (struct aggstats_group){
        .grouping = AGGSTATS_BY_PROCESS, .who = AGGSTATS_WHO_ID, .id = 4711, .name = "ev\033[7mil"};
    groups[1] = (struct aggstats_group){.grouping = AGGSTATS_BY_PROCESS, .who = AGGSTATS_WHO_KERNEL};
    groups[0].profile = groups[1].profile =
        (struct aggstats_profile){.resolution = 1, .clock = watch.latest.profile.clock, .ops = ops, .op_count = 2};
    groups[1].profile.op_count = 1;
    watch.callers.latest = watch.latest.profile;
    watch.callers.grouping = AGGSTATS_BY_PROCESS;
    watch.callers.latest.groupings = 1U << AGGSTATS_BY_PROCESS;
    watch.callers.latest.groups = groups;
    watch.callers.latest.group_count = ARRAY_SIZE(groups);
    ck_assert_int_eq(top_callers_frame_make(NULL, &watch.callers.latest, AGGSTATS_BY_PROCESS, &watch.callers.frame), 0);
    watch.callers.since_beginning = true;
}

static void tear_down_callers(void) {
    top_callers_frame_finish(&watch.callers.frame);
    tear_down();
}

/* A view alone, in ASCII; the caller frees it. */
static char *draw_view(size_t view, int width) {
    char *text = NULL;
    size_t size_bytes;
    const struct screen screen = {.width = width, .ascii = true, .stream = open_memstream(&text, &size_bytes)};
    struct sheet sheet = sheet_of(&screen, HZ);
    top_views[view].put(&sheet, &watch);
    sheet_print(&sheet);
    fclose(screen.stream);
    return text;
}

static char *draw_callers(int width) {
    return draw_view(TOP_CALLERS, width);
}

TEST_CASE(.set_up = set_up_callers, .tear_down = tear_down_callers);

TEST(what_the_mount_tells_is_on_the_first_view_until_it_does_not_answer) {
    ck_assert_int_eq(top_frame_make(NULL, &watch.latest.profile, &watch.frame), 0);
    CLEANUP_FREE char *text = draw_view(0, 80);
    ck_assert_ptr_nonnull(strstr(text, "\nprocess   ev?[7mil 4711 100.0 %, kernel 75.0 %\n"));
    watch.callers.is_late = true;
    CLEANUP_FREE char *late = draw_view(0, 80);
    ck_assert_ptr_null(strstr(late, "process"));
    ck_assert_ptr_nonnull(strstr(late, "7.00 s elapsed; "));
}

TEST(callers_have_figures_and_what_they_mostly_call) {
    CLEANUP_FREE char *text = draw_callers(90);
    char expected[512];
    snprintf(expected, sizeof(expected), "%s%s", calls_title,
             "process               pid   share      calls     mean   max <=  top operations\n"
             "ev?[7mil             4711  57.1 %      1,023  97.8 us  33.6 ms  FSYNC 75 %, READ 25 %\n"
             "kernel                     42.9 %          3  25.0 ms  33.6 ms  FSYNC 100 %\n");
    ck_assert_str_eq(text, expected);
}

TEST(what_does_not_fit_of_callers_is_left_out) {
    CLEANUP_FREE char *text = draw_callers(40);
    char expected[512];
    snprintf(expected, sizeof(expected), "%s%s", calls_title,
             "process               pid   share\n"
             "ev?[7mil             4711  57.1 %\n"
             "kernel                     42.9 %\n");
    ck_assert_str_eq(text, expected);
}

TEST(others_are_told_at_the_top_where_they_are_much) {
    watch.callers.latest.groups[1].who = AGGSTATS_WHO_OTHER;
    top_callers_frame_finish(&watch.callers.frame);
    ck_assert_int_eq(top_callers_frame_make(NULL, &watch.callers.latest, AGGSTATS_BY_PROCESS, &watch.callers.frame), 0);
    CLEANUP_FREE char *text = draw_callers(110);
    ck_assert_ptr_nonnull(strstr(text, "\nOther: 75 % of the time is of processes without a row; at most -o groups=N "
                                       "have one (default 256).\nprocess  "));
}

static const struct {
    struct top_callers callers;
    bool has_ended;
    const char *said;
} callers_notices[] = {
    {{.error = -ENODATA},
     false,
     "No calls by process are recorded. This records them from now on:\n  osprof ctl MOUNT groups process\n"},
    {{.error = -ENODATA, .by = AGGSTATS_BY_UID},
     false,
     "No calls by uid are recorded. This records them from now on:\n  osprof ctl MOUNT groups uid\n"},
    {{.error = -EBUSY, .by = AGGSTATS_BY_UID},
     false,
     "No calls by uid are recorded. This records them from now on:\n  osprof ctl MOUNT groups off && osprof ctl MOUNT "
     "groups "
     "uid\n"},
    {{.error = -ENOTCONN, .path = path},
     false,
     "Only a mount's control file tells the callers; there is no /srv/a?b.\n"},
    {{.error = -ESTALE, .path = path}, false, "/srv/a?b is of another profile, or has just been reset.\n"},
    {{.error = -EACCES, .path = path}, false, "Cannot read /srv/a?b: Permission denied.\n"},
    {{.error = -EACCES, .is_late = true, .path = path}, false, "The mount does not answer: /srv/a?b cannot be read.\n"},
    {{.is_late = true}, true, "Whose the last calls were is told by the mount's final profile only.\n"},
};

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(why_there_are_no_callers_is_told, .to = ARRAY_SIZE(callers_notices)) {
    watch.callers = callers_notices[_i].callers;
    watch.has_ended = callers_notices[_i].has_ended;
    CLEANUP_FREE char *text = draw_callers(80);
    ck_assert_str_eq(text, callers_notices[_i].said);
}

TEST_CASE(.set_up = set_up_callers, .tear_down = tear_down_callers);

TEST(the_last_picture_stays_while_the_mount_does_not_answer) {
    watch.callers.is_late = true;
    watch.callers.path = path;
    CLEANUP_FREE char *text = draw_callers(40);
    ck_assert_ptr_nonnull(strstr(text, "does not answer"));
    ck_assert_ptr_nonnull(strstr(text, "\nkernel                     42.9 %\n"));
}

/* ---- Notices ---- */

static char *notices(void) {
    char *text = NULL;
    size_t size_bytes;
    const struct screen screen = {.width = 80, .stream = open_memstream(&text, &size_bytes)};
    struct sheet sheet = sheet_of(&screen, HZ);
    top_page_put_notices(&sheet, &watch);
    sheet_print(&sheet);
    fclose(screen.stream);
    return text;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(what_happened_to_the_recording_is_told) {
    CLEANUP_FREE char *none = notices();
    ck_assert_str_eq(none, "");
    watch.is_paused = true;
    CLEANUP_FREE char *paused = notices();
    ck_assert_str_eq(paused, "Counting is paused: calls are not measured.\n");
    watch.is_fresh = false;
    CLEANUP_FREE char *stale = notices();
    ck_assert_str_eq(stale, "No snapshot at this moment: the profile is being reset again and again.\n");
    watch.has_ended = true;
    CLEANUP_FREE char *ended = notices();
    ck_assert_str_eq(ended, "The profile has ended.\n");
    watch.began_anew = watch.latest.profile.incomplete = true;
    CLEANUP_FREE char *all = notices();
    ck_assert_str_eq(
        all,
        "The profile has begun anew (a reset, or another mount): what follows is since then.\n"
        "Incomplete: not measured are calls for which memory or disk space ran out, or whose events were dropped.\n"
        "The profile has ended.\n");
}
