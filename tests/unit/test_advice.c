/* Which advice a profile gives, and which it does not: each rule, and the cases next to it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "answer_model.h"
#include "base.h"
#include "testing.h"

#define US 1000 /* cycles, at 1 GHz */

static char text[16384];
static struct aggstats_profile profile;
static struct answer_model model;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...) {
    const size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    ck_assert_int_lt(vsnprintf(text + length, sizeof(text) - length, format, arguments), (int)(sizeof(text) - length));
    va_end(arguments);
}

/* A second of which 1,000 looks saw so many with calls in flight, at most that many at once; ops: "FSYNC 500". */
static void begin(const char *layer, unsigned busy, unsigned most, const char *ops) {
    text[0] = '\0';
    add("# osprof 1\n# layer: %s\n# clock: tsc 1000000000 Hz\n# elapsed: 1000000000\n", layer);
    add("# busy: %u looks 1000 most %u\n# busy_ops: %s\n", busy, most, ops);
}

/* Calls of that latency each. */
static void calls(const char *op, unsigned count, unsigned each_cycles) {
    add("OP_%s %u %llu\n", op, count, (unsigned long long)count * each_cycles);
    for (unsigned bucket = 0; bucket < (unsigned)log2(each_cycles); bucket++)
        add(" 0");
    add(" %u\n", count);
}

static size_t advise(void) {
    struct aggstats_parse_error error;
    FILE *stream = fmemopen(text, strlen(text), "r");
    aggstats_profile_finish(&profile);
    ck_assert_msg(aggstats_profile_parse(stream, &profile, &error) == 0, "line %zu: %s", error.line, error.message);
    fclose(stream);
    answer_model_make(&profile, NULL, 0, &model);
    return model.advice_count;
}

static const struct advice *expect(enum advice_rule rule) {
    ck_assert_uint_ge(advise(), 1);
    ck_assert_str_eq(advice_rule_name(model.advice[0].rule), advice_rule_name(rule));
    ck_assert_double_ge(model.advice[0].bound, model.advice[0].busy_cycles / 1e9 - 1e-9);
    ck_assert_double_le(model.advice[0].bound + model.advice[0].between, 1 + 1e-9);
    return &model.advice[0];
}

static void expect_none(void) {
    ck_assert_uint_eq(advise(), 0);
}

/* ---- Bounds ---- */

/* Never two at once: the sum is the union, and what is around calls is little. */
TEST(sum_of_calls_one_by_one_is_the_bound) {
    begin("user", 500, 1, "FSYNC 500");
    calls("FSYNC", 1000, 500 * US);
    const struct advice *advice = expect(ADVICE_COMMITS);
    ck_assert(advice->is_exact);
    ck_assert(advice->is_one_at_a_time);
    ck_assert_double_eq_tol(advice->busy_cycles, 5e8, 1);
    ck_assert_double_eq_tol(advice->bound, 0.501, 1e-6);
    ck_assert_uint_eq(advice->calls, 1000);
}

/* 50 % of 1,000 looks: 46.9 to 53.1 %. */
TEST(upper_end_of_the_interval_is_the_bound_of_calls_that_overlap) {
    begin("user", 700, 2, "FSYNC 500 READ 300");
    calls("FSYNC", 1000, 510 * US);
    calls("READ", 1000, 310 * US);
    const struct advice *advice = expect(ADVICE_COMMITS);
    ck_assert(!advice->is_exact);
    ck_assert(advice->is_one_at_a_time);
    ck_assert_double_eq_tol(advice->busy_cycles, 5e8, 1);
    ck_assert_double_eq_tol(advice->bound, 0.531, 0.001);
}

/* Their sum, but no more than the union of all. */
TEST(what_comes_with_commits_is_in_their_bound) {
    begin("user", 600, 2, "FSYNC 400 UNLINK 150 READ 100");
    calls("FSYNC", 1000, 400 * US);
    calls("UNLINK", 1000, 150 * US);
    calls("READ", 1000, 100 * US);
    ck_assert_double_eq_tol(expect(ADVICE_COMMITS)->bound, 0.58, 0.002);
    begin("user", 500, 2, "FSYNC 400 UNLINK 150 READ 100");
    calls("FSYNC", 1000, 400 * US);
    calls("UNLINK", 1000, 150 * US);
    calls("READ", 1000, 100 * US);
    ck_assert_double_eq_tol(expect(ADVICE_COMMITS)->bound, 0.531, 0.002);
}

TEST(time_between_calls_is_bounded_where_it_is_known) {
    begin("user", 500, 1, "FSYNC 500");
    add("# user_time: 200000000\n# system_time: 0\n# queue_time: 0\n");
    calls("FSYNC", 1000, 500 * US);
    const struct advice *advice = expect(ADVICE_COMMITS);
    ck_assert_double_eq_tol(advice->between, 0.2, 0.01); /* the rest is neither in calls nor on a CPU */
    begin("user", 500, 1, "FSYNC 500");
    add("# user_time: 200000000\n# system_time: 0\n");
    calls("FSYNC", 1000, 500 * US);
    advice = expect(ADVICE_COMMITS);
    ck_assert_double_eq_tol(advice->bound + advice->between, 1, 1e-9);
}

