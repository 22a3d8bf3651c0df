/* What a profile says to somebody in a hurry. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer_model.h"
#include "base.h"
#include "histograms.h"
#include "testing.h"

#define OPS_MAX 8

static struct histogram histograms[OPS_MAX];
static struct aggstats_op_profile ops[OPS_MAX];
static struct aggstats_profile profile; /* 1 GHz: cycles are nanoseconds */
static struct answer_model model;

static void set_up(void) {
    for (size_t i = 0; i < OPS_MAX; i++)
        histogram_init(&histograms[i]);
    memset(ops, 0, sizeof(ops));
    profile = (struct aggstats_profile){
        .resolution = 1, .clock = {.kind = AGGSTATS_CLOCK_TSC, .frequency_hz = 1000000000}, .ops = ops};
}

/* Calls of an op in a bucket; a new op if there is none of that name. */
static void add_calls(const char *name, unsigned bucket, uint64_t calls) {
    size_t i = 0;
    while (i < profile.op_count && strcmp(ops[i].name, name) != 0)
        i++;
    ck_assert_uint_lt(i, OPS_MAX);
    profile.op_count = i < profile.op_count ? profile.op_count : i + 1;
    snprintf(histograms[i].op.name, sizeof(histograms[i].op.name), "%s", name);
    histogram_add(&histograms[i], bucket, calls, 1);
    ops[i] = histograms[i].op;
}

static void make(void) {
    answer_model_make(&profile, NULL, 0, &model);
}

/* ---- How much of the time ---- */

TEST_CASE(.set_up = set_up);

TEST(the_share_of_the_elapsed_time_is_a_sum_over_callers) {
    add_calls("READ", 10, 1000); /* 1.536 us each */
    profile.has_elapsed = true;
    profile.elapsed_cycles = 1024000;
    make();
    ck_assert_double_eq_tol(model.elapsed_share, 1.5, 1e-9);
    ck_assert(!model.has_busy);
}

TEST(without_an_elapsed_time_there_is_no_share) {
    add_calls("READ", 10, 1000);
    profile.busy = (struct aggstats_busy){.looks = 100, .busy = 50, .most = 2};
    make();
    ck_assert_double_eq(model.elapsed_share, 0);
    ck_assert(!model.has_busy);
}

TEST(looks_tell_the_busy_share_and_how_sure_it_is) {
    add_calls("READ", 10, 1000);
    profile.has_elapsed = true;
    profile.elapsed_cycles = 1000000;
    profile.busy = (struct aggstats_busy){.looks = 10000, .busy = 2000, .most = 4};
    make();
    ck_assert(model.has_busy);
    ck_assert_double_eq_tol(model.busy_share, 0.2, 1e-9);
    ck_assert_double_eq_tol(model.busy_error, 0.00784, 0.0001); /* 1.96 sqrt(0.2 * 0.8 / 10000) */
    ck_assert_uint_eq(model.busy_most, 4);
}

TEST(looks_that_always_saw_a_call_are_not_sure_that_there_always_is) {
    add_calls("READ", 10, 1000);
    profile.has_elapsed = true;
    profile.elapsed_cycles = 1000000;
    profile.busy = (struct aggstats_busy){.looks = 10, .busy = 10, .most = 1};
    make();
    ck_assert(model.has_busy);
    ck_assert_double_gt(model.busy_error, 0.05);
}

TEST(a_sum_tells_more_than_a_few_looks_unless_it_exceeds_the_elapsed_time) {
    add_calls("READ", 10, 1000); /* 1.536 ms */
    profile.has_elapsed = true;
    profile.elapsed_cycles = 3000000;
    profile.busy = (struct aggstats_busy){.looks = 20, .busy = 10, .most = 4};
    make();
    ck_assert(!model.has_busy);
    profile.busy = (struct aggstats_busy){.looks = 200, .busy = 100, .most = 4};
    make();
    ck_assert(model.has_busy);
    profile.busy = (struct aggstats_busy){.looks = 20, .busy = 10, .most = 4};
    profile.elapsed_cycles = 1500000;
    make();
    ck_assert(model.has_busy);
}

