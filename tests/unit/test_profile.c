/* Profile arithmetic: sums are exact, errors leave the profile as it was. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats.h"
#include "base.h"
#include "testing.h"

/* ---- Help ---- */

static struct aggstats_profile parse(const char *text) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error = {0};
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int err = aggstats_profile_parse(stream, &profile, &error);
    fclose(stream);
    ck_assert_msg(err == 0, "line %zu: %s", error.line, error.message);
    return profile;
}

/* Compares texts, then finishes the profile. */
static void expect(struct aggstats_profile *profile, const char *text) {
    char *got;
    size_t size_bytes;
    ck_assert_int_eq(aggstats_profile_format(profile, &got, &size_bytes), 0);
    ck_assert_str_eq(got, text);
    free(got);
    aggstats_profile_finish(profile);
}

#define HEADER "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n"

static const char text_a[] = "# osprof 1\n# layer: fs\n# clock: tsc 1000000000 Hz\n# resolution: 1\n"
                             "# start: 2026-11-21T02:30:00.000000000Z\n# elapsed: 1000\n# clamped: 2\n"
                             "OP_READ 5 300\n 1 0 4\nOP_WRITE 2 100\n 0 1\n";
static const char text_b[] = "# osprof 1\n# layer: other\n# clock: tsc 1000000000 Hz\n# resolution: 1\n"
                             "# elapsed: 500\n# clamped: 1\nOP_LOOKUP 1 900\n 0 0 0 1\nOP_READ 7 70\n 0 7\n";

/* ---- Adding ---- */

TEST(sum_has_all_counts_and_keeps_the_first_header) {
    struct aggstats_profile a = parse(text_a);
    struct aggstats_profile b = parse(text_b);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    aggstats_profile_finish(&b);
    expect(&a, "# osprof 1\n# layer: fs\n# clock: tsc 1000000000 Hz\n# resolution: 1\n"
               "# start: 2026-11-21T02:30:00.000000000Z\n# elapsed: 1500\n# clamped: 3\n"
               "OP_LOOKUP 1 900\n 0 0 0 1\nOP_READ 12 370\n 1 7 4\nOP_WRITE 2 100\n 0 1\n");
}

TEST(adding_to_nothing_copies) {
    struct aggstats_profile sum = {0};
    struct aggstats_profile a = parse(text_a);
    ck_assert_int_eq(aggstats_profile_add(&sum, &a), 0);
    aggstats_profile_finish(&a);
    expect(&sum, text_a);
}

TEST(sum_of_two_resolutions_has_the_coarser) {
    struct aggstats_profile fine = parse("# clock: tsc 1000000000 Hz\n# resolution: 4\nOP_READ 10 10\n 1 2 3 4\n");
    struct aggstats_profile coarse = parse("# clock: tsc 1000000000 Hz\n# resolution: 2\nOP_READ 3 3\n 1 2\n");
    ck_assert_int_eq(aggstats_profile_add(&fine, &coarse), 0);
    aggstats_profile_finish(&coarse);
    expect(&fine, "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 2\nOP_READ 13 13\n 4 9\n");
}

#define ALMOST "18446744073709551615" /* 2^64 - 1 */

static const char *const overflowing[][2] = {
    {HEADER "OP_READ " ALMOST " 1\n 1\n", HEADER "OP_READ 1 1\n 1\n"},
    {HEADER "OP_READ 1 " ALMOST "\n 1\n", HEADER "OP_READ 1 1\n 1\n"},
    {HEADER "# elapsed: " ALMOST "\nOP_READ 1 1\n 1\n", HEADER "# elapsed: 1\nOP_READ 1 1\n 1\n"},
    {HEADER "# clamped: " ALMOST "\nOP_READ 1 1\n 1\n", HEADER "# clamped: 1\nOP_READ 1 1\n 1\n"},
};

TEST(sum_that_overflows_leaves_the_profile_alone, .to = (int)ARRAY_SIZE(overflowing)) {
    struct aggstats_profile a = parse(overflowing[_i][0]);
    struct aggstats_profile b = parse(overflowing[_i][1]);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), -EOVERFLOW);
    aggstats_profile_finish(&b);
    expect(&a, overflowing[_i][0]);
}

