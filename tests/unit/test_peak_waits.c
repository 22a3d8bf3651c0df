/* Which causes explain a peak: by latency, and by no more than is known. */
#include <string.h>

#include "base.h"
#include "peak_cause.h"
#include "testing.h"

static uint64_t buckets_of[5][64];
static struct aggstats_cause causes[5];
static struct aggstats_op_profile op = {.name = "FSYNC"};
static struct aggstats_profile profile;
static const struct peak peak = {.first = 24, .last = 26, .calls = 100};

static void set_up(void) {
    memset(buckets_of, 0, sizeof(buckets_of));
    profile = (struct aggstats_profile){.resolution = 1, .causes = causes};
}

/* A cause with so many calls in a bucket. */
static void add(const char *of, const char *text, unsigned bucket, uint64_t calls) {
    struct aggstats_cause *cause = &causes[profile.cause_count];
    *cause = (struct aggstats_cause){.buckets = buckets_of[profile.cause_count++]};
    snprintf(cause->op, sizeof(cause->op), "%s", of);
    snprintf(cause->why.words, sizeof(cause->why.words), "%s", text);
    cause->buckets[bucket] = calls;
}

TEST_CASE(.set_up = set_up);

TEST(most_calls_come_first) {
    add("FSYNC", "the disk", 24, 20);
    add("FSYNC", "the journal", 26, 78);
    add("FSYNC", "running", 25, 2);
    struct peak_waits found = peak_waits_find(&profile, &op, &peak);
    ck_assert_uint_eq(found.count, 2); /* 2 % is too little to be reported */
    ck_assert_str_eq(found.waits[0].cause->why.words, "the journal");
    ck_assert_double_eq_tol(found.waits[0].share, 0.78, 1e-9);
    ck_assert_str_eq(found.waits[1].cause->why.words, "the disk");
    ck_assert_uint_eq(found.known_calls, 100);
}

TEST(other_peaks_and_operations_do_not_count) {
    add("FSYNC", "the journal", 27, 50);
    add("WRITE", "the disk", 25, 50);
    ck_assert_uint_eq(peak_waits_find(&profile, &op, &peak).count, 0);
    ck_assert_uint_eq(peak_waits_find(&profile, &op, &peak).known_calls, 0);
}

TEST(what_is_not_known_is_in_no_share) {
    add("FSYNC", "the journal", 25, 30);
    add("FSYNC", "(not known: it ended before it was sampled)", 25, 40);
    add("FSYNC", "other causes", 25, 10);
    add("FSYNC", "not known by latency", 25, 0);
    causes[1].why.kind = AGGSTATS_CAUSE_UNKNOWN;
    causes[2].why.kind = AGGSTATS_CAUSE_REST;
    causes[3].buckets = NULL;
    struct peak_waits found = peak_waits_find(&profile, &op, &peak);
    ck_assert_uint_eq(found.count, 1);
    ck_assert_double_eq_tol(found.waits[0].share, 0.75, 1e-9);
    ck_assert_uint_eq(found.known_calls, 40);
}

/* Causes of calls that the operation had before a rotation */
TEST(more_than_the_peak_has_is_not_known) {
    add("FSYNC", "the journal", 25, 101);
    struct peak_waits found = peak_waits_find(&profile, &op, &peak);
    ck_assert_double_eq(found.waits[0].share, 1);
    ck_assert_uint_eq(found.known_calls, 100);
}

TEST(of_many_the_first_ones_are_told) {
    add("FSYNC", "a", 25, 20);
    add("FSYNC", "b", 25, 10);
    add("FSYNC", "c", 25, 40);
    add("FSYNC", "d", 25, 30);
    struct peak_waits found = peak_waits_find(&profile, &op, &peak);
    ck_assert_uint_eq(found.count, PEAK_WAITS_MAX);
    ck_assert_str_eq(found.waits[0].cause->why.words, "c");
    ck_assert_str_eq(found.waits[1].cause->why.words, "d");
    ck_assert_str_eq(found.waits[2].cause->why.words, "a");
}
