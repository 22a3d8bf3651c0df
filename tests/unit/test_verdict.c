/* Words for sets of runs that are made up: one op is slow, all are, a mode is new, calls are missing. */
#include "verdict.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "testing.h"

#define RUNS 5
#define OPS 9
#define CALLS 1000

static const char *const names[OPS] = {"READ",  "WRITE", "GETATTR", "LOOKUP", "OPEN",
                                       "FSYNC", "MKDIR", "RMDIR",   "RENAME"};
static struct aggstats_profile profiles[2 * RUNS];
static struct verdict_result result;
static const struct verdict_options options = {.at_least = VERDICT_AT_LEAST, .alpha = VERDICT_ALPHA};
static size_t profile_count;

static struct aggstats_op_profile *op_of(struct aggstats_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->op_count; i++) {
        if (strcmp(profile->ops[i].name, name) == 0)
            return &profile->ops[i];
    }
    ck_abort_msg("no op of that name");
    return NULL;
}

static void add_calls(struct aggstats_op_profile *op, uint64_t calls, double cycles) {
    op->buckets[(unsigned)log2(cycles)] += calls;
    op->calls += calls;
    op->total_cycles += (uint64_t)((double)calls * cycles);
}

/* Runs of one side differ by a few percent, in a way that repeats. */
static double noise(size_t run, size_t op) {
    return 1 + 0.02 * sin((double)(7 * run + 3 * op + 1));
}

static void make_run(struct aggstats_profile *profile, size_t run) {
    *profile = (struct aggstats_profile){
        .resolution = 1,
        .clock = {.frequency_hz = 1000000000},
        .ops = calloc(OPS, sizeof(*profile->ops)),
        .op_count = OPS,
        .start_ns = (int64_t)run,
        .has_start = true,
    };
    ck_assert_ptr_nonnull(profile->ops);
    for (size_t i = 0; i < OPS; i++) {
        snprintf(profile->ops[i].name, sizeof(profile->ops[i].name), "%s", names[i]);
        profile->ops[i].buckets = calloc(64, sizeof(uint64_t));
        ck_assert_ptr_nonnull(profile->ops[i].buckets);
        add_calls(&profile->ops[i], CALLS, 3000 * exp2((double)i) * noise(run, i));
    }
}

static void set_up(void) {
    profile_count = 2 * RUNS;
    for (size_t run = 0; run < 2 * RUNS; run++)
        make_run(&profiles[run], run);
}

static void tear_down(void) {
    for (size_t run = 0; run < 2 * RUNS; run++)
        aggstats_profile_finish(&profiles[run]);
    verdict_finish(&result);
}

static void compare(void) {
    ck_assert_int_eq(verdict_compare(profiles, RUNS, profile_count, &options, &result), 0);
}

static const struct verdict_op *verdict_of(const char *name) {
    for (size_t i = 0; i < result.op_count; i++) {
        if (strcmp(result.ops[i].name, name) == 0)
            return &result.ops[i];
    }
    ck_abort_msg("no verdict of that name");
    return NULL;
}

static void assert_words(enum verdict_word expected, const char *except) {
    for (size_t i = 0; i < result.op_count; i++) {
        if (strcmp(result.ops[i].name, except) != 0)
            ck_assert_msg(result.ops[i].word == expected, "%s: %s", result.ops[i].name,
                          verdict_word_name(result.ops[i].word));
    }
}

static void slow_down(struct aggstats_op_profile *op, double factor) {
    const double mean = (double)op->total_cycles / (double)op->calls;
    uint64_t calls = op->calls;
    memset(op->buckets, 0, 64 * sizeof(*op->buckets));
    op->calls = 0;
    op->total_cycles = 0;
    add_calls(op, calls, mean * factor);
}

/* ---- Words ---- */

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(same_is_alike) {
    compare();
    assert_words(VERDICT_ALIKE, "");
    ck_assert(!verdict_is_so(&result, VERDICT_ON_CHANGE));
    ck_assert(!result.has_trend);
}

/* Sets the failed calls of an op in all runs of one side. spread: added in every second run */
static void let_fail(size_t first, const char *name, int error, uint64_t calls, uint64_t spread) {
    for (size_t run = first; run < first + RUNS; run++)
        op_of(&profiles[run], name)->failures[aggstats_failure_of_error(error)] = calls + run % 2 * spread;
}

TEST(failures_of_one_share_are_alike) {
    let_fail(0, "LOOKUP", ENOENT, 300, 20);
    let_fail(RUNS, "LOOKUP", ENOENT, 305, 20);
    compare();
    assert_words(VERDICT_ALIKE, "");
    ck_assert(verdict_of("LOOKUP")->failures.effect.is_known);
    ck_assert(!verdict_of("READ")->failures.effect.is_known);
    ck_assert(!verdict_is_so(&result, VERDICT_ON_CHANGE));
}

TEST(op_that_fails_in_b_only_fails_more) {
    let_fail(RUNS, "READ", EIO, 40, 5);
    let_fail(RUNS, "READ", ENOSPC, 10, 0);
    compare();
    const struct verdict_op *op = verdict_of("READ");
    ck_assert_int_eq(op->word, VERDICT_FAILS_MORE);
    ck_assert(op->failures.is_changed);
    ck_assert_double_eq(op->failures.a_share, 0);
    ck_assert_double_eq_tol(op->failures.b_share, (5 * 50 + 3 * 5) / 5.0 / CALLS, 1e-12);
    assert_words(VERDICT_ALIKE, "READ");
    ck_assert(verdict_is_so(&result, VERDICT_ON_CHANGE));
    ck_assert(!verdict_is_so(&result, VERDICT_ON_SLOWER));
}