TEST(rates_that_differ_do_not_add_up) {
    struct aggstats_profile a = parse("# clock: tsc 1000000000 Hz\nOP_READ 1 1\n 1\n");
    struct aggstats_profile other = parse("# clock: tsc 1002000000 Hz\nOP_READ 1 1\n 1\n");
    struct aggstats_profile unknown = parse("OP_READ 1 1\n 1\n");
    struct aggstats_profile measured_again = parse("# clock: tsc 1000001000 Hz\nOP_READ 1 1\n 1\n");
    ck_assert_int_eq(aggstats_profile_add(&a, &other), -EDOM);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &other), -EDOM);
    ck_assert_int_eq(aggstats_profile_add(&a, &unknown), -EDOM);
    ck_assert_int_eq(aggstats_profile_add(&a, &measured_again), 0);
    aggstats_profile_finish(&other);
    aggstats_profile_finish(&unknown);
    aggstats_profile_finish(&measured_again);
    expect(&a, HEADER "OP_READ 2 2\n 2\n");
}

/* ---- Groups ---- */

static const char grouped[] = "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 2\nOP_READ 3 12\n 0 1 1 0 1\n"
                              "# process: 17 cat\nOP_READ 2 8\n 0 1 1\n# process: kernel\nOP_READ 1 4\n 0 0 0 0 1\n";

TEST(groups_change_with_the_whole) {
    struct aggstats_profile coarse = parse(grouped);
    struct aggstats_profile slow = parse(grouped);
    ck_assert_int_eq(aggstats_profile_coarsen(&coarse, 1), 0);
    ck_assert_int_eq(aggstats_profile_rescale(&slow, 500000000), 0);
    expect(&coarse, "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\nOP_READ 3 12\n 1 1 1\n"
                    "# process: 17 cat\nOP_READ 2 8\n 1 1\n# process: kernel\nOP_READ 1 4\n 0 0 1\n");
    expect(&slow, "# osprof 1\n# clock: tsc 500000000 Hz\n# resolution: 2\nOP_READ 3 6\n 2 0 1\n"
                  "# process: 17 cat\nOP_READ 2 4\n 2\n# process: kernel\nOP_READ 1 2\n 0 0 1\n");
}

TEST(sums_and_differences_have_no_groups) {
    struct aggstats_profile a = parse(grouped);
    struct aggstats_profile b = parse(grouped);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.group_count, 0);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert_uint_eq(a.groupings, 0);
    aggstats_profile_finish(&b);
    aggstats_profile_finish(&a);
}

TEST(others_get_no_paths) {
    struct aggstats_profile profile =
        parse("# osprof 1\n# resolution: 1\n# call: READ age 3 path /secret inode 1 pid 2\nOP_READ 3 6\n 0 2\n"
              "# uid: 7\nOP_READ 2 4\n 0 2\n# cgroup: /user.slice\nOP_READ 2 4\n 0 2\n# file: 7 /secret\nOP_READ 2 4\n "
              "0 2\n");
    ck_assert(aggstats_profile_has_paths(&profile));
    aggstats_profile_drop_paths(&profile);
    ck_assert(!aggstats_profile_has_paths(&profile));
    expect(&profile, "# osprof 1\n# resolution: 1\n# call: READ age 3 inode 1 pid 2\nOP_READ 3 6\n 0 2\n"
                     "# uid: 7\nOP_READ 2 4\n 0 2\n");
    aggstats_profile_finish(&profile);
    profile = parse("# osprof 1\n# resolution: 1\nOP_READ 2 4\n 0 2\n# file: 7 /secret\nOP_READ 2 4\n 0 2\n");
    ck_assert(aggstats_profile_has_paths(&profile));
    aggstats_profile_drop_paths(&profile);
    expect(&profile, "# osprof 1\n# resolution: 1\nOP_READ 2 4\n 0 2\n");
}

/* ---- Subtracting ---- */

TEST(difference_undoes_the_sum) {
    struct aggstats_profile a = parse(text_a);
    struct aggstats_profile b = parse(text_b);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    aggstats_profile_finish(&b);
    a.has_start = true; /* b did not say when it began */
    expect(&a, text_a);
}

