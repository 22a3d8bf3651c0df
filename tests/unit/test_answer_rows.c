/* The answer page as data: which rows a profile has, and which the profile next to it has not. */
#include <stdlib.h>
#include <string.h>

#include "answer_page.h"
#include "base.h"
#include "holders_text.h"
#include "testing.h"

#define HEAD "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n"
#define READS "OP_READ 100 153600\n 0 0 0 0 0 0 0 0 0 0 100\n" /* 1.536 us each */
#define SYNCS "OP_FSYNC 10 15728640\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 10\n"

static struct aggstats_profile profile;
static struct answer_model model;
static struct answer_rows rows;
static struct answer_source source;
static bool wants_calibration;
static unsigned groupings; /* of the profile, beside those of which it has groups */

static void set_up(void) {
    source = (struct answer_source){.profile = "p.osprof"};
    wants_calibration = false;
    groupings = 0;
}

static void tear_down(void) {
    answer_rows_finish(&rows);
    aggstats_profile_finish(&profile);
}

/* Makes the rows of a profile. labels: lines of the header; body: ops, and what follows them */
static void make(const char *labels, const char *body) {
    CLEANUP_FREE char *text = NULL;
    struct aggstats_parse_error why = {0};
    tear_down();
    ck_assert_int_ge(asprintf(&text, "%s%s%s", HEAD, labels, body), 0);
    CLEANUP_STREAM FILE *stream = fmemopen(text, strlen(text), "r");
    ck_assert_msg(aggstats_profile_parse(stream, &profile, &why) == 0, "line %zu: %s", why.line, why.message);
    profile.groupings |= groupings;
    answer_model_make(&profile, NULL, 0, &model);
    answer_rows_make(&profile, &model, &source, wants_calibration, &rows);
}

static size_t count_of(enum answer_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < rows.count; i++)
        count += rows.rows[i].kind == kind;
    return count;
}

/* The row of a kind, counted from 0; fails if it is not there. */
static const struct answer_row *row_of(enum answer_kind kind, size_t number) {
    for (size_t i = 0; i < rows.count; i++)
        if (rows.rows[i].kind == kind && number-- == 0)
            return &rows.rows[i];
    ck_abort_msg("no such row of kind %d", (int)kind);
    return NULL;
}

/* The commands, a line each; in a static buffer. */
static const char *commands(void) {
    static char text[1024];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count_of(ANSWER_NEXT); i++) {
        const struct answer_next *next = &row_of(ANSWER_NEXT, i)->next;
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s%s\n", next->command,
                                   next->argument[0] ? " " : "", next->argument);
    }
    return text;
}

/* ---- How much of the time ---- */

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(the_elapsed_time_is_a_row_if_it_is_known) {
    make("# elapsed: 1024000\n", READS);
    ck_assert_int_eq(rows.rows[0].kind, ANSWER_ELAPSED);
    ck_assert_double_eq(rows.rows[0].cycles, 1024000);
    ck_assert_uint_eq(rows.rows[0].count, 0);
    make("", READS);
    ck_assert_uint_eq(count_of(ANSWER_ELAPSED), 0);
}

TEST(what_was_added_up_is_counted) {
    make("# elapsed: 1024000\n# runs: 5\n", READS);
    ck_assert_uint_eq(row_of(ANSWER_ELAPSED, 0)->count, 5);
    ck_assert_str_eq(row_of(ANSWER_ELAPSED, 0)->word, "runs");
    make("# elapsed: 1024000\n# merged: 7\n", READS);
    ck_assert_uint_eq(row_of(ANSWER_ELAPSED, 0)->count, 7);
    ck_assert_str_eq(row_of(ANSWER_ELAPSED, 0)->word, "profiles");
}

