/* What the answer page says of a profile, and does not say of the profile next to it. */
#include <stdlib.h>
#include <string.h>

#include "answer_page.h"
#include "base.h"
#include "testing.h"

#define HEAD "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n"
#define READS "OP_READ 100 153600\n 0 0 0 0 0 0 0 0 0 0 100\n" /* 1.536 us each */
#define HALF "OP_READ 50 76800\n 0 0 0 0 0 0 0 0 0 0 50\n"
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
    assert_begins("1.02 ms elapsed; calls took 154 us (15.0 %), summed over threads\n");
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

/* ---- Was it the disk? ---- */

/* Of a run whose 100 READs got so many bytes, as the kernel read others from storage. */
static void make_disk(const char *storage_bytes, const char *moved_bytes, const char *labels, const char *groups) {
    CLEANUP_FREE char *all = NULL;
    CLEANUP_FREE char *body = NULL;
    ck_assert_int_ge(asprintf(&all, "# layer: user\n# elapsed: 102400000\n%s%s%s# bytes: READ asked %s moved %s\n",
                              storage_bytes[0] ? "# storage_read: " : "", storage_bytes, storage_bytes[0] ? "\n" : "",
                              moved_bytes, moved_bytes),
                     0);
    ck_assert_int_ge(asprintf(&body, "%s%s", READS, groups), 0);
    CLEANUP_FREE char *with = NULL;
    ck_assert_int_ge(asprintf(&with, "%s%s", all, labels), 0);
    make(with, body);
}

#define READS_ON(place) "# filesystem: 0 " place "\n" READS

TEST(what_came_from_the_disk_is_beside_what_calls_read) {
    make_disk("10485760", "10485760", "", "");
    assert_says("\n10.0 MiB came from the disk; calls read 10.0 MiB\n");
    make_disk("5242880", "10485760", "", "");
    assert_says("\n5.00 MiB came from the disk; calls read 10.0 MiB\n");
    make_disk("10485760", "9437184", "", ""); /* 90 %: the rest may be rounding */
    assert_says("\n10.0 MiB came from the disk; calls read 9.00 MiB\n");
}

TEST(what_calls_got_from_the_page_cache_did_not_come_from_the_disk) {
    make_disk("0", "10485760", "", READS_ON("/ ext4"));
    assert_says("\nNothing of the 10.0 MiB that calls read came from the disk: it was in the page cache\n");
    make_disk("104857", "10485760", "", READS_ON("/ ext4"));
    assert_says("\nLess than 1 % of the 10.0 MiB that calls read came from the disk: it was in the page cache\n");
    make_disk("104858", "10485760", "", READS_ON("/ ext4"));
    assert_says("\n102 KiB came from the disk; calls read 10.0 MiB\n");
}

TEST(daemons_and_servers_read_their_disks_themselves) {
    static const char sentence[] = "\nNothing of the 10.0 MiB that calls read came from the disk: it was in the page "
                                   "cache, or came from a FUSE daemon or a server\n";
    make_disk("0", "10485760", "", "");
    assert_says(sentence);
    make_disk("0", "10485760", "", READS_ON("/mnt fuse.sshfs"));
    assert_says(sentence);
    make_disk("0", "10485760", "", READS_ON("/mnt nfs4"));
    assert_says(sentence);
    make_disk("0", "10485760", "", "# filesystem: 0 / ext4\n" HALF "# filesystem: 0 /mnt nfs4\n" HALF);
    assert_says(sentence);
}

TEST(what_calls_cannot_have_read_was_read_by_others) {
    make_disk("10485760", "9437183", "", "");
    assert_says("\n10.0 MiB came from the disk, at most 9.00 MiB of it by read calls: the rest by read-ahead or "
                "metadata\n");
    make_disk("10485760", "0", "", "");
    assert_says("\n10.0 MiB came from the disk, none of it by read calls: the rest by read-ahead or metadata\n");
    make_disk("10485760", "0", "# page_faults: minor 7 major 1\n", "");
    assert_says(": the rest by mapped files and programs (1 major page fault), read-ahead or metadata\n");
    make_disk("10485760", "0", "# page_faults: minor 7 major 2\n", "");
    assert_says(" (2 major page faults), read-ahead or metadata\n");
    /* One thread, which computed 52.2 ms of 102 ms: it waited for 50 ms at most outside of its calls. */
    make_disk("10485760", "0",
              "# page_faults: minor 7 major 5\n# user_time: 52246400\n# system_time: 0\n# queue_time: 0\n", "");
    assert_says(" (5 major page faults, at most 10.0 ms each), read-ahead or metadata\n");
}

TEST(which_files_faults_read_is_shown_by_attach_where_it_can) {
    source.can_see_faults = true;
    make_disk("10485760", "0", "# page_faults: minor 7 major 1\n", "");
    assert_says(" (1 major page fault), read-ahead or metadata; as root, osprof attach shows which files\n");
    make_disk("10485760", "0", "", "");
    assert_says(": the rest by read-ahead or metadata\n");
}

TEST(the_disk_is_not_mentioned_if_one_thread_waited_for_next_to_nothing) {
#define COMPUTED(ns)                                                                                                   \
    "# user_time: " ns "\n# system_time: 0\n# queue_time: 0\n" /* of 102,246,400 ns outside of its calls */
    make_disk("10485760", "0", COMPUTED("101222400"), "");
    assert_says("\n10.0 MiB came from the disk, none of it by read calls: ");
    make_disk("10485760", "0", COMPUTED("101222401"), "");
    assert_not("the disk");
    make_disk("10485760", "1048576", COMPUTED("101222401"), "");
    assert_says("\n10.0 MiB came from the disk, at most 1.00 MiB of it by read calls: ");
}