TEST(difference_begins_where_the_earlier_ends) {
    struct aggstats_profile later = parse(text_a);
    struct aggstats_profile earlier =
        parse(HEADER "# start: 2026-11-21T02:30:00.5Z\n# elapsed: 250\nOP_READ 1 100\n 1\n");
    ck_assert_int_eq(aggstats_profile_subtract(&later, &earlier), 0);
    aggstats_profile_finish(&earlier);
    expect(&later, "# osprof 1\n# layer: fs\n# clock: tsc 1000000000 Hz\n# resolution: 1\n"
                   "# start: 2026-11-21T02:30:00.500000250Z\n# elapsed: 750\n# clamped: 2\n"
                   "OP_READ 4 200\n 0 0 4\nOP_WRITE 2 100\n 0 1\n");
}

/* In the earlier snapshot the third call was in flight; it ended in between, so it belongs to the difference. */
TEST(call_in_flight_belongs_to_where_it_ends) {
    struct aggstats_profile later = parse(HEADER "OP_READ 3 600\n 2 0 1\n");
    struct aggstats_profile earlier = parse(HEADER "OP_READ 3 200\n 2\n");
    ck_assert_int_eq(aggstats_profile_subtract(&later, &earlier), 0);
    aggstats_profile_finish(&earlier);
    expect(&later, HEADER "OP_READ 1 400\n 0 0 1\n");
}

TEST(difference_of_equals_is_empty) {
    struct aggstats_profile a = parse(HEADER "OP_READ 3 600\n 2 0 1\n");
    struct aggstats_profile same = parse(HEADER "OP_READ 3 600\n 2 0 1\n");
    ck_assert_int_eq(aggstats_profile_subtract(&a, &same), 0);
    aggstats_profile_finish(&same);
    expect(&a, HEADER);
}

static const char *const not_contained[] = {
    HEADER "OP_READ 4 100\n 4\n",                           /* a bucket */
    HEADER "OP_READ 1 500\n 1\n",                           /* a total */
    HEADER "OP_LOOKUP 1 1\n 1\n",                           /* an op */
    HEADER "# elapsed: 2000\nOP_READ 1 1\n 1\n",            /* the time */
    HEADER "# elapsed: 1\n# clamped: 9\nOP_READ 1 1\n 1\n", /* the clamped */
};

TEST(what_is_not_contained_cannot_be_taken_away, .to = (int)ARRAY_SIZE(not_contained)) {
    struct aggstats_profile a = parse(text_a);
    struct aggstats_profile b = parse(not_contained[_i]);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), -ERANGE);
    aggstats_profile_finish(&b);
    expect(&a, text_a);
}

/* ---- Resolution ---- */

TEST(coarser_profile_agrees_with_coarser_buckets, .to = 4) {
    static const unsigned coarser[] = {1, 2, 4, 8};
    struct aggstats_profile profile = parse("# resolution: 8\nOP_READ 100000 0\n 0\n");
    uint64_t expected[64 * 8] = {0};
    for (uint64_t latency = 1; latency < 30000; latency += 7) {
        profile.ops[0].buckets[aggstats_bucket_of(latency, 8)]++;
        expected[aggstats_bucket_of(latency, coarser[_i])]++;
    }
    ck_assert_int_eq(aggstats_profile_coarsen(&profile, coarser[_i]), 0);
    ck_assert_uint_eq(profile.resolution, coarser[_i]);
    ck_assert_mem_eq(profile.ops[0].buckets, expected, 64 * coarser[_i] * sizeof(expected[0]));
    ck_assert_int_eq(aggstats_profile_coarsen(&profile, 2 * coarser[_i]), -EINVAL);
    ck_assert_int_eq(aggstats_profile_coarsen(&profile, 3), -EINVAL);
    aggstats_profile_finish(&profile);
}

/* ---- Clock rate ---- */

TEST(doubling_the_rate_moves_every_call_one_octave_up) {
    struct aggstats_profile profile = parse(HEADER "# elapsed: 1001\nOP_READ 9 301\n 1 2 0 6\n");
    ck_assert_int_eq(aggstats_profile_rescale(&profile, 2000000000), 0);
    expect(&profile,
           "# osprof 1\n# clock: tsc 2000000000 Hz\n# resolution: 1\n# elapsed: 2002\nOP_READ 9 602\n 0 1 2 0 6\n");
}