TEST(calls_that_never_overlap_are_the_time_with_a_call_in_flight) {
    add_calls("READ", 10, 1000); /* 1.536 ms */
    profile.has_elapsed = true;
    profile.elapsed_cycles = 3072000;
    profile.busy = (struct aggstats_busy){.looks = 100, .busy = 60, .most = 1};
    make();
    ck_assert(model.is_one_by_one);
    ck_assert_double_eq_tol(model.elapsed_share, 0.5, 1e-9);
    profile.busy.most = 2;
    make();
    ck_assert(!model.is_one_by_one);
    profile.busy = (struct aggstats_busy){.looks = 100, .busy = 29, .most = 1};
    make();
    ck_assert(!model.is_one_by_one);
    profile.busy.busy = 60;
    profile.elapsed_cycles = 1500000;
    make();
    ck_assert(!model.is_one_by_one);
}

TEST(a_call_in_flight_is_in_no_sum) {
    static struct aggstats_call call = {.op = "READ", .latency_cycles = 1000000};
    add_calls("READ", 10, 1000);
    profile.has_elapsed = true;
    profile.elapsed_cycles = 3072000;
    profile.busy = (struct aggstats_busy){.looks = 100, .busy = 60, .most = 1};
    profile.in_flight = &call;
    profile.in_flight_count = 1;
    make();
    ck_assert(!model.is_one_by_one);
}

/* ---- The rest of the time ---- */

static void set_times(uint64_t elapsed, uint64_t user, uint64_t system, uint64_t queue) {
    profile.has_elapsed = profile.has_cpu = profile.has_queue = true;
    profile.elapsed_cycles = elapsed;
    profile.user_ns = user;
    profile.system_ns = system;
    profile.queue_ns = queue;
}

TEST(beside_the_calls_of_one_thread_the_time_is_divided) {
    add_calls("READ", 10, 1000); /* 1.536 ms */
    set_times(10000000, 3000000, 1000000, 500000);
    make();
    ck_assert_int_eq(model.rest.kind, ANSWER_REST_ONE);
    ck_assert_double_eq_tol(model.rest.computing_least, 3000000, 1); /* the system time may all be within calls */
    ck_assert_double_eq_tol(model.rest.computing_most, 4000000, 1);
    ck_assert_double_eq_tol(model.rest.queued_most, 500000, 1);
    ck_assert_double_eq_tol(model.rest.others_least, 10e6 - 1.536e6 - 4e6 - 0.5e6, 1);
    ck_assert_double_eq_tol(model.rest.others_most, 10e6 - 1.536e6 - 3e6, 1);
    set_times(10000000, 3000000, 2536000, 500000); /* so much system time is not within them */
    make();
    ck_assert_double_eq_tol(model.rest.computing_least, 4000000, 1);
    set_times(5000000, 3000000, 1000000, 500000); /* nothing is left: no negative time, nor more than there is */
    make();
    ck_assert_double_eq(model.rest.others_least, 0);
    ck_assert_double_eq_tol(model.rest.computing_most, 5000000 - 1536000, 1);
    ck_assert_double_eq_tol(model.rest.queued_most, 5000000 - 1536000 - 3000000, 1);
}

TEST(cpu_time_beyond_the_time_outside_of_calls_was_within_them) {
    add_calls("READ", 10, 1000); /* 1.536 ms */
    set_times(10000000, 8464000, 1000000, 0);
    make();
    ck_assert_double_eq_tol(model.rest.within_least, 0.98 * 9464000 - 8464000, 1); /* others may have had 2 % */
    set_times(10000000, 7464000, 1000000, 0);
    make();
    ck_assert_double_eq(model.rest.within_least, 0);
}

TEST(beside_the_calls_of_several_the_time_cannot_be_divided) {
    add_calls("READ", 10, 1000);
    set_times(10000000, 3000000, 1000000, 0);
    profile.has_queue = false;
    make();
    ck_assert_int_eq(model.rest.kind, ANSWER_REST_SEVERAL);
    ck_assert_double_eq_tol(model.rest.cpu, 4000000, 1);
    ck_assert_double_eq_tol(model.rest.idle_least, 10e6 - 1.536e6 - 4e6, 1); /* whatever was at the same time */
    ck_assert_double_eq(model.rest.within_least, 0);
    set_times(1000000, 3000000, 1000000, 0); /* more time in calls than has elapsed */
    make();
    ck_assert_int_eq(model.rest.kind, ANSWER_REST_SEVERAL);
    ck_assert_double_eq(model.rest.idle_least, 0);
    profile.has_cpu = false;
    make();
    ck_assert_int_eq(model.rest.kind, ANSWER_REST_UNKNOWN);
}