TEST(op_that_fails_no_more_fails_less) {
    let_fail(0, "READ", EIO, 40, 5);
    compare();
    ck_assert_int_eq(verdict_of("READ")->word, VERDICT_FAILS_LESS);
}

TEST(few_failures_more_are_no_change) {
    let_fail(0, "READ", EIO, 1, 1);
    let_fail(RUNS, "READ", EIO, 2, 1);
    compare();
    assert_words(VERDICT_ALIKE, "");
}

TEST(share_that_matters_little_is_no_change) {
    let_fail(0, "READ", ENOENT, 950, 0);
    let_fail(RUNS, "READ", ENOENT, 999, 0); /* surely more, but a twentieth */
    compare();
    ck_assert(verdict_of("READ")->failures.effect.is_beyond);
    assert_words(VERDICT_ALIKE, "");
}

TEST(what_became_slower_says_so_and_shows_failures) {
    let_fail(RUNS, "WRITE", ENOSPC, 100, 10);
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        slow_down(op_of(&profiles[run], "WRITE"), 1.3);
    compare();
    ck_assert_int_eq(verdict_of("WRITE")->word, VERDICT_SLOWER);
    ck_assert(verdict_of("WRITE")->failures.is_changed);
}

TEST(one_op_slower_is_found_and_its_interval_holds_the_factor) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        slow_down(op_of(&profiles[run], "WRITE"), 1.3);
    compare();
    const struct verdict_op *op = verdict_of("WRITE");
    ck_assert_int_eq(op->word, VERDICT_SLOWER);
    ck_assert_ptr_eq(op, &result.ops[0]);
    ck_assert(op->is_changed[VERDICT_MEAN]);
    ck_assert_double_le(op->ratios[VERDICT_MEAN].low, 1.3);
    ck_assert_double_ge(op->ratios[VERDICT_MEAN].high, 1.3);
    ck_assert_double_lt(op->ratios[VERDICT_MEAN].high, 1.4);
    assert_words(VERDICT_ALIKE, "WRITE");
    ck_assert(verdict_is_so(&result, VERDICT_ON_SLOWER));
}

/* Runs that are slower or faster as a whole, and on one side other ops by a little each, mostly down: what is common to
 * all is not known to a percent then, and an interval that said so would miss the factor. */
TEST(interval_holds_the_factor_where_others_differ_too) {
    static const double drift[OPS] = {0.90, 0.93, 1, 0.91, 1.06, 0.94, 0.95, 0.97, 0.92};
    for (size_t run = 0; run < 2 * RUNS; run++) {
        for (size_t i = 0; i < OPS; i++) {
            struct aggstats_op_profile *op = &profiles[run].ops[i];
            const double factor = strcmp(op->name, "WRITE") == 0 ? 1.3 : drift[i];
            slow_down(op, (run >= RUNS ? factor : 1) * (1 + 0.1 * sin((double)run * 5)));
        }
    }
    compare();
    ck_assert(result.common.is_there);
    const struct verdict_ratio *mean = &verdict_of("WRITE")->ratios[VERDICT_MEAN];
    ck_assert_double_le(mean->low, 1.3);
    ck_assert_double_ge(mean->high, 1.3);
    ck_assert_double_lt(mean->high, 1.8);
    ck_assert_int_eq(verdict_of("WRITE")->word, VERDICT_SLOWER);
}

TEST(one_op_faster_is_no_slowdown) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        slow_down(op_of(&profiles[run], "OPEN"), 0.5);
    compare();
    ck_assert_int_eq(verdict_of("OPEN")->word, VERDICT_FASTER);
    assert_words(VERDICT_ALIKE, "OPEN");
    ck_assert(verdict_is_so(&result, VERDICT_ON_CHANGE));
    ck_assert(!verdict_is_so(&result, VERDICT_ON_SLOWER));
}

TEST(small_change_that_is_sure_is_none) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        op_of(&profiles[run], "READ")->total_cycles = op_of(&profiles[run - RUNS], "READ")->total_cycles / 100 * 104;
    compare();
    ck_assert_int_eq(verdict_of("READ")->word, VERDICT_ALIKE);
}

TEST(new_slow_mode_is_found_by_its_share) {
    for (size_t run = RUNS; run < 2 * RUNS; run++) {
        struct aggstats_op_profile *op = op_of(&profiles[run], "GETATTR");
        op->buckets[(unsigned)log2(12000)] -= CALLS / 100;
        op->calls -= CALLS / 100;
        add_calls(op, CALLS / 100, 12000 * 100);
    }
    compare();
    const struct verdict_op *op = verdict_of("GETATTR");
    ck_assert_int_eq(op->word, VERDICT_SOME_SLOWER);
    ck_assert(verdict_is_so(&result, VERDICT_ON_SLOWER));
    ck_assert(!op->is_changed[VERDICT_USUAL]);
    ck_assert_double_eq_tol(op->ratios[VERDICT_USUAL].ratio, 1, 0.08);
    ck_assert(op->tail.is_changed);
    ck_assert_double_eq_tol(op->tail.a_share, 0, 1e-9);
    ck_assert_double_eq_tol(op->tail.b_share, 0.01, 1e-3);
    ck_assert_double_eq_tol(op->tail.times, 100, 30);
    ck_assert_double_eq_tol(op->tail.cost, 1, 0.3);
    ck_assert_uint_eq(op->peak_count, 2);
    ck_assert(op->peaks[1].is_changed);
    ck_assert_double_eq_tol(op->peaks[1].a_share, 0, 1e-9);
    ck_assert_double_eq_tol(op->peaks[1].b_share, 0.01, 1e-3);
    ck_assert_double_gt(op->peaks[1].cost, 0.5);
    assert_words(VERDICT_ALIKE, "GETATTR");
}