TEST(the_disk_is_not_mentioned_if_little_was_read_or_nobody_counted) {
    make_disk("1048575", "1048575", "", "");
    assert_not("the disk");
    make_disk("1048576", "0", "", "");
    assert_says("\n1.00 MiB came from the disk, ");
    make_disk("0", "1048576", "", "");
    assert_says("\nNothing of the 1.00 MiB that calls read ");
    make_disk("", "10485760", "", "");
    assert_not("the disk");
    make("# layer: fs\n# storage_read: 10485760\n# bytes: READ asked 10485760 moved 10485760\n", READS);
    assert_not("the disk");
}

/* ---- What was not measured ---- */

TEST(what_was_not_measured_is_one_line) {
    make("# not_seen: static 1 async 3\n", READS);
    assert_says("\nNot measured: 1 statically linked program, 3 asynchronous calls\n");
    make("# not_told: of_machine 5 failed 2 begun 1\n", READS);
    assert_says("\nNot measured: 5 calls by name (unresolved: here or on pseudo file systems such as /proc, of all "
                "programs of this machine; 2 failed); the latency of 1 call (begun before osprof attached)\n");
    make("# not_seen: static 1\n# not_told: untimed 2 processes 3 causes 4\n", READS);
    assert_says(
        "\nNot measured: 1 statically linked program; the latency of 2 requests of io_uring (they asked for no "
        "completion); calls of 3 descendants and of what they started (no room for more processes); the cause of "
        "4 slow calls (too many ended at once)\n");
    make("", READS);
    assert_not("Not measured");
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
    assert_says("\n% of latency  spent in    calls       p50\n"
                "      99.0 %  FSYNC          10   1.43 ms\n"
                "       1.0 %  READ          100   1.44 us\n\n");
    make("", SYNCS);
    assert_says(" 100.0 %  FSYNC          10   1.43 ms\n\n");
}

TEST(mean_and_max_are_there_if_p50_does_not_explain_the_total) {
    /* 99 of 1.536 us and one of 1.5 ms that is in the same peak: a mean of 17 us */
    make("", "OP_READ 100 1724928\n 0 0 0 0 0 0 0 0 0 0 90 1 1 1 1 1 1 1 1 1 1\n");
    assert_says("\n% of latency  spent in    calls       p50      mean       max\n"
                "     100.0 %  READ          100   1.50 us   17.2 us  <2.10 ms\n\n");
    make("# longest: READ 1500000 object 1\n", "OP_READ 100 1724928\n 0 0 0 0 0 0 0 0 0 0 90 1 1 1 1 1 1 1 1 1 1\n");
    assert_says("   17.2 us   1.50 ms\n");
    make("", READS);
    assert_not("mean");
    assert_not("max");
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

TEST(groups_that_were_asked_for_are_all_there_and_stay) {
    source.has_groups_asked = true;
    groupings = (1U << AGGSTATS_GROUPINGS) - 1;
    make("", READS);
    assert_says("\nuser      none\n");
    assert_says("\ncgroup    none\n");
    make("", FILE_SYSTEMS("153000", "600"));
    assert_says(" / ext4 99.6 %\n");
    groupings = 0;
    lines_max = 5;
    make("# failed: READ EIO 1\n", PROGRAMS("100000", "53600"));
    assert_not("spent in");
    assert_says("\nprogram   cc1 65.1 %, ld 34.9 %\n");
    source.has_groups_asked = false;
    make("# failed: READ EIO 1\n", PROGRAMS("100000", "53600"));
    assert_not("cc1");
}

/* So many of 100 READs are in each of five directories. */
#define IN(directory, calls, cycles)                                                                                   \
    "# directory: 0 " directory "\nOP_READ " calls " " cycles "\n 0 0 0 0 0 0 0 0 0 0 " calls "\n"
#define SCATTERED                                                                                                      \
    READS IN("/a/b/1", "20", "30720") IN("/a/b/2", "20", "30720") IN("/a/b/3", "20", "30720")                          \
        IN("/a/b/4", "20", "30720")

TEST(time_that_scatters_over_directories_is_below_the_one_that_they_are_in) {
    make("", SCATTERED IN("/a/b/5", "20", "30720"));
    assert_says("\ndirectory below /a/b 100.0 %, /a/b/1 20.0 %, /a/b/2 20.0 %, ");
    assert_says("  READ          100   1.44 us  below /a/b\n");
    make("# lower: /a/b\n", SCATTERED IN("/a/b/5", "20", "30720"));
    assert_says("\ndirectory /a/b/1 20.0 %, ");
    assert_not("below");
    make("", READS IN("/a/b/1", "50", "76800") IN("/a/b/2", "50", "76800"));
    assert_says("\ndirectory /a/b/1 50.0 %, ");
    assert_not("below");
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
    ck_assert_str_eq(commands(), "osprof show --op READ\nosprof doctor --calibrate 'a b'\n");
    source.profile = "@1.2";
    source.layer = "fs";
    source.has_groups_unasked = true;
    groupings = 1U << AGGSTATS_BY_FILE;
    wants_calibration = false;
    make("", READS);
    ck_assert_str_eq(commands(), "osprof show --layer fs --op READ @1.2\nosprof show --layer fs --by file @1.2\n");
}

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
    ck_assert_str_eq(commands(), "osprof doctor --calibrate a\n");
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