TEST(samples_that_are_accurate_replace_the_sum) {
    make("# elapsed: 1024000\n# lower: /srv\n# busy: 2000 looks 10000 most 4\n", READS);
    const struct answer_row *busy = row_of(ANSWER_BUSY, 0);
    ck_assert_double_eq_tol(busy->share, 0.2, 1e-9);
    ck_assert_double_eq_tol(busy->cycles, 204800, 1e-3);
    ck_assert_uint_eq(busy->count, 4);
    ck_assert_str_eq(busy->place, "/srv");
    ck_assert_uint_eq(count_of(ANSWER_SUM), 0);
    make("# elapsed: 1024000\n# lower: /srv\n", READS);
    const struct answer_row *sum = row_of(ANSWER_SUM, 0);
    ck_assert_double_eq_tol(sum->share, 0.15, 1e-9);
    ck_assert_double_eq(sum->cycles, 153600);
    ck_assert_uint_eq(count_of(ANSWER_BUSY), 0);
}

TEST(without_calls_there_is_one_row_and_no_command) {
    make("", "OP_READ 0 0\n 0\n");
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_int_eq(rows.rows[0].kind, ANSWER_NO_CALLS);
}

TEST(the_chosen_group_is_named_as_it_is) {
    make("# calls of program: cc1\n", READS);
    ck_assert_str_eq(row_of(ANSWER_SUM, 0)->word, "calls of program");
    ck_assert_str_eq(row_of(ANSWER_SUM, 0)->whose, "cc1");
    make("# calls on file: /src/a, but for b\n# missed: 3\n", READS);
    ck_assert_str_eq(row_of(ANSWER_SUM, 0)->word, "calls on");
    ck_assert_str_eq(row_of(ANSWER_SUM, 0)->whose, "/src/a, but for b");
    make("", READS);
    ck_assert_ptr_null(row_of(ANSWER_SUM, 0)->whose);
}

/* ---- Where it went ---- */

#define SLOW_SYNC(latency, cause, links)                                                                               \
    "# call: FSYNC latency " latency " end_ns 1 " cause                                                                \
    " pid 1 uid 1 error 0 asked_bytes 0 moved_bytes 0 offset 0" links "\n"
#define A_LOCK "cause_id a_lock cause_class flock cause a\\040lock"
#define A_DISK "cause_id disk cause_class disk cause a\\040lock"
#define HELD_BY(program) " link waits_for flock object /a relation held holder_process 2 holder_program " program

TEST(who_held_what_the_first_operation_waited_for_is_a_row) {
#define CAUSES_OF_SYNCS                                                                                                \
    "# slow: 1000\n# cause: FSYNC calls 8 total 9000000 longest 1572864 " A_LOCK "\n"                                  \
    "# cause: FSYNC calls 2 total 2000000 longest 1572864 " A_DISK "\n"
    const char *calls = CAUSES_OF_SYNCS SLOW_SYNC("5000", A_LOCK, "") SLOW_SYNC("9000", A_DISK, "");
    const char *held = CAUSES_OF_SYNCS SLOW_SYNC("5000", A_LOCK, HELD_BY("x")) SLOW_SYNC("7000", A_LOCK, HELD_BY("y"))
        SLOW_SYNC("9000", A_DISK, " link waits_for disk object sda") SLOW_SYNC("9500", A_LOCK, "");
    char holder[HOLDERS_SHORT_SIZE];
    make(held, READS SYNCS);
    holders_format_thing(row_of(ANSWER_HOLDER, 0)->slow_call->chain, holder, sizeof(holder));
    ck_assert_str_eq(holder, "the flock of /a, held by y 2");
    ck_assert_double_eq(row_of(ANSWER_HOLDER, 0)->cycles, 7000);
    make(calls, READS SYNCS);
    ck_assert_uint_eq(count_of(ANSWER_HOLDER), 0);
    make(held, "OP_READ 100 153600000\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100\n" SYNCS); /* READ comes first */
    ck_assert_uint_eq(count_of(ANSWER_HOLDER), 0);
}

TEST(peaks_are_rows_with_their_share) {
    make("", READS SYNCS);
    ck_assert_uint_eq(count_of(ANSWER_PEAK), 2);
    const struct answer_row *peak = row_of(ANSWER_PEAK, 0);
    ck_assert_str_eq(peak->op->name, "FSYNC");
    ck_assert_double_eq_tol(peak->share, 0.9903, 1e-4);
    ck_assert_uint_eq(peak->count, 10);
    ck_assert(!peak->is_observed);
    ck_assert_str_eq(peak->word, "");
    make("", SYNCS);
    ck_assert_uint_eq(count_of(ANSWER_PEAK), 1);
}

