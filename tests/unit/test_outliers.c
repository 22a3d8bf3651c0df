/* Outliers: what is put into one profile of many is found there, and nothing else is; in what they may differ. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "histograms.h"
#include "outliers.h"
#include "testing.h"

#define PROFILES 101
#define ODD 17 /* the profile that has the fault */
#define HZ 2000000000
#define CALLS 2003

static const char *const names[] = {"LOOKUP", "READ", "WRITE", "OPEN", "FSYNC"};
static const double octaves[] = {11, 14, 13.5, 12, 20}; /* of a typical call, in cycles */
#define OPS ARRAY_SIZE(names)

/* How one profile is made. */
struct host {
    unsigned resolution;
    uint64_t frequency_hz;
    unsigned calls;
    double slower_octaves;           /* all operations */
    double slower_octaves_read;      /* besides */
    unsigned read_stalled_per_mille; /* 8 octaves slower */
    bool reads_have_two_paths;       /* three quarters are 6 octaves faster */
    const char *layer;
    const char *value;
};

static struct outliers *outliers;
static struct outliers_result result;
static uint64_t state;

static void set_up(void) {
    state = 20061208;
    outliers = outliers_create();
    ck_assert_ptr_nonnull(outliers);
}

static void tear_down(void) {
    outliers_result_finish(&result);
    outliers_destroy(outliers);
}

static void make_op(size_t op, const struct host *host, struct histogram *histogram) {
    const double rate = log2((double)host->frequency_hz / HZ);
    const double at = octaves[op] + rate + host->slower_octaves + 0.1 * random_normal(&state) +
                      (op == 1 ? host->slower_octaves_read : 0);
    const unsigned stalled = op == 1 ? host->calls * host->read_stalled_per_mille / 1000 : 0;
    const unsigned fast = op == 1 && host->reads_have_two_paths ? host->calls * 3 / 4 : 0;
    histogram_init(histogram);
    snprintf(histogram->op.name, sizeof(histogram->op.name), "%s", names[op]);
    histogram_add_path(histogram, host->resolution, &state, host->calls - stalled - fast, at, 0.5);
    histogram_add_path(histogram, host->resolution, &state, fast, at - 6, 0.5);
    histogram_add_path(histogram, host->resolution, &state, stalled, at + 8, 0.5);
}

/* Makes a profile and adds it. */
static void add(const char *name, const struct host *host) {
    static struct histogram histograms[OPS];
    struct aggstats_op_profile ops[OPS];
    struct aggstats_label layer = {.key = (char[]){"layer"}, .value = (char *)(uintptr_t)host->layer};
    const struct aggstats_profile profile = {
        .resolution = host->resolution,
        .clock.frequency_hz = host->frequency_hz,
        .labels = &layer,
        .label_count = 1,
        .ops = ops,
        .op_count = OPS,
    };
    for (size_t op = 0; op < OPS; op++) {
        make_op(op, host, &histograms[op]);
        ops[op] = histograms[op].op;
    }
    ck_assert_int_eq(outliers_add(outliers, name, host->value, &profile), 0);
}

static const struct host usual = {.resolution = 2, .frequency_hz = HZ, .calls = CALLS, .layer = "fs", .value = ""};

/* The odd one among others, which are busy each by its own measure. */
static void add_all(const struct host *others, const struct host *odd) {
    for (int i = 0; i < PROFILES; i++) {
        char name[16];
        struct host host = i == ODD ? *odd : *others;
        host.slower_octaves += 0.3 * random_normal(&state);
        snprintf(name, sizeof(name), "node%d", i);
        add(name, &host);
    }
    ck_assert_int_eq(outliers_find(outliers, 1.5, &result), 0);
}