/* Makes READ a peak that is spread over three octaves, with calls beside it, in two runs of each side, that take 10,000
 * times as long: no two runs are alike in these. factor: of B */
static void spread_read(double factor) {
    for (size_t run = 0; run < 2 * RUNS; run++) {
        struct aggstats_op_profile *op = op_of(&profiles[run], "READ");
        memset(op->buckets, 0, 64 * sizeof(*op->buckets));
        op->calls = 0;
        op->total_cycles = 0;
        for (int step = -8; step <= 8; step++)
            add_calls(op, CALLS, 3000 * exp2(step / 6.0) * noise(run, 0) * (run < RUNS ? 1 : factor));
        if (run % RUNS == 1 || run % RUNS == 4)
            add_calls(op, 1 + run % 3, 3e7);
    }
}

TEST(a_quarter_more_is_found_beside_rare_calls_that_take_long) {
    spread_read(1.25);
    compare();
    const struct verdict_op *op = verdict_of("READ");
    ck_assert_int_eq(op->word, VERDICT_SLOWER);
    ck_assert_int_eq(op->decided_by, VERDICT_USUAL);
    ck_assert_double_eq_tol(op->ratios[VERDICT_USUAL].ratio, 1.25, 0.12); /* of steps of a sixth of an octave */
    ck_assert(!op->is_changed[VERDICT_MEAN]);
    ck_assert(!op->tail.is_changed);
}

TEST(rare_calls_that_take_long_are_no_change) {
    spread_read(1);
    compare();
    const struct verdict_op *op = verdict_of("READ");
    ck_assert(!verdict_is_change(op->word));
    ck_assert_double_lt(op->ratios[VERDICT_USUAL].high, 1.1);
    ck_assert_double_gt(op->ratios[VERDICT_MEAN].high, 1.02);
}

/* A side's sum of a bucket, and both together, come near 2^64. */
TEST(peaks_are_found_whatever_the_counts) {
    for (size_t run = 0; run < 2 * RUNS; run++) {
        struct aggstats_op_profile *op = op_of(&profiles[run], "READ");
        memset(op->buckets, 0, 64 * sizeof(*op->buckets));
        op->buckets[10] = UINT64_C(5) << 59;
        op->buckets[20] = UINT64_C(1) << 58;
        op->calls = op->buckets[10] + op->buckets[20];
        op->total_cycles = UINT64_C(1) << 59;
    }
    compare();
    const struct verdict_op *op = verdict_of("READ");
    ck_assert_uint_eq(op->peak_count, 2);
    ck_assert_uint_eq(op->peaks[0].place.mode, 10);
    ck_assert_uint_eq(op->peaks[1].place.mode, 20);
    ck_assert_double_eq_tol(op->peaks[0].a_share, 10.0 / 11, 1e-12);
    ck_assert_double_eq_tol(op->peaks[1].b_share, 1.0 / 11, 1e-12);
    ck_assert(!op->peaks[0].is_changed && !op->peaks[1].is_changed);
}

TEST(more_calls_are_no_slower_ones) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        add_calls(op_of(&profiles[run], "LOOKUP"), CALLS, 24000);
    compare();
    const struct verdict_op *op = verdict_of("LOOKUP");
    ck_assert_int_eq(op->word, VERDICT_MORE_CALLS);
    ck_assert_int_eq(op->calls_word, VERDICT_MORE_CALLS);
    ck_assert(op->is_changed[VERDICT_CALLS]);
    ck_assert_double_eq_tol(op->ratios[VERDICT_CALLS].ratio, 2, 0.01);
    ck_assert(verdict_is_so(&result, VERDICT_ON_CHANGE) && verdict_is_so(&result, VERDICT_ON_CALLS));
    ck_assert(!verdict_is_so(&result, VERDICT_ON_SLOWER | VERDICT_ON_ELAPSED));
}

/* Five times as often, in three quarters of the time each: the total grows, and no call is slower. */
TEST(op_that_is_faster_and_called_more_often_is_both) {
    for (size_t run = RUNS; run < 2 * RUNS; run++) {
        struct aggstats_op_profile *op = op_of(&profiles[run], "READ");
        add_calls(op, 4 * CALLS, 3000 * noise(run, 0));
        slow_down(op, 0.74);
    }
    compare();
    const struct verdict_op *op = verdict_of("READ");
    ck_assert_int_eq(op->word, VERDICT_FASTER);
    ck_assert_int_eq(op->calls_word, VERDICT_MORE_CALLS);
    ck_assert_int_eq(op->decided_by, VERDICT_USUAL);
    ck_assert(!verdict_is_so(&result, VERDICT_ON_SLOWER));
}

/* ---- Failures that make a mean shorter ---- */

/* Calls of 1 us in all runs of B: LOOKUP takes 24 us. */
static void add_short_calls(uint64_t calls) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        add_calls(op_of(&profiles[run], "LOOKUP"), calls, 1000);
}

static const struct verdict_dilution *dilution(void) {
    compare();
    return &verdict_of("LOOKUP")->dilution;
}