TEST(halving_the_rate_keeps_the_shortest_in_bucket_zero) {
    struct aggstats_profile profile = parse(HEADER "OP_READ 9 301\n 1 2 0 6\n");
    ck_assert_int_eq(aggstats_profile_rescale(&profile, 500000000), 0);
    expect(&profile, "# osprof 1\n# clock: tsc 500000000 Hz\n# resolution: 1\nOP_READ 9 151\n 3 0 6\n");
}

/* [2^10, 2^11) becomes [1.5 * 2^10, 1.5 * 2^11): a third of that range lies below 2^11, two thirds above. */
TEST(calls_are_spread_in_proportion_to_the_overlap) {
    struct aggstats_profile profile = parse(HEADER "OP_READ 1000 1500000\n 0 0 0 0 0 0 0 0 0 0 1000\n");
    ck_assert_int_eq(aggstats_profile_rescale(&profile, 1500000000), 0);
    expect(&profile, "# osprof 1\n# clock: tsc 1500000000 Hz\n# resolution: 1\n"
                     "OP_READ 1000 2250000\n 0 0 0 0 0 0 0 0 0 0 333 667\n");
}

static const uint64_t rates_hz[] = {1, 999999999, 1000000001, 1234567891, 2596000000, 123456, UINT64_C(4000000000)};

TEST(rescaling_keeps_every_call, .to = (int)ARRAY_SIZE(rates_hz)) {
    struct aggstats_profile profile =
        parse(HEADER "OP_READ 12 99\n 1 2 3\nOP_WRITE 101 1\n 0 7 0 0 0 0 0 11 13 17 53\n");
    ck_assert_int_eq(aggstats_profile_rescale(&profile, rates_hz[_i]), 0);
    for (size_t i = 0; i < profile.op_count; i++) {
        uint64_t sum = 0;
        for (unsigned bucket = 0; bucket < 64; bucket++)
            sum += profile.ops[i].buckets[bucket];
        ck_assert_uint_eq(sum, strcmp(profile.ops[i].name, "READ") == 0 ? 6 : 101);
    }
    aggstats_profile_finish(&profile);
}

TEST(rescaling_that_cannot_be_done_leaves_the_profile_alone) {
    static const char huge[] = HEADER "OP_READ 1 " ALMOST "\n 0 1\n";
    struct aggstats_profile profile = parse(huge);
    struct aggstats_profile unknown = parse("OP_READ 1 1\n 1\n");
    ck_assert_int_eq(aggstats_profile_rescale(&profile, 0), -EINVAL);
    ck_assert_int_eq(aggstats_profile_rescale(&profile, 2000000000), -EOVERFLOW);
    ck_assert_int_eq(aggstats_profile_rescale(&unknown, 2000000000), -EDOM);
    aggstats_profile_finish(&unknown);
    expect(&profile, huge);
}

/* ---- The rest ---- */

TEST(copy_shares_nothing) {
    struct aggstats_profile a = parse(text_a);
    struct aggstats_profile copy;
    ck_assert_int_eq(aggstats_profile_copy(&a, &copy), 0);
    a.ops[0].buckets[0] = 99;
    a.labels[0].value[0] = 'x';
    aggstats_profile_finish(&a);
    expect(&copy, text_a);
}

TEST(ops_and_labels_are_found_by_name) {
    struct aggstats_profile a = parse(text_a);
    ck_assert_uint_eq(aggstats_profile_op(&a, "WRITE")->calls, 2);
    ck_assert_ptr_null(aggstats_profile_op(&a, "WRIT"));
    ck_assert_str_eq(aggstats_profile_label(&a, "layer"), "fs");
    ck_assert_ptr_null(aggstats_profile_label(&a, "host"));
    aggstats_profile_finish(&a);
}

TEST(empty_profile_may_be_finished_twice) {
    struct aggstats_profile empty = {0};
    aggstats_profile_finish(&empty);
    aggstats_profile_sort(&empty);
    aggstats_profile_finish(&empty);
}