/* Causes of so many of the calls of FSYNC. */
#define CAUSES(calls)                                                                                                  \
    "# slow: 1000000\n# cause: FSYNC calls " #calls                                                                    \
    " total 15728640 longest 1572864 cause waiting\\040for\\040the\\040journal\n"                                      \
    "# cause_buckets: 1 20:" #calls "\n"

TEST(a_cause_that_half_of_the_calls_had_was_observed) {
    make(CAUSES(5), SYNCS);
    ck_assert(row_of(ANSWER_PEAK, 0)->is_observed);
    ck_assert_str_eq(row_of(ANSWER_PEAK, 0)->wait->words, "waiting for the journal");
    make(CAUSES(4), SYNCS);
    ck_assert(!row_of(ANSWER_PEAK, 0)->is_observed);
}

TEST(the_oldest_call_in_flight_is_a_row) {
    make("# call: READ age 1000 inode 3 pid 5\n# call: READ age 2500 inode 4 pid 6\n",
         "OP_READ 102 153600\n 0 0 0 0 0 0 0 0 0 0 100\n");
    ck_assert_uint_eq(row_of(ANSWER_IN_FLIGHT, 0)->count, 2);
    ck_assert_uint_eq(row_of(ANSWER_IN_FLIGHT, 0)->in_flight->pid, 6);
    ck_assert_double_eq(row_of(ANSWER_IN_FLIGHT, 0)->cycles, 2500);
    make("", READS);
    ck_assert_uint_eq(count_of(ANSWER_IN_FLIGHT), 0);
}

/* Two groups, and their cycles. */
#define PROGRAMS(first_cycles, second_cycles)                                                                          \
    READS "# program: cc1\nOP_READ 50 " first_cycles "\n 0 0 0 0 0 0 0 0 0 0 50\n"                                     \
          "# program: ld\nOP_READ 50 " second_cycles "\n 0 0 0 0 0 0 0 0 0 0 50\n"

static void assert_groups(size_t count) {
    ck_assert_uint_eq(count_of(ANSWER_GROUP), count);
    ck_assert_int_eq(row_of(ANSWER_GROUP, 0)->grouping, AGGSTATS_BY_PROGRAM);
}

TEST(groups_below_a_hundredth_have_no_row) {
    make("", PROGRAMS("100000", "53600"));
    assert_groups(2);
    ck_assert_double_eq_tol(row_of(ANSWER_GROUP, 1)->share, 0.34896, 1e-4);
    make("", PROGRAMS("152600", "1000"));
    assert_groups(1);
    ck_assert_str_eq(row_of(ANSWER_GROUP, 0)->group->name, "cc1");
}

/* Two file systems, and their cycles. */
#define FILE_SYSTEMS(first_cycles, second_cycles)                                                                      \
    READS "# filesystem: 0 / ext4\nOP_READ 50 " first_cycles "\n 0 0 0 0 0 0 0 0 0 0 50\n"                             \
          "# filesystem: 0 /srv xfs\nOP_READ 50 " second_cycles "\n 0 0 0 0 0 0 0 0 0 0 50\n"

TEST(file_systems_have_rows_if_there_are_several) {
    make("", FILE_SYSTEMS("100000", "53600"));
    ck_assert_uint_eq(count_of(ANSWER_GROUP), 2);
    ck_assert_str_eq(row_of(ANSWER_GROUP, 1)->group->name, "/srv xfs");
    make("", FILE_SYSTEMS("153000", "600"));
    ck_assert_uint_eq(count_of(ANSWER_GROUP), 0);
}

TEST(of_six_groupings_five_have_rows) {
    groupings = (1U << AGGSTATS_GROUPINGS) - 1;
    make("", READS);
    ck_assert_uint_eq(count_of(ANSWER_GROUP), 5);
    ck_assert_int_eq(row_of(ANSWER_GROUP, 0)->grouping, AGGSTATS_BY_FILE);
    ck_assert_int_eq(row_of(ANSWER_GROUP, 4)->grouping, AGGSTATS_BY_UID);
}