TEST(failures_that_are_short_make_the_mean_shorter) {
    add_short_calls(1000);
    let_fail(RUNS, "LOOKUP", ENOENT, 990, 20);
    ck_assert(dilution()->is_there);
    ck_assert_double_eq_tol(dilution()->failed, 1002, 1e-9);
    ck_assert_double_eq_tol(dilution()->short_calls, 1000, 1e-9);
    ck_assert_double_eq_tol(dilution()->most_cycles, 1024, 1e-9);
    ck_assert_int_eq(verdict_of("LOOKUP")->word, VERDICT_FASTER);
    ck_assert_int_eq(verdict_of("LOOKUP")->calls_word, VERDICT_MORE_CALLS);
    ck_assert(!verdict_of("READ")->dilution.is_there);
}

/* Half of the calls fail now. */
TEST(failures_in_place_of_other_calls_do_so_too) {
    for (size_t run = RUNS; run < 2 * RUNS; run++) {
        struct aggstats_op_profile *op = op_of(&profiles[run], "LOOKUP");
        const double mean = (double)op->total_cycles / (double)op->calls;
        memset(op->buckets, 0, 64 * sizeof(*op->buckets));
        op->calls = op->total_cycles = 0;
        add_calls(op, CALLS / 2, mean);
        add_calls(op, CALLS / 2, 1000);
    }
    let_fail(RUNS, "LOOKUP", ENOENT, CALLS / 2, 0);
    ck_assert(dilution()->is_there);
    ck_assert_double_eq_tol(dilution()->short_calls, CALLS / 2, 1e-9);
}

TEST(other_calls_that_are_faster_make_the_mean_shorter_themselves) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        slow_down(op_of(&profiles[run], "LOOKUP"), 0.5);
    add_short_calls(1000);
    let_fail(RUNS, "LOOKUP", ENOENT, 1000, 0);
    ck_assert(!dilution()->is_there);
    ck_assert(verdict_of("LOOKUP")->failures.is_changed);
}

static const struct {
    uint64_t short_calls;
    uint64_t failures;
} other_failures[] = {{1000, 0}, {1000, 500}, {500, 1000}, {0, 500}};

TEST(short_calls_that_are_not_as_many_as_failures_prove_nothing, .to = ARRAY_SIZE(other_failures)) {
    add_short_calls(other_failures[_i].short_calls);
    let_fail(RUNS, "LOOKUP", ENOENT, other_failures[_i].failures, 0);
    ck_assert(!dilution()->is_there);
}

TEST(failures_that_take_long_make_no_mean_shorter) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        add_calls(op_of(&profiles[run], "LOOKUP"), 1000, 24000 * noise(run, 3));
    let_fail(RUNS, "LOOKUP", ENOENT, 1000, 0);
    ck_assert(!dilution()->is_there);
}

TEST(failures_that_are_gone_make_no_mean_shorter) {
    add_short_calls(1000);
    let_fail(0, "LOOKUP", ENOENT, 900, 0);
    ck_assert(!dilution()->is_there);
}

/* ---- Calls ---- */

TEST(fewer_calls_do_not_answer_whether_there_are_more) {
    for (size_t run = 0; run < RUNS; run++)
        add_calls(op_of(&profiles[run], "LOOKUP"), CALLS, 24000);
    compare();
    ck_assert_int_eq(verdict_of("LOOKUP")->word, VERDICT_FEWER_CALLS);
    ck_assert(verdict_is_so(&result, VERDICT_ON_CHANGE));
    ck_assert(!verdict_is_so(&result, VERDICT_ON_CALLS | VERDICT_ON_SLOWER | VERDICT_ON_TOTAL));
}

/* Sets the elapsed times of B's runs to this part of A's. */
static void let_take(double factor) {
    for (size_t run = 0; run < 2 * RUNS; run++) {
        profiles[run].has_elapsed = true;
        profiles[run].elapsed_cycles = (uint64_t)(1e9 * noise(run, 3) * (run < RUNS ? 1 : factor));
    }
}

TEST(time_has_a_verdict_of_its_own) {
    let_take(1.5);
    compare();
    ck_assert_int_eq(result.elapsed.word, VERDICT_MORE_TIME);
    ck_assert_double_eq_tol(result.elapsed.ratio.ratio, 1.5, 0.05);
    ck_assert_int_eq(result.total.word, VERDICT_ALIKE);
    ck_assert(verdict_is_so(&result, VERDICT_ON_ELAPSED));
    ck_assert(!verdict_is_so(&result, VERDICT_ON_CHANGE | VERDICT_ON_TOTAL));
    verdict_finish(&result);
    let_take(0.5);
    compare();
    ck_assert_int_eq(result.elapsed.word, VERDICT_LESS_TIME);
    ck_assert(!verdict_is_so(&result, VERDICT_ON_ELAPSED));
    verdict_finish(&result);
    profiles[0].has_elapsed = false;
    compare();
    ck_assert(!result.elapsed.is_there);
}

TEST(total_grows_with_slower_or_more_calls) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        slow_down(op_of(&profiles[run], "RENAME"), 1.8); /* half of all latency */
    compare();
    ck_assert_int_eq(result.total.word, VERDICT_MORE_TIME);
    ck_assert_double_eq_tol(result.total.ratio.ratio, 1.4, 0.05);
    ck_assert(verdict_is_so(&result, VERDICT_ON_TOTAL));
}

/* ---- All together ---- */