TEST(equal_totals_are_sorted_by_name) {
    struct aggstats_profile profile = parse(HEADER "OP_B 1 5\n 1\nOP_C 1 6\n 1\nOP_A 1 5\n 1\n");
    expect(&profile, HEADER "OP_C 1 6\n 1\nOP_A 1 5\n 1\nOP_B 1 5\n 1\n");
}

TEST(cpu_times_are_known_of_sums_only_if_they_are_of_all) {
    static const char head[] = "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n";
    CLEANUP_FREE char *text = NULL;
    CLEANUP_FREE char *written = NULL;
    size_t size;
    ck_assert_int_ge(asprintf(&text, "%s# user_time: 70\n# system_time: 30\n# queue_time: 0\n", head), 0);
    struct aggstats_profile a = parse(text), b = parse(text), without = parse(head);
    ck_assert(a.has_cpu && a.has_queue && !without.has_cpu && !without.has_queue);
    ck_assert_int_eq(aggstats_profile_format(&a, &written, &size), 0);
    ck_assert_ptr_nonnull(strstr(written, "# user_time: 70\n# system_time: 30\n# queue_time: 0\n"));
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.user_ns, 140);
    ck_assert_uint_eq(a.system_ns, 60);
    ck_assert_int_eq(aggstats_profile_add(&a, &without), 0);
    ck_assert(!a.has_cpu && !a.has_queue);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
    aggstats_profile_finish(&without);
}

TEST(time_without_running_is_kept_added_and_subtracted) {
    static const char text[] =
        "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n# elapsed: 100\n# stopped: 30\n";
    static const char never[] = "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n# elapsed: 100\n";
    CLEANUP_FREE char *written = NULL, *nothing = NULL;
    size_t size;
    struct aggstats_profile a = parse(text), b = parse(text), without = parse(never);
    ck_assert_uint_eq(a.stopped_ns, 30);
    ck_assert_int_eq(aggstats_profile_format(&a, &written, &size), 0);
    ck_assert_ptr_nonnull(strstr(written, "# stopped: 30\n"));
    ck_assert_int_eq(aggstats_profile_format(&without, &nothing, &size), 0);
    ck_assert_ptr_null(strstr(nothing, "stopped"));
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_int_eq(aggstats_profile_add(&a, &without), 0);
    ck_assert_uint_eq(a.stopped_ns, 60);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert_uint_eq(a.stopped_ns, 30);
    b.stopped_ns = UINT64_MAX;
    ck_assert_int_eq(aggstats_profile_add(&a, &b), -EOVERFLOW);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
    aggstats_profile_finish(&without);
}

TEST(stolen_time_is_kept_added_and_subtracted) {
    static const char text[] =
        "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n# elapsed: 100\n# stolen: 30\n";
    CLEANUP_FREE char *written = NULL;
    size_t size_bytes;
    struct aggstats_profile a = parse(text);
    struct aggstats_profile b = parse(text);
    struct aggstats_profile without =
        parse("# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n# elapsed: 100\n");
    ck_assert(a.has_stolen && a.stolen_ns == 30);
    ck_assert(!without.has_stolen);
    ck_assert_int_eq(aggstats_profile_format(&a, &written, &size_bytes), 0);
    ck_assert_ptr_nonnull(strstr(written, "# stolen: 30\n"));
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.stolen_ns, 60);
    ck_assert_int_eq(aggstats_profile_rescale(&a, 2000000000), 0);
    ck_assert_uint_eq(a.stolen_ns, 60);
    ck_assert_int_eq(aggstats_profile_rescale(&a, 1000000000), 0);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert_uint_eq(a.stolen_ns, 30);
    ck_assert_int_eq(aggstats_profile_add(&a, &without), 0);
    ck_assert(!a.has_stolen);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
    aggstats_profile_finish(&without);
}

