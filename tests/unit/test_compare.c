/* Comparisons of complete profiles: every verdict, clock rates, resolutions, time. */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "compare.h"
#include "testing.h"

#define RATE "# clock: tsc 1000000000 Hz\n"

static struct aggstats_profile a;
static struct aggstats_profile b;
static struct compare_result result;
static struct compare_options options;

static void set_up(void) {
    options = compare_defaults(DISTANCE_METHOD_DEFAULT);
}

static void tear_down(void) {
    compare_finish(&result);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
}

static void parse(const char *text, struct aggstats_profile *profile) {
    struct aggstats_parse_error why = {0};
    char header[] = "# osprof 1\n";
    CLEANUP_FREE char *whole = NULL;
    ck_assert_int_gt(asprintf(&whole, "%s%s", header, text), 0);
    CLEANUP_STREAM FILE *stream = fmemopen(whole, strlen(whole), "r");
    int error = aggstats_profile_parse(stream, profile, &why);
    ck_assert_msg(error == 0, "line %zu: %s", why.line, why.message);
}

static void compare(const char *a_text, const char *b_text) {
    parse(a_text, &a);
    parse(b_text, &b);
    ck_assert_int_eq(compare_profiles(&a, &b, &options, &result), 0);
}

static const struct compare_op *op(const char *name) {
    for (size_t i = 0; i < result.op_count; i++)
        if (strcmp(result.ops[i].name, name) == 0)
            return &result.ops[i];
    ck_abort_msg("no op %s", name);
}

/* ---- Verdicts ----------------------------------------------------------------------------------- */

