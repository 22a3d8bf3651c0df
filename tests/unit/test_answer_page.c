/* What the answer page says of a profile, and does not say of the profile next to it. */
#include <stdlib.h>
#include <string.h>

#include "answer_page.h"
#include "base.h"
#include "testing.h"

#define HEAD "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n"
#define READS "OP_READ 100 153600\n 0 0 0 0 0 0 0 0 0 0 100\n" /* 1.536 us each */
#define SYNCS "OP_FSYNC 10 15728640\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 10\n"

static char *page; /* on a screen on which nothing is cut */
static struct answer_source source;
static bool wants_calibration;
static unsigned groupings; /* of the profile, beside those of which it has groups */
static unsigned lines_max; /* 0: all */

static void set_up(void) {
    source = (struct answer_source){.profile = "p.osprof"};
    wants_calibration = false;
    groupings = lines_max = 0;
}

static void tear_down(void) {
    free(page);
    page = NULL;
}

/* Makes the page of a profile. labels: lines of the header; body: ops, and what follows them */
static void make(const char *labels, const char *body) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    struct aggstats_parse_error why = {0};
    struct aggstats_profile profile;
    const struct calibration calibration = {.count = 0};
    tear_down();
    ck_assert_int_ge(asprintf(&text, "%s%s%s", HEAD, labels, body), 0);
    CLEANUP_STREAM FILE *stream = fmemopen(text, strlen(text), "r");
    ck_assert_msg(aggstats_profile_parse(stream, &profile, &why) == 0, "line %zu: %s", why.line, why.message);
    profile.groupings |= groupings;
    const struct screen screen = {.width = 1000, .ascii = true, .stream = open_memstream(&page, &size_bytes)};
    struct sheet sheet = sheet_of(&screen, profile.clock.frequency_hz);
    answer_page_put(&sheet, &(const struct answer_page){.profile = &profile,
                                                        .calibration = &calibration,
                                                        .source = &source,
                                                        .no_labels = !wants_calibration});
    if (lines_max > 0)
        sheet_fit(&sheet, lines_max);
    sheet_print(&sheet);
    fclose(screen.stream);
    aggstats_profile_finish(&profile);
}

static void assert_says(const char *text) {
    ck_assert_msg(strstr(page, text) != NULL, "not '%s' but %s", text, page);
}

static void assert_not(const char *text) {
    ck_assert_msg(strstr(page, text) == NULL, "'%s' in %s", text, page);
}

static void assert_begins(const char *text) {
    ck_assert_msg(strncmp(page, text, strlen(text)) == 0, "not '%s' but %s", text, page);
}

/* The commands, a line each; in a static buffer. */
static const char *commands(void) {
    static char text[1024];
    size_t length = 0;
    text[0] = '\0';
    const char *line = strstr(page, "\nnext      ");
    for (line = line ? line + 1 : ""; *line; line += strcspn(line, "\n") + 1) {
        const char *why = strstr(line, "  # ");
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%.*s\n", (int)(why - line) - 10, line + 10);
    }
    return text;
}

/* ---- How much of the time ---- */

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(the_elapsed_time_comes_first_if_it_is_known) {
    make("# elapsed: 1024000\n", READS);
    assert_begins("1.02 ms elapsed; calls took 154 us (15.0 %), overlapping ones added up\n");
    make("", READS);
    assert_begins("Calls took 154 us, ");
}

TEST(what_was_added_up_is_counted) {
    make("# elapsed: 1024000\n# runs: 5\n", READS);
    assert_begins("5 runs, 1.02 ms elapsed in all; ");
    make("# elapsed: 1024000\n# merged: 7\n", READS);
    assert_begins("7 profiles, 1.02 ms elapsed in all; ");
}

TEST(samples_that_are_accurate_replace_the_sum) {
    make("# elapsed: 1024000\n# lower: /srv\n# busy: 2000 looks 10000 most 4\n", READS);
    assert_says("elapsed; in 205 us of them (20.0 % +- 0.8) calls to /srv were in flight, up to 4 at a time\n");
    make("# elapsed: 1024000\n# lower: /srv\n", READS);
    assert_says("elapsed; calls to /srv took 154 us (15.0 %)");
}

TEST(without_calls_there_is_one_line_and_no_command) {
    make("", "OP_READ 0 0\n 0\n");
    ck_assert_str_eq(page, "No calls\n");
}

TEST(the_chosen_group_is_named_as_it_is) {
    make("# calls of program: cc1\n", READS);
    assert_begins("Calls of program cc1 took ");
    make("# calls on file: /src/a, but for b\n# missed: 3\n", READS);
    assert_begins("Calls on /src/a, but for b took ");
    make("", READS);
    assert_begins("Calls took ");
}

/* ---- Where it went ---- */

#define SLOW_SYNC(latency, cause, links)                                                                               \
    "# call: FSYNC latency " latency " end_ns 1 " cause                                                                \
    " pid 1 uid 1 error 0 asked_bytes 0 moved_bytes 0 offset 0" links "\n"