TEST(waiting_for_locks_is_a_number_of_its_own) {
    add_calls("READ", 10, 1000);
    make();
    ck_assert_double_eq(model.lock_cycles, 0);
    add_calls("LOCK", 20, 1);
    add_calls("FLOCK", 20, 1);
    make();
    ck_assert_double_eq_tol(model.lock_cycles, 2 * 1.5 * 1048576, 2);
}

/* ---- What a mount adds ---- */

static struct aggstats_label fs_layer = {(char[]){"layer"}, (char[]){"fs"}};

TEST(what_programs_waited_beyond_the_operations_is_what_fuse_adds_at_most) {
    profile.labels = &fs_layer;
    profile.label_count = 1;
    add_calls("LOOKUP", 10, 1000); /* 1.536 ms */
    make();
    ck_assert(model.fuse.is_between && !model.fuse.is_known);
    profile.has_program = true;
    profile.program_ns = 5000000;
    make();
    ck_assert(model.fuse.is_known);
    ck_assert_double_eq_tol(model.fuse.added_most, 5000000 - 1536000, 1);
    add_calls("READ", 10, 1000); /* the kernel reads ahead: perhaps nobody has waited for it */
    make();
    ck_assert_double_eq_tol(model.fuse.added_most, 5000000 - 1536000, 1);
    profile.program_ns = 1000000; /* less than the operations took: no negative time */
    make();
    ck_assert_double_eq(model.fuse.added_most, 0);
    profile.label_count = 0;
    make();
    ck_assert(!model.fuse.is_between);
}

TEST(locks_that_no_operation_has_are_not_fuse) {
    profile.labels = &fs_layer;
    profile.label_count = 1;
    add_calls("LOOKUP", 10, 1000);
    profile.has_program = true;
    profile.program_ns = 5000000;
    profile.locking_ns = 2000000;
    make();
    ck_assert_double_eq_tol(model.fuse.hidden_lock_cycles, 2000000, 1);
    ck_assert_double_eq_tol(model.fuse.added_most, 5000000 - 2000000 - 1536000, 1);
    add_calls("SETLKW", 20, 1); /* the mount forwards them */
    make();
    ck_assert_double_eq(model.fuse.hidden_lock_cycles, 0);
}

TEST(looks_that_saw_nothing_tell_nothing_of_short_calls) {
    add_calls("READ", 10, 1000);
    profile.has_elapsed = true;
    profile.elapsed_cycles = 1000000;
    profile.busy = (struct aggstats_busy){.looks = 10};
    make();
    ck_assert(!model.has_busy);
}

/* ---- Peaks ---- */

TEST(peaks_are_in_the_order_of_their_cost) {
    add_calls("READ", 8, 1000);  /* 384 us in all */
    add_calls("READ", 20, 10);   /* 15.7 ms */
    add_calls("FSYNC", 18, 100); /* 39.3 ms */
    make();
    ck_assert_uint_eq(model.peak_count, 3);
    ck_assert_str_eq(model.peaks[0].op->name, "FSYNC");
    ck_assert_str_eq(model.peaks[1].op->name, "READ");
    ck_assert_uint_eq(model.peaks[1].peak.calls, 10);
    ck_assert_uint_eq(model.peaks[2].peak.calls, 1000);
    ck_assert_double_eq_tol(model.peaks[0].cost_share, 39321.6 / (39321.6 + 15728.6 + 384), 0.001);
    ck_assert_double_eq_tol(model.peaks[0].peak.p50_cycles, exp2(18.5), 20000);
}

TEST(of_many_peaks_the_five_most_expensive_are_told) {
    static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G"};
    for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
        add_calls(names[i], 10, 100 + (i * 5) % 7);
    make();
    ck_assert_uint_eq(model.peak_count, ANSWER_PEAKS_MAX);
    for (size_t i = 0; i < model.peak_count; i++)
        ck_assert_uint_eq(model.peaks[i].peak.calls, 106 - i);
}

TEST(a_fourth_peak_that_costs_nothing_is_not_told) {
    add_calls("A", 10, 1000);
    add_calls("B", 10, 5);
    add_calls("C", 10, 4);
    add_calls("D", 10, 3);
    make();
    ck_assert_uint_eq(model.peak_count, 3);
}