/* Beside an op of 90,000 cycles in both, an op that makes the verdict. */
static const struct {
    const char *a;
    const char *b;
    enum compare_verdict verdict;
} pairs[] = {
    /* less than a hundredth of the latency on both sides, whatever it does */
    {"OP_X 100 400\n 0 0 100\n", "OP_X 100 800\n 0 0 0 100\n", COMPARE_CHEAP},
    /* a fiftieth, but only 3 calls */
    {"OP_X 3 2000\n 0 0 0 0 0 0 0 0 0 3\n", "OP_X 2 2500\n 0 0 0 0 0 0 0 0 0 0 2\n", COMPARE_RARE},
    /* few calls, but a third of all latency */
    {"OP_X 3 2000\n 0 0 0 0 0 0 0 0 0 3\n", "OP_X 1 50000\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1\n", COMPARE_SCORE},
    /* a slow mode of 2 % of the calls, which takes most of the time; of 1 %, which may be noise */
    {"OP_X 1000 50000\n 0 0 0 0 0 1000\n", "OP_X 1000 110000\n 0 0 0 0 0 980 0 0 0 0 0 20\n", COMPARE_PEAKS},
    {"OP_X 1000 50000\n 0 0 0 0 0 1000\n", "OP_X 1000 80000\n 0 0 0 0 0 990 0 0 0 0 0 10\n", COMPARE_ALIKE},
    /* 4 % */
    {"OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "OP_X 100 52000\n 0 0 0 0 0 0 0 0 95 5\n", COMPARE_SIMILAR},
    /* 20 % slower, but nearly all calls in their buckets */
    {"OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "OP_X 100 60000\n 0 0 0 0 0 0 0 0 80 20\n", COMPARE_ALIKE},
    /* twice as slow, as noise may make it; nearly four times as slow */
    {"OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "OP_X 100 100000\n 0 0 0 0 0 0 0 0 0 100\n", COMPARE_ALIKE},
    {"OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "OP_X 100 180000\n 0 0 0 0 0 0 0 0 0 0 100\n", COMPARE_SCORE},
    /* three times as many; five times as many */
    {"OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "OP_X 300 150000\n 0 0 0 0 0 0 0 0 300\n", COMPARE_ALIKE},
    {"OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "OP_X 500 250000\n 0 0 0 0 0 0 0 0 500\n", COMPARE_TOTALS},
    /* eight calls of 1,000 that take most of the latency: a new peak, but not much earth; the same, but less latency */
    {"OP_X 1000 96000\n 0 0 0 0 0 0 1000\n", "OP_X 1000 490000\n 0 0 0 0 0 0 992 0 0 0 0 0 0 0 0 8\n", COMPARE_PEAKS},
    {"OP_X 1000 96000\n 0 0 0 0 0 0 1000\n", "OP_X 1000 190000\n 0 0 0 0 0 0 992 0 0 0 0 0 0 8\n", COMPARE_ALIKE},
    /* four such calls of 250,000 cycles each: eleven times the latency */
    {"OP_X 1000 96000\n 0 0 0 0 0 0 1000\n", "OP_X 1000 1100000\n 0 0 0 0 0 0 996 0 0 0 0 0 0 0 0 0 0 4\n",
     COMPARE_TOTALS},
    /* a peak of 7 % of the calls that moves by two octaves; by one and a half; one of 1 % */
    {"OP_X 1000 60000\n 0 0 0 0 0 930 0 0 0 0 70\n", "OP_X 1000 90000\n 0 0 0 0 0 930 0 0 0 0 0 0 70\n", COMPARE_PEAKS},
    {"OP_X 1000 60000\n 0 0 0 0 0 930 0 0 0 0 70\n", "OP_X 1000 80000\n 0 0 0 0 0 930 0 0 0 0 0 35 35\n",
     COMPARE_ALIKE},
    {"OP_X 1000 60000\n 0 0 0 0 0 990 0 0 0 0 10\n", "OP_X 1000 90000\n 0 0 0 0 0 990 0 0 0 0 0 0 10\n", COMPARE_ALIKE},
    /* the fast path is another, which totals do not show; by its peak, and by how far its calls have moved */
    {"OP_X 1000 60000\n 0 0 0 70 0 0 0 0 930\n", "OP_X 1000 60100\n 0 0 0 0 0 70 0 0 930\n", COMPARE_PEAKS},
    {"OP_X 1000 60000\n 0 0 200 0 0 0 0 800\n", "OP_X 1000 62000\n 0 0 0 0 0 0 200 800\n", COMPARE_SCORE},
    {"OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "", COMPARE_ONE_SIDED},
    {"", "OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", COMPARE_ONE_SIDED},
    /* in flight on one side, finished on the other */
    {"OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "OP_X 100 0\n 0\n", COMPARE_ONE_SIDED},
    {"OP_X 100 0\n 0\n", "OP_X 50 0\n 0\n", COMPARE_CHEAP},
};

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(an_op_gets_its_verdict, .to = ARRAY_SIZE(pairs)) {
    static const char rest[] = RATE "OP_REST 100 90000\n 0 0 0 0 0 0 0 0 0 100\n";
    CLEANUP_FREE char *a_text = NULL;
    CLEANUP_FREE char *b_text = NULL;
    ck_assert_int_gt(asprintf(&a_text, "%s%s", rest, pairs[_i].a), 0);
    ck_assert_int_gt(asprintf(&b_text, "%s%s", rest, pairs[_i].b), 0);
    compare(a_text, b_text);
    ck_assert_int_eq(op("REST")->verdict, COMPARE_SIMILAR);
    ck_assert_int_eq(op("X")->verdict, pairs[_i].verdict);
    ck_assert_uint_eq(result.different_count, compare_is_different(pairs[_i].verdict));
    ck_assert_uint_eq(result.op_count, 2);
}

/* Of the pairs: REST is the same, and X in the list by its verdict, or noise. */
TEST(an_op_is_in_a_list, .to = ARRAY_SIZE(pairs)) {
    static const char rest[] = RATE "OP_REST 100 90000\n 0 0 0 0 0 0 0 0 0 100\n";
    CLEANUP_FREE char *a_text = NULL;
    CLEANUP_FREE char *b_text = NULL;
    ck_assert_int_gt(asprintf(&a_text, "%s%s", rest, pairs[_i].a), 0);
    ck_assert_int_gt(asprintf(&b_text, "%s%s", rest, pairs[_i].b), 0);
    compare(a_text, b_text);
    const enum compare_verdict verdict = pairs[_i].verdict;
    enum compare_list list = verdict == COMPARE_SIMILAR ? COMPARE_SAME : COMPARE_MAYBE_NOISE;
    if (compare_is_different(verdict))
        list = COMPARE_CHANGED;
    ck_assert_int_eq(op("REST")->list, COMPARE_SAME);
    ck_assert_int_eq(op("X")->list, list);
    ck_assert_uint_eq(result.list_counts[op("X")->list], op("X")->list == COMPARE_SAME ? 2 : 1);
    ck_assert(!result.is_identical);
}

/* A part of less than 1 % that takes 20 times as long is changed, but makes no difference. */
TEST(cheap_op_that_changed_much_makes_no_difference) {
    static const char rest[] = RATE "OP_REST 100 9000000\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100\n";
    CLEANUP_FREE char *a_text = NULL;
    CLEANUP_FREE char *b_text = NULL;
    ck_assert_int_gt(asprintf(&a_text, "%sOP_X 100 400\n 0 0 100\n", rest), 0);
    ck_assert_int_gt(asprintf(&b_text, "%sOP_X 100 8000\n 0 0 0 0 0 0 100\n", rest), 0);
    compare(a_text, b_text);
    ck_assert_int_eq(op("X")->verdict, COMPARE_CHEAP);
    ck_assert_int_eq(op("X")->list, COMPARE_CHANGED);
    ck_assert_double_eq_tol(op("X")->mean_ratio, 20, 1e-9);
    ck_assert_double_eq(op("X")->calls_ratio, 1);
    ck_assert_uint_eq(result.different_count, 0);
    ck_assert_ptr_eq(op("X"), &result.ops[0]);
    tear_down();
    compare(a_text, a_text);
    ck_assert(result.is_identical);
}

TEST(thresholds_are_the_caller_s) {
    const char *const a_text = RATE "OP_X 1000 96000\n 0 0 0 0 0 0 1000\n";
    const char *const b_text = RATE "OP_X 1000 115000\n 0 0 0 0 0 0 985 0 0 0 15\n";
    options.score_only = true;
    compare(a_text, b_text);
    ck_assert_int_eq(op("X")->verdict, COMPARE_ALIKE);
    tear_down();
    options.threshold = 0;
    compare(a_text, b_text);
    ck_assert_int_eq(op("X")->verdict, COMPARE_SCORE);
    tear_down();
    options.similar_percent = 20;
    compare(a_text, b_text);
    ck_assert_int_eq(op("X")->verdict, COMPARE_SIMILAR);
    tear_down();
    options.calls = 1001;
    options.share_percent = 100.5;
    compare(a_text, b_text);
    ck_assert_int_eq(op("X")->verdict, COMPARE_CHEAP);
}

TEST(peaks_matter_by_their_weight) {
    options.peak_percent = 10;
    compare(RATE "OP_X 1000 96000\n 0 0 0 0 0 0 1000\n", RATE "OP_X 1000 115000\n 0 0 0 0 0 0 985 0 0 0 15\n");
    ck_assert_uint_eq(op("X")->peak_count, 2);
    ck_assert(!compare_peak_matters(&result, op("X"), &op("X")->peaks[0]));
    ck_assert_int_eq(op("X")->peaks[1].change, PEAK_APPEARED);
    ck_assert(compare_peak_matters(&result, op("X"), &op("X")->peaks[1]));
    result.options.peak_percent = 30;
    ck_assert(!compare_peak_matters(&result, op("X"), &op("X")->peaks[1]));
}

/* Different ones first, by how much their latency changed. */
TEST(interesting_ops_come_first) {
    compare(RATE "OP_A 100 60000\n 0 0 0 0 0 0 0 0 0 100\nOP_B 100 50000\n 0 0 0 0 0 0 0 0 100\n"
                 "OP_C 100 40000\n 0 0 0 0 0 0 0 0 100\nOP_D 100 30000\n 0 0 0 0 0 0 0 0 100\n",
            RATE "OP_A 100 60000\n 0 0 0 0 0 0 0 0 0 100\nOP_B 100 55000\n 0 0 0 0 0 0 0 0 99 1\n"
                 "OP_C 100 140000\n 0 0 0 0 0 0 0 0 0 0 100\nOP_D 100 230000\n 0 0 0 0 0 0 0 0 0 0 0 100\n");
    const char *const expected[] = {"D", "C", "B", "A"};
    ck_assert_uint_eq(result.different_count, 2);
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(result.ops[i].name, expected[i]);
}

/* ---- Two hosts ---------------------------------------------------------------------------------- */

#define SLOW "# clock: tsc 1000000000 Hz\nOP_X 100 50000\n 0 0 0 0 0 0 0 0 70 20 0 0 10\n"
#define FAST "# clock: tsc 2000000000 Hz\nOP_X 100 100000\n 0 0 0 0 0 0 0 0 0 70 20 0 0 10\n"

TEST(clock_rates_do_not_matter) {
    compare(SLOW, FAST);
    ck_assert(result.rescaled);
    ck_assert_uint_eq(result.a.clock.frequency_hz, 2000000000);
    ck_assert_double_eq(op("X")->scores[DISTANCE_EARTHMOVER], 0);
    ck_assert_double_eq(result.allowance_buckets, 0); /* a bucket exactly */
    ck_assert_int_eq(op("X")->verdict, COMPARE_SIMILAR);
    tear_down();
    compare(FAST, SLOW);
    ck_assert_uint_eq(result.a.clock.frequency_hz, 2000000000);
    ck_assert_double_eq(op("X")->scores[DISTANCE_EARTHMOVER], 0);
}

/* Whatever the rate: in one order as in the other, and never far from what it is without. */
TEST(odd_clock_rates_give_one_score) {
    double forth;
    compare("# clock: tsc 1000000000 Hz\nOP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n",
            "# clock: tsc 1414213562 Hz\nOP_X 100 70710\n 0 0 0 0 0 0 0 0 50 50\n");
    forth = op("X")->scores[DISTANCE_EARTHMOVER];
    ck_assert_double_lt(forth, 0.2);
    ck_assert_double_eq(result.allowance_buckets, 0.5);
    tear_down();
    compare("# clock: tsc 1414213562 Hz\nOP_X 100 70710\n 0 0 0 0 0 0 0 0 50 50\n",
            "# clock: tsc 1000000000 Hz\nOP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n");
    ck_assert_double_eq(op("X")->scores[DISTANCE_EARTHMOVER], forth);
}

/* A narrow peak, whose latencies all lie in one bucket of one clock and in two of the other's: not different. */
TEST(rescaling_alone_makes_no_difference) {
    options = compare_defaults(DISTANCE_EARTHMOVER);
    options.threshold = 0.25;
    compare("# clock: tsc 1000000000 Hz\nOP_X 100 40000\n 0 0 0 0 0 0 0 0 100\n",
            "# clock: tsc 1414213562 Hz\nOP_X 100 52000\n 0 0 0 0 0 0 0 0 0 100\n");
    ck_assert_double_gt(op("X")->scores[DISTANCE_EARTHMOVER], 0.25);
    ck_assert_double_eq(op("X")->scores[DISTANCE_FARMOVER], 0); /* which needs no allowance */
    ck_assert_int_eq(op("X")->verdict, COMPARE_ALIKE);
    tear_down();
    compare("# clock: tsc 1000000000 Hz\nOP_X 100 40000\n 0 0 0 0 0 0 0 0 100\n",
            "# clock: tsc 1414213562 Hz\nOP_X 100 104000\n 0 0 0 0 0 0 0 0 0 0 100\n");
    ck_assert_int_eq(op("X")->verdict, COMPARE_SCORE);
}

TEST(a_rate_measured_twice_is_one) {
    compare("# clock: tsc 1000000000 Hz\nOP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n",
            "# clock: tsc 1000400000 Hz\nOP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n");
    ck_assert(!result.rescaled);
    ck_assert_double_eq(op("X")->scores[DISTANCE_EARTHMOVER], 0);
}

/* At the higher rate the last bucket would be beyond all; at the lower one all fits. */
TEST(what_does_not_fit_the_higher_rate_goes_to_the_lower) {
    parse("# clock: tsc 1000000000 Hz\n# resolution: 1\nOP_X 1 9223372036854775808\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
          "0 0 0 "
          "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1\n",
          &a);
    parse("# clock: tsc 2000000000 Hz\nOP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", &b);
    ck_assert_int_eq(compare_profiles(&a, &b, &options, &result), 0);
    ck_assert_uint_eq(result.a.clock.frequency_hz, 1000000000);
    ck_assert_uint_eq(result.b.clock.frequency_hz, 1000000000);
    ck_assert_uint_eq(op("X")->b->buckets[7], 100);
}

TEST(resolutions_do_not_matter) {
    compare(RATE "# resolution: 8\nOP_X 100 50000\n 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 40 0 30 0 30\n",
            RATE "# resolution: 2\nOP_X 100 50000\n 0 0 0 0 0 70 30\n");
    ck_assert_uint_eq(result.a.resolution, 2);
    ck_assert_uint_eq(result.b.resolution, 2);
    ck_assert_double_eq(op("X")->scores[DISTANCE_EARTHMOVER], 0);
}

TEST(without_rates_cycles_are_compared) {
    compare("OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", "OP_X 100 100000\n 0 0 0 0 0 0 0 0 0 100\n");
    ck_assert_double_eq(op("X")->scores[DISTANCE_EARTHMOVER], 1);
}

TEST(one_rate_alone_is_an_error) {
    parse(RATE "OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", &a);
    parse("OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n", &b);
    struct compare_result untouched = {.op_count = 0, .slot_cycles = 7};
    ck_assert_int_eq(compare_profiles(&a, &b, &options, &untouched), -EDOM);
    ck_assert_int_eq(compare_profiles(&b, &a, &options, &untouched), -EDOM);
    ck_assert_double_eq(untouched.slot_cycles, 7);
}

TEST(empty_profiles_have_results) {
    compare(RATE, RATE);
    ck_assert_uint_eq(result.op_count, 0);
    ck_assert_uint_eq(result.different_count, 0);
    tear_down();
    compare("", RATE "OP_X 100 50000\n 0 0 0 0 0 0 0 0 100\n"); /* of an empty one the rate does not matter */
    ck_assert_int_eq(op("X")->verdict, COMPARE_ONE_SIDED);
    ck_assert_uint_eq(op("X")->a->calls, 0);
    ck_assert_uint_eq(result.a.clock.frequency_hz, 1000000000);
}

TEST(a_profile_is_like_itself) {
    compare(SLOW, SLOW);
    for (int method = 0; method < DISTANCE_METHOD_COUNT; method++)
        ck_assert_double_eq(op("X")->scores[method], 0);
    ck_assert_uint_eq(result.different_count, 0);
}

/* ---- Time --------------------------------------------------------------------------------------- */

/* Four intervals of 1000 against two of 2000 cycles: two slots. In the second the calls are an octave slower. */
TEST(sampled_profiles_are_compared_over_time) {
    compare(RATE "# interval: 1000\nOP_X 80 640\n 0 0 20\n 0 0 20\n 0 0 20\n 0 0 20\n",
            RATE "# interval: 2000\nOP_X 80 960\n 0 0 40\n 0 0 0 40\n");
    ck_assert_uint_eq(result.slot_count, 2);
    ck_assert_double_eq(result.slot_cycles, 2000);
    const struct compare_slot *slots = op("X")->slots;
    ck_assert_double_eq_tol(slots[0].a_calls, 40, 1e-9);
    ck_assert_double_eq_tol(slots[0].b_calls, 40, 1e-9);
    ck_assert_double_eq_tol(slots[1].a_latency_cycles, 40 * 6, 1e-9);
    ck_assert_double_eq_tol(slots[1].b_latency_cycles, 40 * 12, 1e-9);
    ck_assert_double_eq_tol(slots[0].score, 0, 1e-9);
    ck_assert_double_eq_tol(slots[1].score, 1, 1e-9);
}

/* Three intervals in two slots: the middle one is halved. */
TEST(an_interval_across_a_border_is_divided) {
    compare(RATE "# interval: 1000\nOP_X 60 480\n 0 0 20\n 0 0 20\n 0 0 20\n",
            RATE "# interval: 1500\nOP_X 20 160\n 0 0 20\n -\n");
    ck_assert_uint_eq(result.slot_count, 2);
    ck_assert_double_eq_tol(op("X")->slots[0].a_calls, 30, 1e-9);
    ck_assert_double_eq_tol(op("X")->slots[1].a_calls, 30, 1e-9);
    ck_assert_double_eq_tol(op("X")->slots[1].b_calls, 0, 1e-9);
    ck_assert_double_eq(op("X")->slots[1].score, 64);
}

TEST(one_sampled_profile_has_no_counterpart) {
    compare(RATE "# interval: 1000\nOP_X 40 320\n 0 0 20\n 0 0 20\n", RATE "OP_X 40 320\n 0 0 40\n");
    ck_assert_uint_eq(result.slot_count, 0);
    ck_assert_ptr_null(op("X")->slots);
}

/* As long as it may be; and the calls of all slots are those of all buckets. */
TEST(slots_hold_all_calls) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&text, &size_bytes);
    fputs(RATE "# interval: 999\nOP_X 30000 240000\n", stream);
    for (int i = 0; i < 10000; i++)
        fputs(" 0 1 0 2\n", stream);
    fclose(stream);
    compare(text, RATE "# interval: 123456\nOP_X 4 32\n 0 2\n 0 0 2\n");
    double calls = 0;
    ck_assert_uint_eq(result.slot_count, COMPARE_SLOTS_MAX);
    for (size_t i = 0; i < result.slot_count; i++)
        calls += op("X")->slots[i].a_calls;
    ck_assert_double_eq_tol(calls, 30000, 1e-6);
}