#define A_LOCK "cause_id a_lock cause_class flock cause a\\040lock"
#define A_DISK "cause_id disk cause_class disk cause a\\040lock"
#define HELD_BY(program) " link waits_for flock object /a relation held holder_process 2 holder_program " program

TEST(who_held_what_the_first_operation_waited_for_is_said) {
#define CAUSES_OF_SYNCS                                                                                                \
    "# slow: 1000\n# cause: FSYNC calls 8 total 9000000 longest 1572864 " A_LOCK "\n"                                  \
    "# cause: FSYNC calls 2 total 2000000 longest 1572864 " A_DISK "\n"
    const char *calls = CAUSES_OF_SYNCS SLOW_SYNC("5000", A_LOCK, "") SLOW_SYNC("9000", A_DISK, "");
    const char *held = CAUSES_OF_SYNCS SLOW_SYNC("5000", A_LOCK, HELD_BY("x")) SLOW_SYNC("7000", A_LOCK, HELD_BY("y"))
        SLOW_SYNC("9000", A_DISK, " link waits_for disk object sda") SLOW_SYNC("9500", A_LOCK, "");
    make(held, READS SYNCS);
    assert_says("\nSlow: FSYNC of 7.00 us waited for the flock of /a, held by y 2\n");
    make(calls, READS SYNCS);
    assert_not("Slow: ");
    make(held, "OP_READ 100 153600000\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100\n" SYNCS); /* READ comes first */
    assert_not("Slow: ");
}

TEST(peaks_are_rows_with_their_share) {
    make("", READS SYNCS);
    assert_says("\n of time  spent in    calls       p50\n"
                "  99.0 %  FSYNC          10   1.43 ms\n"
                "   1.0 %  READ          100   1.44 us\n\n");
    make("", SYNCS);
    assert_says(" 100.0 %  FSYNC          10   1.43 ms\n\n");
}

/* Causes of so many of the calls of FSYNC. */
#define CAUSES(calls)                                                                                                  \
    "# slow: 1000000\n# cause: FSYNC calls " #calls                                                                    \
    " total 15728640 longest 1572864 cause waiting\\040for\\040the\\040journal\n"                                      \
    "# cause_buckets: 1 20:" #calls "\n"

TEST(a_cause_that_half_of_the_calls_had_was_observed) {
    make(CAUSES(5), SYNCS);
    assert_says("  cause\n");
    assert_says("  waiting for the journal\n");
    make(CAUSES(4), SYNCS);
    assert_not("waiting for the journal");
}

TEST(the_oldest_call_in_flight_is_said) {
    make("# call: READ age 1000 inode 3 pid 5\n# call: READ age 2500 inode 4 pid 6\n",
         "OP_READ 102 153600\n 0 0 0 0 0 0 0 0 0 0 100\n");
    assert_says("\nIn flight: 2 calls, the oldest READ for 2.50 us\n");
    make("", READS);
    assert_not("In flight");
}

/* Two groups, and their cycles. */
#define PROGRAMS(first_cycles, second_cycles)                                                                          \
    READS "# program: cc1\nOP_READ 50 " first_cycles "\n 0 0 0 0 0 0 0 0 0 0 50\n"                                     \
          "# program: ld\nOP_READ 50 " second_cycles "\n 0 0 0 0 0 0 0 0 0 0 50\n"

TEST(groups_below_a_hundredth_are_not_named) {
    make("", PROGRAMS("100000", "53600"));
    assert_says("\nprogram   cc1 65.1 %, ld 34.9 %\n");
    make("", PROGRAMS("152600", "1000"));
    assert_says("\nprogram   cc1 99.3 %\n");
}

/* Two file systems, and their cycles. */
#define FILE_SYSTEMS(first_cycles, second_cycles)                                                                      \
    READS "# filesystem: 0 / ext4\nOP_READ 50 " first_cycles "\n 0 0 0 0 0 0 0 0 0 0 50\n"                             \
          "# filesystem: 0 /srv xfs\nOP_READ 50 " second_cycles "\n 0 0 0 0 0 0 0 0 0 0 50\n"

TEST(file_systems_are_named_if_there_are_several) {
    make("", FILE_SYSTEMS("100000", "53600"));
    assert_says(" / ext4 65.1 %, /srv xfs 34.9 %\n");
    make("", FILE_SYSTEMS("153000", "600"));
    assert_not("xfs");
}

TEST(of_six_groupings_five_are_there) {
    groupings = (1U << AGGSTATS_GROUPINGS) - 1;
    make("", READS);
    assert_says("\nfile      none\n");
    assert_says("\nuser      none\n");
    assert_not("cgroup");
}

TEST(a_grouping_without_groups_has_none) {
    groupings = 1U << AGGSTATS_BY_PROGRAM;
    make("", READS);
    assert_says("\nprogram   none\n");
    groupings = 0;
    make("", READS);
    assert_not("program");
}

/* ---- How much, what failed ---- */

TEST(bytes_are_told_and_so_is_that_there_were_none) {
    make("# elapsed: 1000000000\n# bytes: READ asked 4096 moved 4096\n", READS);
    assert_says("\nread      4.00 KiB, 4.00 KiB/s overall, ");
    assert_not("none read or written");
    make("# failed: READ EIO 1\n", READS);
    assert_says("\nbytes     none read or written\n");
    make("", READS); /* a recorder that does not know */
    assert_not("\nread");
    assert_not("\nbytes");
}