/* As of counts of the kernel, of earlier versions, or of a run that was too short. */
TEST(without_looks_of_operations_there_is_no_advice) {
    static const char *const headers[] = {"", "# busy: 500 looks 1000 most 1\n",
                                          "# busy: 49 looks 99 most 1\n# busy_ops: FSYNC 49\n"};
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        text[0] = '\0';
        add("# osprof 1\n# layer: user\n# clock: tsc 1000000000 Hz\n# elapsed: 1000000000\n%s", headers[i]);
        calls("FSYNC", 1000, 500 * US);
        expect_none();
    }
}

TEST(the_largest_bounds_come_first_and_are_three) {
    begin("user", 900, 1, "FSYNC 120 READ 300 WRITE 200 STAT 250");
    add("# bytes: READ asked 160000 moved 160000\n# bytes: WRITE asked 160000 moved 160000\n# failed: STAT ENOENT "
        "2000\n");
    calls("FSYNC", 100, 1200 * US);
    calls("READ", 10000, 30 * US);
    calls("WRITE", 10000, 20 * US);
    calls("STAT", 2000, 125 * US);
    ck_assert_uint_eq(advise(), ADVICE_MAX);
    ck_assert_double_ge(model.advice[0].bound, model.advice[1].bound);
    ck_assert_double_ge(model.advice[1].bound, model.advice[2].bound);
    ck_assert_double_ge(model.advice[2].bound, 0.25);
}

/* ---- Commits ---- */

TEST(few_or_cheap_or_large_commits_are_well) {
    begin("user", 500, 1, "FSYNC 500");
    calls("FSYNC", 29, 17000 * US);
    expect_none();
    begin("user", 90, 1, "FSYNC 90");
    calls("FSYNC", 1000, 90 * US);
    expect_none();
    begin("user", 500, 1, "FSYNC 500");
    add("# bytes: WRITE asked 1000000000 moved 1000000000\n");
    calls("FSYNC", 1000, 500 * US);
    calls("WRITE", 1000, 1 * US);
    expect_none();
}

TEST(commits_of_many_threads_at_once_are_batches) {
    begin("user", 500, 8, "FSYNC 500");
    calls("FSYNC", 1000, 990 * US);
    ck_assert(!expect(ADVICE_COMMITS)->is_one_at_a_time);
    begin("user", 500, 8, "FSYNC 500");
    calls("FSYNC", 1000, 1010 * US);
    expect_none();
}

TEST(groups_say_who_and_where) {
    begin("user", 500, 1, "FDATASYNC 500");
    calls("FDATASYNC", 1000, 500 * US);
    add("# program: sqlite3\n");
    calls("FDATASYNC", 900, 500 * US);
    add("# program: tar\n");
    calls("FDATASYNC", 100, 500 * US);
    add("# file: 0 /db/a\n");
    calls("FDATASYNC", 400, 500 * US);
    add("# file: 0 /db/b\n");
    calls("FDATASYNC", 400, 500 * US);
    add("# directory: 0 /db\n");
    calls("FDATASYNC", 800, 500 * US);
    const struct advice *advice = expect(ADVICE_COMMITS);
    ck_assert_str_eq(advice->op->name, "FDATASYNC");
    ck_assert_str_eq(advice->program->name, "sqlite3");
    ck_assert_str_eq(advice->place->name, "/db");
    ck_assert_int_eq(advice->place->grouping, AGGSTATS_BY_DIRECTORY);
}

/* ---- Small reads and writes ---- */

static void begin_reads(unsigned asked_bytes, const char *more) {
    begin("user", 400, 1, "READ 300");
    add("# bytes: READ asked %llu moved 160000\n%s", 10000ULL * asked_bytes, more);
    calls("READ", 10000, 30 * US);
}

TEST(small_reads_in_order_are_tiny) {
    begin_reads(16, "");
    calls("OPEN", 2, 30 * US);
    const struct advice *advice = expect(ADVICE_TINY_READS);
    ck_assert_double_eq_tol(advice->bytes, 16, 1e-9);
    ck_assert_uint_eq(advice->calls, 10000);
}

/* Of files that are small, or in no order, or small themselves; or of a size that is usual. */
TEST(other_small_reads_are_well) {
    begin_reads(131072, "");
    expect_none();
    begin_reads(2048, "");
    expect_none();
    begin_reads(16, "");
    calls("LSEEK", 5000, 1 * US);
    expect_none();
    begin_reads(16, "");
    calls("OPEN", 1000, 1 * US);
    expect_none();
    begin("user", 400, 1, "READ 300");
    add("# bytes: READ asked 14400 moved 14400\n");
    calls("READ", 900, 333 * US);
    expect_none();
}