TEST(busy_runs_do_not_hide_an_op_that_changed) {
    static const double busy[2 * RUNS] = {1, 1.8, 1.1, 1.5, 1.2, 1.6, 1, 1.3, 1.9, 1.1};
    for (size_t run = 0; run < 2 * RUNS; run++) {
        for (size_t i = 0; i < OPS; i++)
            slow_down(&profiles[run].ops[i], busy[run]);
        if (run >= RUNS)
            slow_down(op_of(&profiles[run], "FSYNC"), 1.3);
    }
    compare();
    ck_assert(result.common.is_there);
    ck_assert_int_eq(result.common.word, VERDICT_UNDECIDED);
    ck_assert_double_gt(result.common_spread, 1.2);
    const struct verdict_op *op = verdict_of("FSYNC");
    ck_assert_int_eq(op->word, VERDICT_SLOWER_THAN_REST); /* runs alone differ by more */
    ck_assert_double_lt(op->ratios[VERDICT_MEAN].low, 1);
    ck_assert_double_eq_tol(op->ratios[VERDICT_MEAN].ratio, op->ratios[VERDICT_MEAN].b / op->ratios[VERDICT_MEAN].a,
                            1e-9);
    ck_assert_double_eq_tol(op->own[VERDICT_MEAN].ratio, 1.3, 0.04);
    ck_assert_double_gt(op->own[VERDICT_MEAN].low, 1.2);
    assert_words(VERDICT_AS_REST, "FSYNC");
    ck_assert(verdict_is_so(&result, VERDICT_ON_SLOWER)); /* its mean has grown, too */
}

TEST(everything_slower_is_told_once) {
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        for (size_t i = 0; i < OPS; i++)
            slow_down(&profiles[run].ops[i], 1.4);
    for (size_t run = 0; run < 2 * RUNS; run++) /* the machine is not always the same */
        for (size_t i = 0; i < OPS; i++)
            slow_down(&profiles[run].ops[i], run % 2 ? 1.04 : 0.96);
    compare();
    ck_assert_int_eq(result.common.word, VERDICT_SLOWER);
    ck_assert_double_le(result.common.ratio.low, 1.4);
    ck_assert_double_ge(result.common.ratio.high, 1.4);
    assert_words(VERDICT_AS_REST, "");
    ck_assert(verdict_is_so(&result, VERDICT_ON_SLOWER));
}

/* All ops but one take 2.3 times as long. The remaining op takes 1.12 times as long, and is not called faster. */
TEST(op_that_grew_less_than_the_rest_is_not_faster) {
    for (size_t run = 0; run < 2 * RUNS; run++)
        for (size_t i = 0; i < OPS; i++) {
            const bool is_read = strcmp(profiles[run].ops[i].name, "READ") == 0;
            const double factor = run < RUNS ? 1 : is_read ? 1.12 : 2.3;
            slow_down(&profiles[run].ops[i], factor * (run % 2 ? 1.04 : 0.96));
        }
    compare();
    const struct verdict_op *op = verdict_of("READ");
    ck_assert_int_eq(result.common.word, VERDICT_SLOWER);
    ck_assert_int_eq(op->word, VERDICT_FASTER_THAN_REST);
    ck_assert_double_eq_tol(op->ratios[VERDICT_MEAN].ratio, 1.12, 0.03);
    ck_assert_double_eq_tol(op->own[VERDICT_MEAN].ratio, 1.12 / 2.3, 0.03);
    assert_words(VERDICT_AS_REST, "READ");
}

/* ... and an unchanged op is no slowdown when all other ops become faster. */
TEST(op_that_stays_while_others_get_faster_is_no_slowdown) {
    for (size_t run = 0; run < 2 * RUNS; run++)
        for (size_t i = 0; i < OPS; i++) {
            const bool is_read = strcmp(profiles[run].ops[i].name, "READ") == 0;
            slow_down(&profiles[run].ops[i], (run < RUNS ? 1 : is_read ? 0.98 : 0.4) * (run % 2 ? 1.04 : 0.96));
        }
    compare();
    ck_assert_int_eq(result.common.word, VERDICT_FASTER);
    ck_assert_int_eq(verdict_of("READ")->word, VERDICT_SLOWER_THAN_REST);
    ck_assert(verdict_is_so(&result, VERDICT_ON_CHANGE));
    ck_assert(!verdict_is_so(&result, VERDICT_ON_SLOWER));
}

/* All ops change, each by another factor: that is the workload, and no busier machine. */
TEST(ops_that_change_by_different_factors_have_nothing_in_common) {
    static const double factors[OPS] = {24, 2, 7, 1.5, 12, 3, 5, 30, 1.2};
    for (size_t run = 0; run < 2 * RUNS; run++)
        for (size_t i = 0; i < OPS; i++)
            slow_down(&profiles[run].ops[i], (run < RUNS ? 1 : factors[i]) * (run % 2 ? 1.04 : 0.96));
    compare();
    ck_assert(!result.common.is_there);
    const struct verdict_op *op = verdict_of(names[0]);
    ck_assert_int_eq(op->word, VERDICT_SLOWER);
    ck_assert_double_eq_tol(op->own[VERDICT_MEAN].ratio, 24, 0.5);
    assert_words(VERDICT_SLOWER, "");
}

static void remove_op(struct aggstats_profile *profile, const char *name);