TEST(calls_that_only_the_kernel_makes_are_no_peaks) {
    add_calls("WRITE", 10, 100);
    add_calls("GETXATTR", 20, 100);
    ops[1].failures[aggstats_failure_of_name("ENODATA")] = 96;
    make();
    ck_assert_uint_eq(model.peak_count, 1);
    ck_assert_str_eq(model.peaks[0].op->name, "WRITE");
    ops[1].failures[aggstats_failure_of_name("ENODATA")] = 90; /* programs ask, too */
    make();
    ck_assert_uint_eq(model.peak_count, 2);
    ops[1].failures[aggstats_failure_of_name("ENODATA")] = 100;
    ops[0].calls = 99; /* less is written than the kernel would ask for */
    make();
    ck_assert_uint_eq(model.peak_count, 2);
}

TEST(p50_does_not_explain_a_peak_with_a_long_tail) {
    add_calls("FSYNC", 22, 32);
    add_calls("FSYNC", 23, 4);
    make();
    ck_assert_uint_eq(model.peak_count, 1);
    ck_assert(!model.peaks[0].is_uneven);
    for (unsigned bucket = 24; bucket < 28; bucket++)
        add_calls("FSYNC", bucket, 2);
    make();
    ck_assert_uint_eq(model.peak_count, 1);
    ck_assert(model.peaks[0].is_uneven);
    ck_assert(!model.peaks[0].is_longest_exact);
    ck_assert_double_eq(model.peaks[0].longest_cycles, 0x1p28); /* no call of its last bucket took so long */
    ops[0].longest_cycles = 160000000;
    make();
    ck_assert(model.peaks[0].is_longest_exact);
    ck_assert_double_eq(model.peaks[0].longest_cycles, 160000000);
}

TEST(the_longest_call_is_in_the_last_peak_of_an_operation) {
    add_calls("LOCK", 11, 49);
    add_calls("LOCK", 21, 47);
    ops[0].longest_cycles = 0x3p20;
    make();
    ck_assert_uint_eq(model.peak_count, 2);
    ck_assert_uint_eq(model.peaks[0].peak.calls, 47);
    ck_assert(model.peaks[0].op_calls == 96);
    ck_assert(model.peaks[0].is_longest_exact);
    ck_assert(!model.peaks[1].is_longest_exact);
    ck_assert_double_eq(model.peaks[1].longest_cycles, 0x1p12);
}

TEST(a_profile_without_calls_has_no_peaks) {
    make();
    ck_assert_uint_eq(model.peak_count, 0);
    ck_assert_uint_eq(model.sum.calls, 0);
}

/* ---- Causes ---- */

TEST(peaks_have_the_cause_that_the_rule_for_all_pages_gives_them) {
    const struct characteristic time = {.kind = CHARACTERISTIC_DEVICE_READ, .ns = {98304, 98304, 98304}};
    add_calls("READ", 16, 100);
    answer_model_make(&profile, &time, 1, &model);
    ck_assert_uint_eq(model.peak_count, 1);
    ck_assert_int_eq(model.peaks[0].reason.cause, PEAK_CAUSE_DEVICE_READ);
    make();
    ck_assert_int_eq(model.peaks[0].reason.cause, PEAK_CAUSE_NOT_KNOWN);
}

/* ---- Bytes and failures ---- */

TEST(bytes_have_a_rate_of_the_elapsed_time_and_one_of_the_calls) {
    add_calls("READ", 10, 1000); /* 1.536 ms */
    ops[0].moved_bytes = 3072;
    make();
    ck_assert_uint_eq(model.transfer_count, 1);
    ck_assert_double_eq(model.transfers[0].per_elapsed_second, 0);
    ck_assert_double_eq_tol(model.transfers[0].per_call_second, 2e6, 1);
    profile.has_elapsed = true;
    profile.elapsed_cycles = 3072000;
    make();
    ck_assert_double_eq_tol(model.transfers[0].per_elapsed_second, 1e6, 1);
}

TEST(what_programs_ask_for_is_no_failure) {
    add_calls("LOOKUP", 10, 100);
    add_calls("GETXATTR", 10, 100);
    ops[0].failures[aggstats_failure_of_name("ENOENT")] = 90;
    ops[0].failures[aggstats_failure_of_name("EACCES")] = 1;
    ops[1].failures[aggstats_failure_of_name("ENODATA")] = 80;
    ops[1].failures[aggstats_failure_of_name("ENOENT")] = 2;
    make();
    ck_assert_uint_eq(model.failure_count, 2);
    ck_assert_uint_eq(model.failed_calls, 3);
    ck_assert_str_eq(model.failures[0].op->name, "GETXATTR");
    ck_assert_uint_eq(model.failures[0].calls, 2);
    ck_assert_str_eq(aggstats_failure_name(model.failures[1].failure), "EACCES");
}