TEST(small_writes_in_order_are_tiny_unless_each_is_synced) {
    for (unsigned syncs = 1000; syncs <= 1001; syncs++) {
        begin("user", 400, 1, "WRITE 300 FSYNC 10");
        add("# bytes: WRITE asked 160000 moved 160000\n");
        calls("WRITE", 10000, 30 * US);
        calls("FSYNC", syncs, 10 * US);
        if (syncs == 1000)
            expect(ADVICE_TINY_WRITES);
        else
            expect_none();
    }
}

/* ---- What is not there ---- */

TEST(most_look_ups_must_be_in_vain) {
    begin("user", 400, 1, "STAT 300");
    add("# failed: STAT ENOENT 1500\n");
    calls("STAT", 2000, 150 * US);
    const struct advice *advice = expect(ADVICE_MISSING);
    ck_assert_uint_eq(advice->calls, 1500);
    ck_assert_uint_eq(advice->of_calls, 2000);
    begin("user", 400, 1, "STAT 300");
    add("# failed: STAT ENOENT 999\n");
    calls("STAT", 1000, 300 * US);
    expect_none();
    begin("user", 400, 1, "STAT 300");
    add("# failed: STAT ENOENT 1500\n");
    calls("STAT", 3001, 100 * US);
    expect_none();
}

TEST(look_ups_of_a_mount_are_such_too) {
    begin("fs", 400, 1, "LOOKUP 300");
    add("# failed: LOOKUP ENOENT 2000\n");
    calls("LOOKUP", 2000, 150 * US);
    ck_assert_str_eq(expect(ADVICE_MISSING)->op->name, "LOOKUP");
}

/* ---- One file, again and again ---- */

static void begin_opens(unsigned of_one_file) {
    begin("user", 400, 1, "OPEN 200 READ 50 CLOSE 50");
    calls("OPEN", 2000, 100 * US);
    calls("READ", 2000, 25 * US);
    calls("CLOSE", 2000, 25 * US);
    add("# file: 0 /etc/app.conf\n");
    calls("OPEN", of_one_file, 100 * US);
    calls("READ", of_one_file, 25 * US);
    calls("CLOSE", of_one_file, 25 * US);
    add("# file: other\n");
    calls("OPEN", 2000 - of_one_file, 100 * US);
    calls("READ", 2000 - of_one_file, 25 * US);
    calls("CLOSE", 2000 - of_one_file, 25 * US);
}

TEST(a_file_must_be_opened_again_and_again) {
    begin_opens(1200);
    const struct advice *advice = expect(ADVICE_REOPENED);
    ck_assert_str_eq(advice->op->name, "OPEN");
    ck_assert_str_eq(advice->place->name, "/etc/app.conf");
    ck_assert_uint_eq(advice->calls, 1200);
    ck_assert_double_eq_tol(advice->bound, 1200 * 150e-6 + 3600 * 1e-6, 1e-6); /* of this file's calls only */
    begin_opens(999);
    expect_none();
}

/* ---- FUSE ---- */

static void begin_on(const char *file_system) {
    begin("user", 400, 1, "STAT 400");
    calls("STAT", 900, 440 * US);
    add("# filesystem: 0 / ext4\n");
    calls("STAT", 100, 440 * US);
    add("# filesystem: 0 %s\n", file_system);
    calls("STAT", 800, 440 * US);
}

TEST(files_on_fuse_are_known_by_their_type) {
    static const char *const others[] = {"/mnt ext4", "/mnt fusectl", "/fuse nfs4", "/a\\040fuse.b xfs"};
    begin_on("/mnt fuse.sshfs");
    const struct advice *advice = expect(ADVICE_FUSE);
    ck_assert_str_eq(advice->place->name, "/mnt fuse.sshfs");
    ck_assert_double_eq_tol(advice->bound, 0.3528, 1e-4); /* 800 times 441 us, of these calls alone */
    begin_on("/win fuseblk");
    expect(ADVICE_FUSE);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        begin_on(others[i]);
        expect_none();
    }
}

/* Programs waited so much longer than the lower file system took. */
TEST(what_a_mount_adds_is_bounded) {
    begin("fs", 100, 1, "GETATTR 100");
    add("# program_time: 400000000\n# locking_time: 0\n");
    calls("GETATTR", 1000, 100 * US);
    const struct advice *advice = expect(ADVICE_MOUNT);
    ck_assert_double_eq_tol(advice->bound, 0.3, 1e-6);
    begin("fs", 100, 1, "GETATTR 100");
    add("# program_time: 190000000\n# locking_time: 0\n");
    calls("GETATTR", 1000, 100 * US);
    expect_none();
}