static const struct outlier *only_one(enum outliers_kind kind) {
    ck_assert_uint_eq(result.found_count, 1);
    const struct outlier *outlier = &result.found[0];
    ck_assert_str_eq(outlier->profile, "node17");
    ck_assert_str_eq(outlier->op, "READ");
    ck_assert_int_eq(outlier->kind, kind);
    ck_assert_uint_eq(outlier->peer_count, PROFILES - 1);
    ck_assert_uint_eq(outlier->calls, CALLS);
    return outlier;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(alike_profiles_have_no_outliers) {
    add_all(&usual, &usual);
    ck_assert_uint_eq(result.found_count, 0);
    ck_assert_uint_eq(result.busy_count, 0);
    ck_assert_uint_eq(result.profile_count, PROFILES);
    ck_assert_uint_eq(result.judged_profile_count, PROFILES);
    ck_assert_uint_eq(result.judged_count, PROFILES * OPS);
    ck_assert_uint_eq(result.group_count, 1);
}

TEST(operation_that_takes_twice_as_long_is_found, .to = 2) {
    struct host odd = usual;
    odd.slower_octaves_read = _i == 0 ? 1.1 : -1.1;
    add_all(&usual, &odd);
    const struct outlier *outlier = only_one(_i == 0 ? OUTLIERS_SLOWER : OUTLIERS_FASTER);
    ck_assert_double_eq_tol(log2(outlier->factor), odd.slower_octaves_read, 0.35);
    ck_assert_double_eq_tol(outlier->seconds / outlier->peers_seconds, outlier->factor * outlier->common_factor,
                            0.3 * outlier->factor);
    ck_assert_double_lt(outlier->chance, 1e-6);
}

TEST(few_calls_that_stall_are_found) {
    struct host odd = usual;
    odd.read_stalled_per_mille = 20;
    add_all(&usual, &odd);
    const struct outlier *outlier = only_one(OUTLIERS_SLOW_CALLS);
    const double stall_seconds = exp2(octaves[1] + 8) / HZ;
    ck_assert_double_eq_tol(outlier->share, 0.02, 0.002);
    ck_assert_double_le(outlier->peers_share, 0.0005);
    ck_assert_double_lt(outlier->place_seconds, outlier->around_seconds);
    ck_assert_double_ge(outlier->around_seconds, stall_seconds / 2.5);
    ck_assert_double_le(outlier->around_seconds, stall_seconds * 2.5);
}

TEST(fast_path_that_is_gone_is_found) {
    struct host others = usual;
    others.reads_have_two_paths = true;
    add_all(&others, &usual);
    const struct outlier *outlier = only_one(OUTLIERS_FAST_GONE);
    const double fast_seconds = exp2(octaves[1] - 6) / HZ;
    ck_assert_double_le(outlier->share, 0.05);
    ck_assert_double_eq_tol(outlier->peers_share, 0.75, 0.1);
    ck_assert_double_ge(outlier->around_seconds, fast_seconds / 2.5);
    ck_assert_double_le(outlier->around_seconds, fast_seconds * 2.5);
}

TEST(busy_profile_is_told_apart) {
    struct host odd = usual;
    odd.slower_octaves = 3;
    add_all(&usual, &odd);
    ck_assert_uint_eq(result.found_count, 0);
    ck_assert_uint_eq(result.busy_count, 1);
    ck_assert_str_eq(result.busy[0].profile, "node17");
    ck_assert_double_ge(result.busy[0].common_factor, 4);
    ck_assert_double_le(result.busy[0].common_factor, 16);
}

TEST(slow_operation_of_a_busy_profile_is_found) {
    struct host odd = usual;
    odd.slower_octaves = 3;
    odd.slower_octaves_read = 1.3;
    add_all(&usual, &odd);
    const struct outlier *outlier = only_one(OUTLIERS_SLOWER);
    ck_assert_double_eq_tol(log2(outlier->factor), 1.3, 0.5);
    ck_assert_double_ge(outlier->common_factor, 4);
}

/* Of calls, of a clock, of buckets. */
static const struct host others_odd[] = {
    {.resolution = 2, .frequency_hz = HZ, .calls = 150, .layer = "fs", .value = ""},
    {.resolution = 2, .frequency_hz = HZ, .calls = 20011, .layer = "fs", .value = ""},
    {.resolution = 2, .frequency_hz = 2900000017, .calls = CALLS, .layer = "fs", .value = ""},
    {.resolution = 2, .frequency_hz = 24000000, .calls = CALLS, .layer = "fs", .value = ""},
    {.resolution = 1, .frequency_hz = 1400000017, .calls = CALLS, .layer = "fs", .value = ""},
    {.resolution = 8, .frequency_hz = HZ, .calls = CALLS, .layer = "fs", .value = ""},
    {.resolution = 2, .frequency_hz = HZ, .calls = 20, .slower_octaves_read = 0.3, .layer = "fs", .value = ""},
};

TEST(what_says_nothing_of_latency_makes_no_outlier, .to = (int)ARRAY_SIZE(others_odd)) {
    add_all(&usual, &others_odd[_i]);
    ck_assert_uint_eq(result.found_count, 0);
    ck_assert_uint_eq(result.busy_count, 0);
}

TEST(peers_are_of_one_layer_and_one_value) {
    const char *const layers[] = {"fs", "user"};
    const char *const values[] = {"a", "b"};
    for (int i = 0; i < 4 * 7; i++) {
        struct host host = usual;
        host.layer = layers[i % 2];
        host.value = values[i / 2 % 2];
        host.slower_octaves_read = 3 * (i % 4); /* alike in each group */
        add("node", &host);
    }
    ck_assert_int_eq(outliers_find(outliers, 1.5, &result), 0);
    ck_assert_uint_eq(result.group_count, 4);
    ck_assert_uint_eq(result.found_count, 0);
    ck_assert_uint_eq(result.judged_count, 4 * 7 * OPS);
}

TEST(too_few_peers_are_no_judges) {
    for (int i = 0; i < OUTLIERS_PROFILES_MIN - 1; i++) {
        struct host host = usual;
        host.slower_octaves_read = 5 * i;
        add("node", &host);
    }
    ck_assert_int_eq(outliers_find(outliers, 1.5, &result), 0);
    ck_assert_uint_eq(result.found_count, 0);
    ck_assert_uint_eq(result.judged_profile_count, 0);
}

/* Nothing can be found in one operation of three profiles; with five operations the others show how much is natural. */
TEST(of_three_profiles_a_much_slower_operation_is_found) {
    for (int i = 0; i < 3; i++) {
        struct host host = usual;
        host.slower_octaves = 0.3 * random_normal(&state);
        host.slower_octaves_read = i == 1 ? 4.3 : 0;
        add(i == 1 ? "node17" : "node", &host);
    }
    ck_assert_int_eq(outliers_find(outliers, 1.5, &result), 0);
    ck_assert_uint_eq(result.judged_profile_count, 3);
    ck_assert_uint_eq(result.found_count, 1);
    ck_assert_str_eq(result.found[0].profile, "node17");
    ck_assert_str_eq(result.found[0].op, "READ");
    ck_assert_double_eq_tol(result.found[0].factor, exp2(4.3), 4);
    ck_assert_double_gt(result.least_factor, 1.5);
    ck_assert_double_lt(result.least_factor, exp2(4.3));
}

TEST(three_profiles_that_are_alike_have_no_outliers) {
    for (int i = 0; i < 3; i++)
        add("node", &usual);
    ck_assert_int_eq(outliers_find(outliers, 1.5, &result), 0);
    ck_assert_uint_eq(result.found_count, 0);
}

TEST(smaller_differences_do_not_matter_if_so_wished) {
    struct host odd = usual;
    odd.slower_octaves_read = 1.1;
    add_all(&usual, &odd);
    outliers_result_finish(&result);
    ck_assert_int_eq(outliers_find(outliers, 4, &result), 0);
    ck_assert_uint_eq(result.found_count, 0);
}

TEST(odd_profiles_are_taken_or_refused) {
    struct aggstats_profile profile = {.resolution = 1};
    uint64_t buckets[64] = {0};
    struct aggstats_op_profile op = {.name = "READ", .buckets = buckets};
    ck_assert_int_eq(outliers_add(outliers, "no-rate", "", &profile), -EDOM);
    profile.clock.frequency_hz = 1;
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(outliers_add(outliers, "empty", "", &profile), 0);
    profile.ops = &op;
    profile.op_count = 1;
    op.calls = 3;
    for (int i = 0; i < 7; i++) /* all of its calls are in flight; then of 0 cycles; then beyond all bounds */
        ck_assert_int_eq(outliers_add(outliers, "in-flight", "", &profile), 0);
    buckets[0] = 3;
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(outliers_add(outliers, "zero", "", &profile), 0);
    buckets[63] = UINT64_MAX - 3;
    op.calls = op.total_cycles = UINT64_MAX;
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(outliers_add(outliers, "huge", "", &profile), 0);
    ck_assert_int_eq(outliers_find(outliers, 1.5, &result), 0);
    ck_assert_uint_eq(result.judged_count, 7);
    ck_assert_uint_eq(result.found_count, 0);
}