/* Of seven ops nothing is reported that they have in common, of eight it is. */
TEST(few_ops_have_nothing_in_common) {
    for (size_t kept = 8; kept >= 7; kept--) {
        for (size_t run = 0; run < 2 * RUNS; run++) {
            for (size_t i = 0; i < profiles[run].op_count; i++)
                slow_down(&profiles[run].ops[i], kept < 8 ? 1 : (run < RUNS ? 1 : 1.4) * (run % 2 ? 1.04 : 0.96));
            remove_op(&profiles[run], profiles[run].ops[kept].name);
        }
        compare();
        ck_assert(result.common.is_there == (kept == 8));
        assert_words(kept == 8 ? VERDICT_AS_REST : VERDICT_SLOWER, "");
        verdict_finish(&result);
    }
}

TEST(trend_over_time_is_told) {
    for (size_t run = 0; run < 2 * RUNS; run++) {
        size_t place = run < RUNS ? 2 * run : 2 * (run - RUNS) + 1; /* alternately */
        profiles[run].start_ns = (int64_t)place;
        for (size_t i = 0; i < OPS; i++)
            slow_down(&profiles[run].ops[i], pow(1.05, (double)place));
    }
    compare();
    ck_assert(result.has_trend);
    ck_assert_double_eq_tol(result.trend, 1.05, 0.02);
}

/* ---- Little to go by ---- */

static void remove_op(struct aggstats_profile *profile, const char *name) {
    struct aggstats_op_profile *op = op_of(profile, name);
    free(op->buckets);
    *op = profile->ops[--profile->op_count];
}

TEST(op_of_one_side_is_told_so) {
    for (size_t run = 0; run < RUNS; run++)
        remove_op(&profiles[run], "FSYNC");
    compare();
    ck_assert_int_eq(verdict_of("FSYNC")->word, VERDICT_ONLY_B);
    ck_assert_ptr_null(verdict_of("FSYNC")->a_sum);
    ck_assert(verdict_is_so(&result, VERDICT_ON_CHANGE));
}

TEST(few_calls_are_not_judged) {
    for (size_t run = 0; run < 2 * RUNS; run++) {
        struct aggstats_op_profile *op = op_of(&profiles[run], "FSYNC");
        memset(op->buckets, 0, 64 * sizeof(*op->buckets));
        op->calls = 0;
        op->total_cycles = 0;
        add_calls(op, 3, run < RUNS ? 1000 : 100000);
    }
    compare();
    ck_assert_int_eq(verdict_of("FSYNC")->word, VERDICT_FEW);
}

/* Gives FSYNC these calls in each run, of A first. */
static void let_sync(const uint64_t *counts) {
    for (size_t run = 0; run < profile_count; run++) {
        struct aggstats_op_profile *op = op_of(&profiles[run], "FSYNC");
        memset(op->buckets, 0, 64 * sizeof(*op->buckets));
        op->calls = 0;
        op->total_cycles = 0;
        add_calls(op, counts[run], 1000);
    }
}

