/* The clock: what is found, and that its rate is true. */
#include <stdlib.h>
#include <time.h>

#include "aggstats.h"
#include "testing.h"

static uint64_t raw_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

TEST(detected_clock_has_a_name_and_a_rate) {
    struct aggstats_clock clock;
    aggstats_clock_detect(&clock);
    ck_assert_ptr_nonnull(aggstats_clock_name(clock.kind));
    ck_assert_uint_gt(clock.frequency_hz, 0);
}

TEST(clock_never_runs_backwards_in_a_thread) {
    struct aggstats_clock clock;
    aggstats_clock_detect(&clock);
    uint64_t last_cycles = aggstats_clock_now(clock.kind);
    for (int i = 0; i < 100003; i++) {
        uint64_t now_cycles = aggstats_clock_now(clock.kind);
        ck_assert_uint_ge(now_cycles, last_cycles);
        last_cycles = now_cycles;
    }
}

struct moment {
    uint64_t cycles;
    uint64_t ns;
};

/* Of many readings of both clocks the one that took least, so that nothing came in between. */
static struct moment moment_now(uint32_t kind) {
    struct moment best = {0, 0};
    uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 1009; i++) {
        uint64_t before_cycles = aggstats_clock_now(kind);
        uint64_t ns = raw_ns();
        uint64_t gap_cycles = aggstats_clock_now(kind) - before_cycles;
        if (gap_cycles < best_gap) {
            best_gap = gap_cycles;
            best = (struct moment){before_cycles + gap_cycles / 2, ns};
        }
    }
    return best;
}

/* 50 ppm if the rate was measured; the kernel steers the monotonic clock, by up to 500 ppm (adjtimex(2)). */
TEST(rate_agrees_with_the_raw_clock) {
    const struct timespec wait = {.tv_nsec = 300000000};
    struct aggstats_clock clock;
    aggstats_clock_detect(&clock);
    struct moment from = moment_now(clock.kind);
    nanosleep(&wait, NULL);
    struct moment to = moment_now(clock.kind);
    double measured_hz = (double)(to.cycles - from.cycles) / ((double)(to.ns - from.ns) / 1e9);
    double bound = clock.kind == AGGSTATS_CLOCK_MONOTONIC ? 600e-6 : 60e-6;
    ck_assert_double_lt(measured_hz, (1 + bound) * (double)clock.frequency_hz);
    ck_assert_double_gt(measured_hz, (1 - bound) * (double)clock.frequency_hz);
}

TEST(names_are_those_of_profiles) {
    ck_assert_str_eq(aggstats_clock_name(AGGSTATS_CLOCK_TSC), "tsc");
    ck_assert_str_eq(aggstats_clock_name(AGGSTATS_CLOCK_CNTVCT), "cntvct");
    ck_assert_str_eq(aggstats_clock_name(AGGSTATS_CLOCK_MONOTONIC), "monotonic");
    ck_assert_ptr_null(aggstats_clock_name(0));
    ck_assert_ptr_null(aggstats_clock_name(4));
}

TEST(monotonic_clock_counts_nanoseconds) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    uint64_t before_ns = (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
    uint64_t now = aggstats_clock_now(AGGSTATS_CLOCK_MONOTONIC);
    clock_gettime(CLOCK_MONOTONIC, &ts);
    uint64_t after_ns = (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
    ck_assert_uint_ge(now, before_ns);
    ck_assert_uint_le(now, after_ns);
}