TEST(failures_are_told_the_most_frequent_first) {
    make("# failed: READ EIO 2 EACCES 3\n", READS);
    assert_says("\nfailed    READ EACCES 3, READ EIO 2\n");
}

TEST(kinds_beyond_the_fifth_are_others) {
    make("# failed: READ EIO 6 EACCES 5 EPERM 4 ENOENT 3 EINVAL 2\n", READS);
    assert_not("others");
    make("# failed: READ EIO 7 EACCES 6 EPERM 5 ENOENT 4 EINVAL 3 EAGAIN 2\n", READS);
    assert_says("READ EINVAL 3, others 2\n");
}

TEST(queries_for_what_is_not_there_are_no_failures) {
    make("# failed: LOOKUP ENOENT 3\n", "OP_LOOKUP 10 15360\n 0 0 0 0 0 0 0 0 0 0 10\n");
    assert_says("\nfailed    nothing but 3 queries for what is not there\n");
    make("", "OP_LOOKUP 10 15360\n 0 0 0 0 0 0 0 0 0 0 10\n");
    assert_not("failed");
}

/* ---- What next ---- */

TEST(the_chart_of_the_costliest_operation_comes_first) {
    make("", READS SYNCS);
    ck_assert_str_eq(commands(), "osprof show --op FSYNC p.osprof\n");
    source.profile = "-";
    make("", READS);
    ck_assert_str_eq(commands(), "osprof show --op READ PROFILE\n");
}

TEST(the_busiest_group_can_be_shown_alone) {
    make("", PROGRAMS("100000", "53600"));
    ck_assert_str_eq(commands(), "osprof show --op READ p.osprof\nosprof show --by program --of cc1 p.osprof\n");
}

TEST(causes_are_shown_by_osprof_why_unless_a_group_was_chosen) {
    make(CAUSES(10), SYNCS);
    ck_assert_str_eq(commands(), "osprof show --op FSYNC p.osprof\nosprof why p.osprof\n");
    source.by = "program";
    source.of = "cc1";
    make(CAUSES(10), SYNCS);
    ck_assert_str_eq(commands(), "osprof show --by program --of cc1 --op FSYNC p.osprof\n");
}

TEST(a_mount_that_records_can_be_watched) {
    source.is_live = true;
    make("", READS);
    ck_assert_str_eq(commands(), "osprof show --op READ p.osprof\nosprof top p.osprof\n");
}

TEST(a_run_is_looked_at_again_and_not_made_again) {
    source = (struct answer_source){.profile = "", .is_run = true};
    wants_calibration = true;
    make("", READS);
    ck_assert_str_eq(commands(), "osprof show --op READ\n");
    source.directory = "a b";
    make("", READS);
    ck_assert_str_eq(commands(), "osprof show --op READ\nosprof calibrate 'a b'\n");
    source.profile = "@1.2";
    source.layer = "fs";
    source.has_groups_unasked = true;
    groupings = 1U << AGGSTATS_BY_FILE;
    wants_calibration = false;
    make("", READS);
    ck_assert_str_eq(commands(), "osprof show --layer fs --op READ @1.2\nosprof show --layer fs --by file @1.2\n");
}

#define HALF "OP_READ 50 76800\n 0 0 0 0 0 0 0 0 0 0 50\n"

TEST(all_files_are_offered_unless_one_has_all_of_the_time) {
    source = (struct answer_source){.profile = "", .is_run = true, .has_groups_unasked = true};
    make("", READS "# file: 0 /srv/a\n" READS);
    ck_assert_str_eq(commands(), "osprof show --op READ\n");
    make("", READS "# file: 0 /srv/a\n" HALF "# file: 0 /srv/b\n" HALF);
    ck_assert_str_eq(commands(), "osprof show --op READ\nosprof show --by file\n");
    make("", READS "# file: 0 /srv/a\n" HALF "# file: other\n" HALF);
    ck_assert_str_eq(commands(), "osprof show --op READ\nosprof show --by file\n");
}

TEST(of_a_run_that_is_not_kept_nothing_can_be_looked_at) {
    source = (struct answer_source){.is_run = true, .directory = "a", .has_groups_unasked = true};
    make("", READS);
    ck_assert_str_eq(commands(), "");
    wants_calibration = true;
    make("", READS);
    ck_assert_str_eq(commands(), "osprof calibrate a\n");
}

TEST(what_gives_way_is_left_out_until_only_the_sentence_is_left) {
    lines_max = 1;
    make("# elapsed: 1024000\n" CAUSES(10), SYNCS);
    assert_begins("1.02 ms elapsed; ");
    ck_assert_ptr_eq(strchr(page, '\n') + 1, page + strlen(page));
}

TEST(a_command_is_left_when_operations_give_way) {
    lines_max = 3;
    make("", READS);
    assert_not("spent in");
    ck_assert_str_eq(commands(), "osprof show --op READ p.osprof\n");
}
