/* Preemption, against the numbers of thesis §3.3.1 and by hand. */
#include <string.h>

#include "base.h"
#include "preemption.h"
#include "testing.h"

#define QUANTUM 67108864.0 /* 2^26 */

/* ---- Probability -------------------------------------------------------------------------------- */

/* The thesis's is that of a whole quantum, of which Q / t_period calls share one. */
static double of_thesis(const struct preemption_terms *terms, double cpu_cycles) {
    return preemption_probability(terms, cpu_cycles) * terms->quantum_cycles / terms->period_cycles;
}

TEST(probabilities_are_those_of_the_thesis) {
    const struct preemption_terms typical = {.quantum_cycles = QUANTUM, .yield = 0.01, .period_cycles = 1 << 15};
    const struct preemption_terms thread = {.quantum_cycles = QUANTUM, .yield = 0.1, .period_cycles = 1 << 19};
    /* 0.5 * 0.99^2048, "10^-9"; 0.5 * 0.9^128, "0.7 * 10^-6" */
    ck_assert_double_eq_tol(of_thesis(&typical, 1 << 14), 5.75e-10, 0.01e-10);
    ck_assert_double_eq_tol(of_thesis(&thread, 1 << 18), 6.95e-7, 0.01e-7);
}

TEST(who_never_yields_is_preempted_once_a_quantum) {
    const struct preemption_terms terms = {.quantum_cycles = QUANTUM};
    ck_assert_double_eq(preemption_probability(&terms, QUANTUM / 8), 0.125);
    ck_assert_double_eq(preemption_probability(&terms, 0), 0);
    ck_assert_double_eq(preemption_probability(&terms, 5 * QUANTUM), 1);
}

TEST(who_always_yields_is_never_preempted) {
    const struct preemption_terms terms = {.quantum_cycles = QUANTUM, .yield = 1, .period_cycles = 1000};
    ck_assert_double_eq(preemption_probability(&terms, 1000), 0);
}

/* ---- Estimate ----------------------------------------------------------------------------------- */

static uint64_t buckets[AGGSTATS_BUCKETS_MAX];
static struct aggstats_op_profile op = {.name = "READ", .buckets = buckets};
static struct aggstats_profile profile;
static struct preemption_estimate estimate;

static struct aggstats_cell joint_cells[3];
static struct aggstats_joint_profile joint = {.op = "READ", .cells = joint_cells};

static void add_joint(enum aggstats_value value, const struct aggstats_cell *cells, size_t count) {
    memcpy(joint_cells, cells, count * sizeof(*cells));
    joint.value = value;
    joint.cell_count = count;
    profile.joints = &joint;
    profile.joint_count = 1;
}

static void set_up(void) {
    memset(buckets, 0, sizeof(buckets));
    op.calls = 0;
    profile =
        (struct aggstats_profile){.resolution = 1, .clock = {.frequency_hz = 1000000000}, .ops = &op, .op_count = 1};
}

static void estimate_for(unsigned threads) {
    const struct preemption_terms terms = {.quantum_cycles = QUANTUM, .threads = threads};
    preemption_estimate(&terms, &profile, &op, &estimate);
}

TEST_CASE(.set_up = set_up);

/* 2^20 calls of 1.5 * 2^10 cycles, give or take a third, are 24 quanta of CPU time, 16 to 32. */
TEST(calls_arrive_where_the_others_turns_are_over) {
    buckets[10] = 1 << 20;
    estimate_for(2);
    ck_assert_double_eq(estimate.calls.expected, 24);
    ck_assert_double_eq(estimate.calls.lower, 16);
    ck_assert_double_eq(estimate.calls.upper, 32);
    ck_assert_double_eq(estimate.arriving[26], 24);
    estimate_for(3);
    ck_assert_double_eq(estimate.arriving[26], 0);
    ck_assert_double_eq(estimate.arriving[27], 24);
}

/* 2^26 + 1.5 * 2^25 cycles are 1.75 * 2^26; at resolution 8 those are in bucket floor(8 * 26.807). */
TEST(long_calls_arrive_further_on) {
    buckets[25] = 4;
    estimate_for(2);
    ck_assert_double_eq(estimate.arriving[26], 3);
    profile.resolution = 8;
    buckets[25] = 0;
    buckets[25 * 8] = 4;
    estimate_for(2);
    double mean = aggstats_bucket_mean(25 * 8, 8);
    ck_assert_double_eq(estimate.arriving[aggstats_bucket_of((uint64_t)(mean + QUANTUM), 8)], 4 * mean / QUANTUM);
    ck_assert_double_eq(estimate.calls.expected, 4 * mean / QUANTUM);
}

TEST(calls_beyond_a_quantum_have_waited) {
    buckets[26] = 1000000;
    buckets[63] = 1000000;
    buckets[0] = 1000000; /* no CPU time to speak of */
    estimate_for(2);
    ck_assert_double_eq(estimate.calls.upper, 0);
}

TEST(known_cpu_time_counts_in_place_of_latency) {
    /* at 1 GHz: calls of 1.5 * 2^20 cycles that used 1.5 * 2^10 */
    const struct aggstats_cell cells[] = {
        {.row = aggstats_value_row(AGGSTATS_CPU, 1024), .bucket = 20, .count = 100},
        {.row = aggstats_value_row(AGGSTATS_CPU, 4096), .bucket = 21, .count = 100},
    };
    add_joint(AGGSTATS_CPU, cells, 2);
    buckets[20] = 1 << 20;
    estimate_for(2);
    ck_assert_double_eq_tol(estimate.calls.expected, 24, 1e-9);
    joint.value = AGGSTATS_SIZE;
    estimate_for(2);
    ck_assert_double_eq_tol(estimate.calls.expected, 24 * 1024, 1e-9);
    joint.value = AGGSTATS_CPU;
    joint_cells[0].row =
        aggstats_value_row(AGGSTATS_CPU, UINT64_C(1) << 40); /* more than its latency: rounding at most */
    estimate_for(2);
    ck_assert_double_eq_tol(estimate.calls.expected, 24 * 1024, 1e-9);
}

/* ---- Terms -------------------------------------------------------------------------------------- */

TEST(waits_that_were_counted_are_yields) {
    const struct aggstats_cell cells[] = {
        {.row = aggstats_value_row(AGGSTATS_BLOCKED, 0), .bucket = 10, .count = 600},
        {.row = aggstats_value_row(AGGSTATS_BLOCKED, 1), .bucket = 20, .count = 150},
        {.row = aggstats_value_row(AGGSTATS_BLOCKED, 3), .bucket = 20, .count = 50},
    };
    add_joint(AGGSTATS_BLOCKED, cells, 3);
    op.calls = 1000; /* 200 of them before waits were counted */
    struct preemption_terms terms = preemption_terms_of(&profile, 5, 2);
    ck_assert_double_eq(terms.yield, 0); /* of no use without the time between calls */
    profile.has_elapsed = true;
    profile.elapsed_cycles = 30000;
    terms = preemption_terms_of(&profile, 5, 2);
    ck_assert_double_eq(terms.yield, 0.2);
    ck_assert_double_eq(terms.period_cycles, 30);
    ck_assert_double_eq(terms.quantum_cycles, 5);
    ck_assert_uint_eq(terms.threads, 2);
}

TEST(an_empty_profile_has_no_yields) {
    profile.op_count = 0;
    profile.has_elapsed = true;
    profile.elapsed_cycles = 30000;
    ck_assert_double_eq(preemption_terms_of(&profile, 5, 2).yield, 0);
}