/* What was read before a reset in between is more than what is there now. */
TEST(bytes_read_from_storage_are_kept_added_and_subtracted) {
    static const char text[] =
        "# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n# elapsed: 100\n# storage_read: 4096\n";
    CLEANUP_FREE char *written = NULL;
    size_t size_bytes;
    struct aggstats_profile a = parse(text);
    struct aggstats_profile b = parse(text);
    struct aggstats_profile none =
        parse("# osprof 1\n# clock: tsc 1000000000 Hz\n# resolution: 1\n# elapsed: 0\n# storage_read: 0\n");
    ck_assert(a.has_storage_read && a.storage_read_bytes == 4096);
    ck_assert(none.has_storage_read && none.storage_read_bytes == 0);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.storage_read_bytes, 8192);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert_int_eq(aggstats_profile_format(&a, &written, &size_bytes), 0);
    ck_assert_ptr_nonnull(strstr(written, "# storage_read: 4096\n"));
    ck_assert_int_eq(aggstats_profile_subtract(&none, &a), -ERANGE);
    none.elapsed_cycles = 100;
    ck_assert_int_eq(aggstats_profile_subtract(&none, &a), 0);
    ck_assert(!none.has_storage_read);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
    aggstats_profile_finish(&none);
}

#define KNOWN                                                                                                          \
    "# page_faults: minor 10 major 1\n# bytes_seen: read 5 written 7\n# bytes_kernel: read 9 written 0\n"              \
    "# cost_time: each 100 counted 1000\n# cost_calls: 100\n# disk_bytes: read 0 written 8 own 3\n# runs: 3\n"

static char *text_of(const struct aggstats_profile *profile) {
    char *written = NULL;
    size_t size_bytes;
    ck_assert_int_eq(aggstats_profile_format(profile, &written, &size_bytes), 0);
    return written;
}

TEST(numbers_by_word_are_added_if_both_know_them) {
    struct aggstats_profile a = parse("# osprof 1\n# resolution: 1\n" KNOWN "# not_seen: static 4 go 1\n");
    struct aggstats_profile b = parse("# osprof 1\n# resolution: 1\n" KNOWN "# not_seen: static 2 user 3\n");
    struct aggstats_profile none = parse("# osprof 1\n# resolution: 1\n");
    b.cost_ns.each = 400;
    b.cost_calls = 200;
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.page_faults.minor, 20);
    ck_assert_uint_eq(a.page_faults.major, 2);
    ck_assert(a.has_witness && a.bytes_seen.written == 14 && a.bytes_kernel.read == 18);
    ck_assert_uint_eq(a.not_seen[AGGSTATS_UNSEEN_STATIC], 6);
    ck_assert_uint_eq(a.not_seen[AGGSTATS_UNSEEN_USER], 3);
    ck_assert_uint_eq(a.cost_ns.each, 300); /* the mean of calls */
    ck_assert_uint_eq(a.cost_calls, 300);
    ck_assert_uint_eq(a.runs, 6);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert_uint_eq(a.page_faults.minor, 10);
    ck_assert_uint_eq(a.not_seen[AGGSTATS_UNSEEN_STATIC], 4);
    ck_assert_uint_eq(a.disk_bytes.written, 8);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert(a.has_page_faults && a.page_faults.major == 0);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0); /* less than none */
    ck_assert(!a.has_page_faults && a.page_faults.minor == 0);
    ck_assert_int_eq(aggstats_profile_add(&b, &none), 0);
    ck_assert(!b.has_page_faults && !b.has_witness && !b.has_cost && !b.has_disk && !b.has_runs);
    ck_assert_uint_eq(b.not_seen[AGGSTATS_UNSEEN_STATIC], 2);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
    aggstats_profile_finish(&none);
}

#define EXIT(status, signal) "# osprof 1\n# resolution: 1\n# exit: status " #status " signal " #signal "\n"

/* Two headers, and the exit of their sum. */
static const struct {
    const char *a;
    const char *b;
    bool is_known;
    struct aggstats_exit sum;
} exits[] = {
    {EXIT(0, 0), EXIT(0, 0), true, {0, 0}},
    {EXIT(0, 0), EXIT(3, 0), true, {3, 0}},
    {EXIT(3, 0), EXIT(0, 0), true, {3, 0}},
    {EXIT(0, 9), EXIT(3, 0), true, {0, 9}},
    {EXIT(3, 0), EXIT(0, 9), true, {3, 0}},
    {EXIT(0, 0), "# osprof 1\n# resolution: 1\n", false, {0, 0}},
    {"# osprof 1\n# resolution: 1\n", EXIT(0, 0), false, {0, 0}},
    {"# osprof 1\n# resolution: 1\n", EXIT(0, 15), true, {0, 15}},
    {EXIT(1, 0), "# osprof 1\n# resolution: 1\n", true, {1, 0}},
};

