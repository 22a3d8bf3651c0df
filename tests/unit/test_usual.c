/* The usual latency, and its reaction to changes of calls. */
#include "usual.h"

#include "histograms.h"
#include "testing.h"

#define CALLS 10000
#define AT 13.3 /* log2 of the latency of most calls, in cycles */

static struct histogram histogram;
static uint64_t state;

static void set_up(void) {
    state = 4711;
    histogram_init(&histogram);
}

/* Of most calls at AT, and others that are this much slower. */
static double usual_with(unsigned others, double octaves_slower, unsigned resolution) {
    state = 4711;
    histogram_init(&histogram);
    histogram_add_path(&histogram, resolution, &state, CALLS - others, AT, 0.3);
    histogram_add_path(&histogram, resolution, &state, others, AT + octaves_slower, 0.3);
    return usual_of(&histogram.op, resolution).log2_cycles;
}

TEST_CASE(.set_up = set_up);

TEST(it_is_in_the_middle_of_one_peak_at_any_resolution, .to = 4) {
    ck_assert_double_eq_tol(usual_with(0, 0, 1U << _i), AT, _i == 0 ? 0.06 : 0.02);
}

TEST(few_slow_calls_move_it_by_little_however_slow_they_are) {
    const double alone = usual_with(0, 0, 4);
    ck_assert_double_eq_tol(usual_with(1, 20, 4), alone, 0.001);
    ck_assert_double_eq_tol(usual_with(CALLS / 100, 6, 4), alone, 0.0175);
    ck_assert_double_eq_tol(usual_with(CALLS / 100, 20, 4), alone, 0.0175);
    ck_assert_double_gt(usual_with(CALLS / 4, 6, 4), alone + 0.2); /* a quarter is not few */
}

TEST(it_moves_with_all_calls) {
    set_up();
    histogram_add_path(&histogram, 4, &state, CALLS, AT + log2(1.25), 0.3);
    ck_assert_double_eq_tol(usual_of(&histogram.op, 4).log2_cycles, usual_with(0, 0, 4) + log2(1.25), 0.01);
}

/* One call more or less in either does not move it from one peak to the other. */
TEST(two_peaks_of_the_same_size_have_it_between_them) {
    const double between = usual_with(CALLS / 2, 7, 4);
    ck_assert_double_eq_tol(between, AT + 3.5, 0.05);
    ck_assert_double_eq_tol(usual_with(CALLS / 2 + CALLS / 100, 7, 4), between, 0.15);
    ck_assert_double_eq_tol(usual_with(CALLS / 2 - CALLS / 100, 7, 4), between, 0.15);
}

TEST(calls_in_a_bucket_alone_may_lie_anywhere_in_it) {
    set_up();
    ck_assert_double_eq(usual_of(&histogram.op, 1).isolated, 0); /* there are none */
    histogram_add(&histogram, 13, 900, 1);
    histogram_add(&histogram, 20, 100, 1);
    ck_assert_double_eq(usual_of(&histogram.op, 1).isolated, 1);
    histogram_add(&histogram, 14, 500, 1);
    ck_assert_double_eq_tol(usual_of(&histogram.op, 1).isolated, 100.0 / 1500, 1e-12);
}

/* The total gives the position in the bucket, unless slow calls take about as much time as all other calls. */
TEST(the_total_says_where_in_their_bucket_calls_lie) {
    for (int tenth = 0; tenth < 10; tenth++) {
        set_up();
        histogram_add(&histogram, 13, 1000, 1);
        histogram.op.total_cycles = (uint64_t)(1000 * exp2(13 + 0.1 * tenth));
        const struct usual alone = usual_by_total(&histogram.op, 1);
        ck_assert_double_eq_tol(alone.log2_cycles, 13 + 0.1 * tenth, 0.04);
        ck_assert_double_eq_tol(alone.isolated, 0, 1e-9);
        histogram.buckets[30]++;
        histogram.op.calls++;
        histogram.op.total_cycles += 3 << 29;
        ck_assert_double_eq_tol(usual_by_total(&histogram.op, 1).log2_cycles, 13.5, 0.05);
        ck_assert_double_gt(usual_by_total(&histogram.op, 1).isolated, 0.95);
    }
}