/* Few calls, side_count runs on each side. The word is that of FSYNC. */
static const struct {
    size_t side_count;
    uint64_t counts[2 * RUNS];
    double at_least;
    enum verdict_word word;
    enum verdict_word calls_word;
    size_t more_runs;
} rare[] = {
    {5, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 0.1, VERDICT_ONLY_B, VERDICT_FEW, 0},
    {5, {1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, 0.1, VERDICT_ONLY_A, VERDICT_FEW, 0},
    {5, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 9, VERDICT_ONLY_B, VERDICT_FEW, 0}, /* no part of 0 */
    {3, {3, 3, 3, 4, 4, 4}, 0.1, VERDICT_MORE_CALLS, VERDICT_MORE_CALLS, 0},
    {3, {4, 4, 4, 3, 3, 3}, 0.1, VERDICT_FEWER_CALLS, VERDICT_FEWER_CALLS, 0},
    {3, {3, 3, 3, 4, 4, 4}, 0.4, VERDICT_FEW, VERDICT_FEW, 0},
    {3, {3, 3, 3, 400, 400, 400}, 0.1, VERDICT_MORE_CALLS, VERDICT_MORE_CALLS, 0},
    {2, {3, 3, 4, 4}, 0.1, VERDICT_UNDECIDED, VERDICT_UNDECIDED, 1},
    {2, {0, 0, 1, 1}, 0.1, VERDICT_UNDECIDED, VERDICT_UNDECIDED, 1},
    {5, {3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 0.1, VERDICT_FEW, VERDICT_FEW, 0},
    {5, {3, 3, 3, 3, 3, 4, 4, 4, 4, 5}, 0.1, VERDICT_FEW, VERDICT_FEW, 0},
    {5, {3, 3, 4, 3, 3, 4, 4, 4, 4, 4}, 0.1, VERDICT_FEW, VERDICT_FEW, 0},
    {5, {0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, 0.1, VERDICT_FEW, VERDICT_FEW, 0},
};

TEST(numbers_of_few_calls_are_judged_if_they_are_exact, .to = ARRAY_SIZE(rare)) {
    const struct verdict_options of_case = {.at_least = rare[_i].at_least, .alpha = VERDICT_ALPHA};
    profile_count = 2 * rare[_i].side_count;
    let_sync(rare[_i].counts);
    ck_assert_int_eq(verdict_compare(profiles, rare[_i].side_count, profile_count, &of_case, &result), 0);
    const struct verdict_op *op = verdict_of("FSYNC");
    const bool is_change = verdict_is_change(rare[_i].word);
    ck_assert_msg(op->word == rare[_i].word, "case %d: %s", _i, verdict_word_name(op->word));
    ck_assert_int_eq(op->calls_word, rare[_i].calls_word);
    ck_assert(op->is_changed[VERDICT_CALLS] == is_change);
    ck_assert_uint_eq(op->more_runs, rare[_i].more_runs);
    ck_assert(verdict_is_so(&result, VERDICT_ON_CHANGE) == is_change);
    ck_assert(verdict_is_so(&result, VERDICT_ON_CALLS) ==
              (rare[_i].word == VERDICT_MORE_CALLS || rare[_i].word == VERDICT_ONLY_B));
    ck_assert(!verdict_is_so(&result, VERDICT_ON_SLOWER | VERDICT_ON_TOTAL));
}

/* With three runs a side, one other op that draws one of two numbers is enough for doubt; with five it is not. */
TEST(numbers_that_others_draw_cast_doubt_on_exact_ones) {
    for (size_t side_count = 3; side_count <= RUNS; side_count += 2) {
        const uint64_t three[] = {3, 3, 3, 4, 4, 4};
        const uint64_t five[] = {3, 3, 3, 3, 3, 4, 4, 4, 4, 4};
        profile_count = 2 * side_count;
        let_sync(side_count == 3 ? three : five);
        for (size_t run = 0; run < profile_count; run++) {
            struct aggstats_op_profile *op = op_of(&profiles[run], "MKDIR");
            memset(op->buckets, 0, 64 * sizeof(*op->buckets));
            op->calls = 0;
            add_calls(op, 1 + run % 2, 1000);
        }
        ck_assert_int_eq(verdict_compare(profiles, side_count, profile_count, &options, &result), 0);
        ck_assert_int_eq(verdict_of("FSYNC")->word, side_count == 3 ? VERDICT_UNDECIDED : VERDICT_MORE_CALLS);
        ck_assert_double_eq_tol(verdict_of("FSYNC")->own[VERDICT_CALLS].effect.p,
                                side_count == 3 ? 2 / 30.0 : 2 / 510.0, 1e-12);
        ck_assert_int_eq(verdict_of("MKDIR")->word, VERDICT_FEW);
        verdict_finish(&result);
    }
}

TEST(a_single_run_of_a_side_proves_no_number) {
    const uint64_t counts[] = {3, 3, 3, 3, 3, 4};
    profile_count = RUNS + 1;
    let_sync(counts);
    compare();
    ck_assert_int_eq(verdict_of("FSYNC")->word, VERDICT_UNDECIDED);
    ck_assert_uint_eq(verdict_of("FSYNC")->more_runs, 2);
}

/* ---- What matters ---- */

/* 1.18 times as long, known to some percent: more than 5 %, not surely more than 18 %, and no more than 40 %. */
TEST(change_is_surely_larger_than_what_matters) {
    static const struct {
        double at_least;
        enum verdict_word word;
    } cases[] = {{0.05, VERDICT_SLOWER}, {0.18, VERDICT_UNDECIDED}, {0.40, VERDICT_ALIKE}};
    for (size_t run = RUNS; run < 2 * RUNS; run++)
        slow_down(op_of(&profiles[run], "WRITE"), 1.18);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct verdict_options of_case = {.at_least = cases[i].at_least, .alpha = VERDICT_ALPHA};
        ck_assert_int_eq(verdict_compare(profiles, RUNS, profile_count, &of_case, &result), 0);
        const struct verdict_op *op = verdict_of("WRITE");
        ck_assert_msg(op->word == cases[i].word, "%g: %s", cases[i].at_least, verdict_word_name(op->word));
        ck_assert(op->own[VERDICT_USUAL].effect.is_beyond);
        ck_assert(verdict_is_so(&result, VERDICT_ON_SLOWER) == (cases[i].word == VERDICT_SLOWER));
        verdict_finish(&result);
    }
}

/* The same of elapsed times, of calls, of failures and of slow calls: each lies between the two bounds. */
TEST(all_kinds_of_changes_are_held_against_what_matters) {
    static const double bounds[] = {0.05, 0.5, 3};
    for (size_t run = 0; run < 2 * RUNS; run++) {
        struct aggstats_op_profile *calls = op_of(&profiles[run], "LOOKUP");
        add_calls(calls, 50 * (run % 3) + (run < RUNS ? 0 : CALLS / 2), 24000);
        struct aggstats_op_profile *tail = op_of(&profiles[run], "GETATTR");
        add_calls(tail, run < RUNS ? 0 : 3 + 2 * (run % 3), 12000 * 100); /* makes the mean 1.5 times as long */
        op_of(&profiles[run], "READ")->failures[aggstats_failure_of_error(EIO)] =
            (run < RUNS ? 200 : 300) + 20 * (run % 3);
        profiles[run].has_elapsed = true;
        profiles[run].elapsed_cycles = (uint64_t)(1e9 * (1 + 0.1 * (double)(run % 3)) * (run < RUNS ? 1 : 1.5));
    }
    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
        const bool is_found = i == 0;
        const struct verdict_options of_case = {.at_least = bounds[i], .alpha = VERDICT_ALPHA};
        ck_assert_int_eq(verdict_compare(profiles, RUNS, profile_count, &of_case, &result), 0);
        ck_assert(verdict_of("LOOKUP")->is_changed[VERDICT_CALLS] == is_found);
        ck_assert(verdict_of("GETATTR")->tail.effect.is_beyond);
        ck_assert(verdict_of("GETATTR")->tail.is_changed == is_found);
        ck_assert(verdict_of("READ")->failures.is_changed == is_found);
        ck_assert(verdict_is_so(&result, VERDICT_ON_ELAPSED) == is_found);
        ck_assert_int_eq(result.elapsed.word, is_found ? VERDICT_MORE_TIME
                                              : i == 1 ? VERDICT_UNDECIDED
                                                       : VERDICT_ALIKE);
        verdict_finish(&result);
    }
}

/* ---- Latencies of 0 ---- */

static void let_take_nothing(size_t first, const char *name) {
    for (size_t run = first; run < first + RUNS; run++) {
        struct aggstats_op_profile *op = op_of(&profiles[run], name);
        memset(op->buckets, 0, 64 * sizeof(*op->buckets));
        op->buckets[0] = op->calls;
        op->total_cycles = 0;
    }
}

TEST(latency_of_zero_is_less_than_any_other_and_has_no_ratio) {
    let_take_nothing(0, "READ");
    let_take_nothing(RUNS, "WRITE");
    compare();
    const struct verdict_op *read = verdict_of("READ");
    ck_assert_int_eq(read->word, VERDICT_SLOWER);
    ck_assert(verdict_is_so(&result, VERDICT_ON_SLOWER));
    ck_assert_double_eq(read->ratios[VERDICT_MEAN].a, 0);
    ck_assert_double_eq_tol(read->ratios[VERDICT_MEAN].b, 3000, 100);
    ck_assert(!verdict_has_ratio(&read->ratios[VERDICT_MEAN]) && !verdict_has_ratio(&read->own[VERDICT_USUAL]));
    ck_assert(verdict_has_ratio(&read->ratios[VERDICT_CALLS]));
    ck_assert(!read->tail.effect.is_known);
    ck_assert_uint_eq(read->peak_count, 0);
    ck_assert_int_eq(verdict_of("WRITE")->word, VERDICT_FASTER);
    verdict_finish(&result);
    let_take_nothing(RUNS, "READ");
    compare();
    ck_assert_int_eq(verdict_of("READ")->word, VERDICT_ALIKE);
}

TEST(total_of_zero_is_less_than_any_other) {
    for (size_t i = 0; i < OPS; i++)
        let_take_nothing(0, names[i]);
    compare();
    ck_assert_int_eq(result.total.word, VERDICT_MORE_TIME);
    ck_assert(!verdict_has_ratio(&result.total.ratio));
    ck_assert(!result.common.is_there);
}

TEST(noise_is_not_decided_and_says_how_many_runs_would_do) {
    static const double wild[2 * RUNS] = {1, 1.9, 1.2, 1.6, 0.8, 1.1, 1.9, 0.9, 1.6, 1.2};
    for (size_t run = 0; run < 2 * RUNS; run++)
        slow_down(op_of(&profiles[run], "WRITE"), wild[run]);
    compare();
    ck_assert_int_eq(verdict_of("WRITE")->word, VERDICT_UNDECIDED);
    ck_assert_double_lt(verdict_of("WRITE")->ratios[VERDICT_MEAN].low, 1);
    ck_assert_double_gt(verdict_of("WRITE")->ratios[VERDICT_MEAN].high, 1);
    ck_assert_uint_gt(verdict_of("WRITE")->more_runs, 10);
}

TEST(one_run_on_a_side_is_enough_to_ask) {
    profile_count = RUNS + 1;
    slow_down(op_of(&profiles[RUNS], "READ"), 3);
    compare();
    ck_assert_uint_eq(result.b_count, 1);
    ck_assert_int_eq(verdict_of("READ")->word, VERDICT_SLOWER);
}

TEST(ratios_stay_finite_where_nothing_is_known) {
    for (size_t run = 0; run < 3; run++)
        slow_down(op_of(&profiles[run], "READ"), run == 1 ? 1e12 : 1);
    ck_assert_int_eq(verdict_compare(profiles, 2, 3, &options, &result), 0);
    const struct verdict_ratio *mean = &verdict_of("READ")->ratios[VERDICT_MEAN];
    ck_assert_double_finite(mean->high);
    ck_assert_double_gt(mean->high, 1e20);
    ck_assert_double_gt(mean->low, 0);
}

TEST(rates_and_resolutions_are_brought_together) {
    ck_assert_int_eq(aggstats_profile_rescale(&profiles[0], 2000000000), 0);
    compare();
    ck_assert(result.rescaled);
    assert_words(VERDICT_ALIKE, "");
    verdict_finish(&result);
    profiles[1].clock.frequency_hz = 0;
    ck_assert_int_eq(verdict_compare(profiles, RUNS, profile_count, &options, &result), -EDOM);
}

TEST(what_does_not_fit_says_why) {
    const uint64_t total_cycles = profiles[0].ops[0].total_cycles;
    profiles[0].ops[0].total_cycles = UINT64_MAX;
    ck_assert_int_eq(verdict_compare(profiles, RUNS, profile_count, &options, &result), -EOVERFLOW);
    profiles[1].clock.frequency_hz *= 2;
    ck_assert_int_eq(verdict_compare(profiles, RUNS, profile_count, &options, &result), -ERANGE);
    profiles[0].ops[0].total_cycles = total_cycles;
    compare();
}

TEST(profiles_without_calls_are_alike) {
    for (size_t run = 0; run < 2 * RUNS; run++)
        while (profiles[run].op_count > 0)
            remove_op(&profiles[run], profiles[run].ops[0].name);
    compare();
    ck_assert_uint_eq(result.op_count, 0);
    ck_assert(!verdict_is_so(&result, VERDICT_ON_CHANGE));
}