TEST(a_sum_has_the_first_exit_that_is_a_failure, .to = (int)ARRAY_SIZE(exits)) {
    struct aggstats_profile a = parse(exits[_i].a);
    struct aggstats_profile b = parse(exits[_i].b);
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_int_eq(a.has_exit, exits[_i].is_known);
    ck_assert_uint_eq(a.exit.status, exits[_i].sum.status);
    ck_assert_uint_eq(a.exit.signal, exits[_i].sum.signal);
    CLEANUP_FREE char *written = text_of(&a);
    ck_assert_int_eq(strstr(written, "# exit: ") != NULL, exits[_i].is_known);
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
}

TEST(a_sum_of_sums_counts_all_profiles) {
    struct aggstats_profile sum = parse("# osprof 1\n# resolution: 1\n# merged: 3\n");
    struct aggstats_profile one = parse("# osprof 1\n# resolution: 1\n");
    ck_assert_int_eq(aggstats_profile_add(&sum, &one), 0);
    ck_assert_uint_eq(sum.merged, 4);
    ck_assert_int_eq(aggstats_profile_add(&one, &sum), 0);
    ck_assert_uint_eq(one.merged, 5);
    ck_assert_int_eq(aggstats_profile_subtract(&one, &sum), 0);
    ck_assert_uint_eq(one.merged, 5);
    aggstats_profile_finish(&sum);
    aggstats_profile_finish(&one);
}

#define NAMED "# unseen_program: go runs 1 least 5 most 5 name x\\012y, (b)\n"

/* Names may be any, and stay what they are. */
TEST(programs_that_were_not_seen_are_added_by_kind_and_name) {
    struct aggstats_profile a =
        parse("# osprof 1\n# resolution: 1\n# unseen_program: static runs 2 least 10 most 0 name io_uring-cp\n" NAMED);
    struct aggstats_profile b = parse("# osprof 1\n# resolution: 1\n"
                                      "# unseen_program: static runs 1 least 50 most 60 name set-id 1\n"
                                      "# unseen_program: static runs 1 least 9 most 9 name io_uring-cp\n"
                                      "# unseen_program: set_id runs 7 least 1 most 2 name io_uring-cp\n" NAMED);
    ck_assert_str_eq(b.unseen_programs[3].name, "x\ny, (b)");
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    CLEANUP_FREE char *written = text_of(&a);
    ck_assert_ptr_nonnull(strstr(written, "# unseen_program: static runs 1 least 50 most 60 name set-id 1\n"
                                          "# unseen_program: static runs 3 least 19 most 0 name io_uring-cp\n"
                                          "# unseen_program: set_id runs 7 least 1 most 2 name io_uring-cp\n"
                                          "# unseen_program: go runs 2 least 10 most 10 name x\\012y, (b)\n"));
    aggstats_profile_finish(&a);
    aggstats_profile_finish(&b);
}

static const char *const broken_facts[] = {
    "# lists: host\n# host: a, b\n",
    "# page_faults: 93 minor, 2 major\n",
    "# page_faults:\n",
    "# page_faults: minor 1 minor 2\n",
    "# bytes_seen: read 1 written\n",
    "# not_seen: io_uring-cp 1\n",
    "# not_seen: static 1\n# not_seen: static 1\n",
    "# unseen_program: io_uring-cp runs 1 least 0 most 0 name a\n",
    "# unseen_program: static runs 1 least 0 most 0\n",
    "# unseen_program: static runs 1 least 0 most 0 name 123456789012345678901234567890123\n",
};

TEST(facts_of_another_form_are_refused, .to = (int)ARRAY_SIZE(broken_facts)) {
    char text[256];
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    snprintf(text, sizeof(text), "# osprof 1\n# resolution: 1\n%sOP_READ 0 0\n 0\n", broken_facts[_i]);
    FILE *stream = fmemopen(text, strlen(text), "re");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(aggstats_profile_parse(stream, &profile, &error), -EBADMSG);
    fclose(stream);
}