TEST(searches_for_files_are_behind_failures) {
    const unsigned none = aggstats_failure_of_name("ENOENT");
    add_calls("STAT", 10, 100);
    add_calls("UNLINK", 10, 100);
    ops[0].failures[none] = 90;
    ops[1].failures[none] = 2; /* a program that removes a file does not search for it */
    make();
    ck_assert_uint_eq(model.failure_count, 2);
    ck_assert_uint_eq(model.failed_calls, 92);
    ck_assert_str_eq(model.failures[0].op->name, "UNLINK");
    ck_assert(!model.failures[0].is_search);
    ck_assert(model.failures[1].is_search);
    ops[0].failures[aggstats_failure_of_name("EACCES")] = 1;
    make();
    ck_assert_uint_eq(model.failures[0].calls, 2);
    ck_assert_uint_eq(model.failures[1].calls, 1);
    ck_assert(!model.failures[1].is_search);
    ck_assert(model.failures[2].is_search);
}

TEST(what_is_not_told_has_not_happened_only_if_outcomes_are_told) {
    add_calls("LOOKUP", 10, 100);
    make();
    ck_assert(!model.knows_outcomes); /* counts alone */
    ops[0].longest_cycles = 1100;
    make();
    ck_assert(model.knows_outcomes);
    ck_assert_uint_eq(model.asked_for, 0);
    ops[0].longest_cycles = 0;
    ops[0].failures[aggstats_failure_of_name("ENOENT")] = 7;
    make();
    ck_assert(model.knows_outcomes);
    ck_assert_uint_eq(model.asked_for, 7);
    ck_assert_uint_eq(model.failure_count, 0);
}

TEST(of_many_failures_the_commonest_are_told_and_all_counted) {
    add_calls("WRITE", 10, 100);
    for (unsigned failure = 0; failure < 8; failure++)
        ops[0].failures[failure] = failure + 1;
    make();
    ck_assert_uint_eq(model.failure_count, ANSWER_FAILURES_MAX);
    ck_assert_uint_eq(model.failures[0].calls, 8);
    ck_assert_uint_eq(model.failures[ANSWER_FAILURES_MAX - 1].calls, 8 - ANSWER_FAILURES_MAX + 1);
    ck_assert_uint_eq(model.failed_calls, 36);
}

TEST(of_calls_in_flight_the_oldest_is_told) {
    struct aggstats_call calls[] = {{.op = "READ", .latency_cycles = 5}, {.op = "FSYNC", .latency_cycles = 9}};
    make();
    ck_assert_ptr_null(model.oldest);
    profile.in_flight = calls;
    profile.in_flight_count = ARRAY_SIZE(calls);
    make();
    ck_assert_ptr_eq(model.oldest, &calls[1]);
}

/* ---- Where peaks are ---- */

static struct histogram place_histograms[8];
static struct aggstats_group places[8];

/* One more group, which has so many calls of READ. */
static void add_place(enum aggstats_grouping grouping, const char *name, unsigned bucket, uint64_t calls) {
    size_t i = profile.group_count++;
    ck_assert_uint_lt(i, ARRAY_SIZE(places));
    histogram_init(&place_histograms[i]);
    histogram_add(&place_histograms[i], bucket, calls, 1);
    places[i] = (struct aggstats_group){
        .grouping = grouping,
        .who = strcmp(name, "other") == 0 ? AGGSTATS_WHO_OTHER : AGGSTATS_WHO_ID,
        .profile = {.resolution = 1, .ops = &place_histograms[i].op, .op_count = 1},
    };
    snprintf(places[i].name, sizeof(places[i].name), "%s", name);
    profile.groups = places;
    profile.groupings |= 1U << grouping;
}

static const char *place_of(size_t peak) {
    make();
    ck_assert_uint_gt(model.peak_count, peak);
    return model.peaks[peak].place ? model.peaks[peak].place->name : "";
}