TEST(a_grouping_without_groups_has_the_row_of_nobody) {
    groupings = 1U << AGGSTATS_BY_PROGRAM;
    make("", READS);
    assert_groups(1);
    ck_assert_ptr_null(row_of(ANSWER_GROUP, 0)->group);
    groupings = 0;
    make("", READS);
    ck_assert_uint_eq(count_of(ANSWER_GROUP), 0);
}

/* ---- How much, what failed ---- */

TEST(bytes_are_a_row_and_so_is_that_there_were_none) {
    make("# elapsed: 1000000000\n# bytes: READ asked 4096 moved 4096\n", READS);
    const struct answer_row *moved = row_of(ANSWER_MOVED, 0);
    ck_assert_str_eq(moved->word, "read");
    ck_assert_double_eq(moved->bytes, 4096);
    ck_assert_double_eq_tol(moved->per_elapsed_second, 4096, 1e-6);
    ck_assert_uint_eq(count_of(ANSWER_NONE_MOVED), 0);
    make("# failed: READ EIO 1\n", READS);
    ck_assert_uint_eq(count_of(ANSWER_NONE_MOVED), 1);
    make("", READS); /* a recorder that does not know */
    ck_assert_uint_eq(count_of(ANSWER_MOVED) + count_of(ANSWER_NONE_MOVED), 0);
}

TEST(failures_are_rows_the_most_frequent_first) {
    make("# failed: READ EIO 2 EACCES 3\n", READS);
    ck_assert_uint_eq(count_of(ANSWER_FAILED), 2);
    ck_assert_str_eq(row_of(ANSWER_FAILED, 0)->word, "EACCES");
    ck_assert_uint_eq(row_of(ANSWER_FAILED, 0)->count, 3);
    ck_assert_uint_eq(count_of(ANSWER_OTHERS_FAILED) + count_of(ANSWER_NONE_FAILED), 0);
}

TEST(kinds_beyond_the_fifth_are_others) {
    make("# failed: READ EIO 6 EACCES 5 EPERM 4 ENOENT 3 EINVAL 2\n", READS);
    ck_assert_uint_eq(count_of(ANSWER_OTHERS_FAILED), 0);
    make("# failed: READ EIO 7 EACCES 6 EPERM 5 ENOENT 4 EINVAL 3 EAGAIN 2\n", READS);
    ck_assert_uint_eq(count_of(ANSWER_FAILED), 5);
    ck_assert_uint_eq(row_of(ANSWER_OTHERS_FAILED, 0)->count, 2);
}

TEST(queries_for_what_is_not_there_are_no_failures) {
    make("# failed: LOOKUP ENOENT 3\n", "OP_LOOKUP 10 15360\n 0 0 0 0 0 0 0 0 0 0 10\n");
    ck_assert_uint_eq(count_of(ANSWER_FAILED), 0);
    ck_assert_uint_eq(row_of(ANSWER_NONE_FAILED, 0)->count, 3);
    make("", "OP_LOOKUP 10 15360\n 0 0 0 0 0 0 0 0 0 0 10\n");
    ck_assert_uint_eq(count_of(ANSWER_NONE_FAILED), 0);
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
    make("# elapsed: 1024000\n" CAUSES(10), SYNCS);
    size_t before = rows.count;
    const size_t commands_before = count_of(ANSWER_NEXT);
    ck_assert_uint_ge(commands_before, 2);
    while (answer_rows_leave_out(&rows)) {
        ck_assert_uint_lt(rows.count, before);
        before = rows.count;
    }
    ck_assert_uint_eq(count_of(ANSWER_ELAPSED), 1);
    ck_assert_uint_eq(count_of(ANSWER_NEXT), 0);
    ck_assert_uint_eq(count_of(ANSWER_PEAK), 0);
}

TEST(a_command_is_left_when_operations_give_way) {
    make("", READS);
    while (count_of(ANSWER_PEAK) > 0 && answer_rows_leave_out(&rows))
        ;
    ck_assert_uint_eq(count_of(ANSWER_PEAK), 0);
    ck_assert_uint_eq(count_of(ANSWER_NEXT), 1);
}