TEST(file_with_half_of_a_peak_is_told) {
    add_calls("READ", 10, 1000);
    add_calls("READ", 20, 100);
    add_place(AGGSTATS_BY_FILE, "/fast", 10, 1000);
    add_place(AGGSTATS_BY_FILE, "/slow", 20, 50);
    ck_assert_str_eq(place_of(0), "/slow");
    ck_assert_str_eq(place_of(1), "/fast");
}

TEST(file_with_less_than_half_of_a_peak_is_not_told_whatever_it_has_missed) {
    add_calls("READ", 10, 1000);
    add_place(AGGSTATS_BY_FILE, "/file", 10, 499);
    places[0].missed_cycles_max = UINT64_MAX;
    ck_assert_str_eq(place_of(0), "");
}

TEST(directory_is_told_where_no_file_is) {
    add_calls("READ", 10, 1000);
    add_place(AGGSTATS_BY_DIRECTORY, "/directory", 10, 900);
    add_place(AGGSTATS_BY_FILE, "/directory/file", 10, 400);
    ck_assert_str_eq(place_of(0), "/directory");
    add_place(AGGSTATS_BY_FILE, "/directory/other file", 10, 500);
    ck_assert_str_eq(place_of(0), "/directory/other file");
}

static void sync_in_all_places(void) {
    for (size_t i = 0; i < profile.group_count; i++)
        snprintf(place_histograms[i].op.name, sizeof(place_histograms[i].op.name), "FSYNC");
}

/* It is a file that is synced. */
TEST(a_sync_is_on_a_directory_only_if_its_files_are_known_and_several) {
    add_calls("FSYNC", 10, 1000);
    add_place(AGGSTATS_BY_DIRECTORY, "/", 10, 1000);
    sync_in_all_places();
    ck_assert_str_eq(place_of(0), "");
    ck_assert(model.peaks[0].is_file_unknown);
    add_place(AGGSTATS_BY_FILE, "other", 10, 600);
    add_place(AGGSTATS_BY_FILE, "/a", 10, 400);
    sync_in_all_places();
    ck_assert_str_eq(place_of(0), "");
    ck_assert(model.peaks[0].is_file_unknown);
    add_place(AGGSTATS_BY_FILE, "/b", 10, 200);
    sync_in_all_places();
    ck_assert_str_eq(place_of(0), "/");
    ck_assert(!model.peaks[0].is_file_unknown);
    snprintf(places[1].name, sizeof(places[1].name), "/journal");
    places[1].who = AGGSTATS_WHO_ID;
    ck_assert_str_eq(place_of(0), "/journal");
    ck_assert(!model.peaks[0].is_file_unknown);
}

TEST(others_and_what_has_no_name_are_no_place) {
    add_calls("READ", 10, 1000);
    add_place(AGGSTATS_BY_FILE, "other", 10, 1000);
    add_place(AGGSTATS_BY_FILE, "(name forgotten)", 10, 1000);
    add_place(AGGSTATS_BY_CGROUP, "/system.slice", 10, 1000);
    ck_assert_str_eq(place_of(0), "");
}

/* ---- The directory that many are in ---- */

/* Calls of READ of which `calls` are in each of five directories. */
static void scatter(uint64_t all, uint64_t calls) {
    static const char *const names[] = {"/var/tmp/t/a", "/var/tmp/t/b", "/var/tmp/t/b/c", "/var/tmp/t", "/var/tmp/t2"};
    add_calls("READ", 10, all);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        add_place(AGGSTATS_BY_DIRECTORY, names[i], 10, calls);
}

static const char *below_in(const struct groups_prefix *below) {
    static char text[AGGSTATS_GROUP_NAME_SIZE];
    snprintf(text, sizeof(text), "%.*s", (int)below->length, below->path ? below->path : "");
    return text;
}

static const char *below(void) {
    make();
    return below_in(&model.below);
}

/* Four of the five are below it: 80 %. */
TEST(time_that_scatters_is_below_the_deepest_directory_with_four_fifths) {
    scatter(1000, 200);
    ck_assert_str_eq(below(), "/var/tmp/t");
    ck_assert_double_eq_tol(model.below.weight, 800 * 1536, 1);
    ck_assert_str_eq(below_in(&model.peaks[0].below), "/var/tmp/t");
    ck_assert_ptr_null(model.peaks[0].place);
}

TEST(with_less_it_is_below_the_directory_above) {
    scatter(1001, 200);
    ck_assert_str_eq(below(), "/var/tmp");
    ck_assert_str_eq(below_in(&model.peaks[0].below), "/var/tmp");
}

TEST(it_is_below_none_if_most_directories_are_not_known) {
    scatter(1251, 200);
    ck_assert_str_eq(below(), "");
    ck_assert_str_eq(below_in(&model.peaks[0].below), "");
}

TEST(the_root_and_the_profiles_own_directory_say_nothing) {
    struct aggstats_label lower = {(char[]){"lower"}, (char[]){"/var/tmp/t"}};
    scatter(1000, 200);
    profile.labels = &lower;
    profile.label_count = 1;
    ck_assert_str_eq(below(), "");
    ck_assert_str_eq(below_in(&model.peaks[0].below), "");
    lower.value = (char[]){"/var/tmp/t/a"};
    ck_assert_str_eq(below(), "");
    lower.value = (char[]){"/var/tmp"};
    ck_assert_str_eq(below(), "/var/tmp/t");
    lower.value = (char[]){"/var/tmp/t2"};
    ck_assert_str_eq(below(), "/var/tmp/t");
    profile.label_count = 0;
    for (size_t i = 0; i < profile.group_count; i++)
        snprintf(places[i].name, sizeof(places[i].name), "/%zu", i);
    ck_assert_str_eq(below(), "");
}

TEST(a_few_directories_say_more_than_the_one_that_they_are_in) {
    add_calls("READ", 10, 1000);
    add_place(AGGSTATS_BY_DIRECTORY, "/t/a", 10, 499);
    add_place(AGGSTATS_BY_DIRECTORY, "/t/b", 10, 150);
    add_place(AGGSTATS_BY_DIRECTORY, "/t/c", 10, 150);
    add_place(AGGSTATS_BY_DIRECTORY, "/t/d", 10, 150);
    ck_assert_str_eq(below(), "/t");
    add_place(AGGSTATS_BY_DIRECTORY, "/t/e", 10, 151); /* 499 + 151 + 150: four fifths */
    ck_assert_str_eq(below(), "");
    ck_assert_str_eq(below_in(&model.peaks[0].below), "/t"); /* a column has room for one */
}

TEST(one_directory_with_half_of_the_time_is_the_answer) {
    scatter(1000, 200);
    add_place(AGGSTATS_BY_DIRECTORY, "/var/tmp/t/f", 10, 500);
    ck_assert_str_eq(below(), "");
    ck_assert_str_eq(place_of(0), "/var/tmp/t/f");
    ck_assert_str_eq(below_in(&model.peaks[0].below), "");
}

/* Two files of one name are in a directory, and are none. */
TEST(files_are_below_their_directory) {
    add_calls("READ", 10, 1000);
    add_place(AGGSTATS_BY_FILE, "/t/log", 10, 450);
    add_place(AGGSTATS_BY_FILE, "/t/log", 10, 450);
    ck_assert_str_eq(below(), "");
    ck_assert_str_eq(below_in(&model.peaks[0].below), "/t");
}

/* Each peak has its own calls. */
TEST(another_peak_is_below_another_directory) {
    scatter(1000, 200);
    add_calls("READ", 20, 100);
    add_place(AGGSTATS_BY_DIRECTORY, "/a/b/c", 20, 49);
    add_place(AGGSTATS_BY_DIRECTORY, "/a/b/d", 20, 49);
    make();
    ck_assert_str_eq(below_in(&model.peaks[0].below), "/a/b");
    ck_assert_str_eq(below_in(&model.peaks[1].below), "/var/tmp/t");
}

/* ---- What peaks waited for ---- */

/* Half of all of its calls, and not of those that were looked at. */
TEST(what_half_of_a_peak_waited_for_is_told) {
    uint64_t buckets[64] = {[24] = 49};
    struct aggstats_cause cause = {.op = "FSYNC", .why.words = "waiting for the disk", .calls = 50, .buckets = buckets};
    profile.causes = &cause;
    profile.cause_count = 1;
    add_calls("FSYNC", 24, 100);
    add_calls("READ", 10, 100);
    make();
    ck_assert_ptr_null(model.peaks[0].wait);
    buckets[24] = 50;
    make();
    ck_assert_ptr_eq(model.peaks[0].wait, &cause);
    ck_assert_ptr_null(model.peaks[1].wait);
}
