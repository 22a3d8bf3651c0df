/* What bpftrace prints while it traces: each call counts once, however often and in what pieces it is printed. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "run_suite.h"
#include "trace_counts.h"

#define HISTOGRAMS(text) "{\"type\": \"hist\", \"data\": {\"@ns\": {" text "}}}\n"
#define TOTALS(text) "{\"type\": \"map\", \"data\": {\"@ns_total\": {" text "}}}\n"
#define MARK "{\"type\": \"printf\", \"data\": \"1\\n\"}\n"

static const char script[] = "BEGIN { @name[1] = \"LOOKUP\";\n@name[15] = \"READ\"; @name[53] = \"READ\";\n}\n"
                             "probe { @ns[@name[$op]] = hist($ns); }";

static struct trace_counts counts;
static struct aggstats_recorder *recorder;
static int ends[2];
static struct aggstats_parse_error why;

static void set_up(void) {
    ck_assert_int_eq(trace_counts_init(&counts, script), 0);
    const char *const names[] = {counts.names[0], counts.names[1]};
    const struct aggstats_recorder_options options = {
        .op_names = names,
        .op_count = counts.op_count,
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1000000000}};
    ck_assert_uint_eq(counts.op_count, 2);
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(trace_counts_start(&counts, recorder), 0);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
}

static void tear_down(void) {
    trace_counts_finish(&counts);
    aggstats_recorder_destroy(recorder);
    close_fd(&ends[0]);
    close_fd(&ends[1]);
}

static int print(const char *text) {
    ck_assert_int_eq(write_all(ends[1], text, strlen(text)), 0);
    return trace_counts_read(&counts, ends[0], &why);
}

static int end_output(void) {
    close_fd(&ends[1]);
    return trace_counts_read(&counts, ends[0], &why);
}

/* calls, buckets[10] and buckets[12], and the total of READ */
static void check_read(uint64_t calls, uint64_t of_10, uint64_t of_12, uint64_t total) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    const struct aggstats_op_profile *read = aggstats_profile_op(&profile, "READ");
    ck_assert_uint_eq(read ? read->calls : 0, calls);
    ck_assert_uint_eq(read ? read->buckets[10] : 0, of_10);
    ck_assert_uint_eq(read ? read->buckets[12] : 0, of_12);
    ck_assert_uint_eq(read ? read->total_cycles : 0, total);
    aggstats_profile_finish(&profile);
}

START_TEST(operations_are_those_that_the_script_names) {
    ck_assert_str_eq(counts.names[0], "LOOKUP");
    ck_assert_str_eq(counts.names[1], "READ");
}
END_TEST

START_TEST(what_is_printed_again_counts_once) {
    static const char three[] =
        HISTOGRAMS("\"READ\": [{\"min\": 1024, \"max\": 2047, \"count\": 3}]") TOTALS("\"READ\": 3300") MARK;
    static const char five[] = HISTOGRAMS(
        "\"READ\": [{\"min\": 1024, \"max\": 2047, \"count\": 3}, {\"min\": 4096, \"max\": 8191, \"count\": 2}]")
        TOTALS("\"READ\": 13300") MARK;
    ck_assert_int_eq(print(MARK), 1);
    check_read(0, 0, 0, 0);
    ck_assert_int_eq(print(three), 1);
    ck_assert_int_eq(print(three), 1);
    check_read(3, 3, 0, 3300);
    ck_assert_int_eq(print(five), 1);
    check_read(5, 3, 2, 13300);
    ck_assert_int_eq(end_output(), 0);
    check_read(5, 3, 2, 13300);
}
END_TEST

START_TEST(print_counts_when_all_of_it_has_come) {
    ck_assert_int_eq(print(HISTOGRAMS("\"READ\": [{\"min\": 1024, \"max\": 2047, \"count\": 3}]") "{\"type\": "), 1);
    check_read(0, 0, 0, 0);
    ck_assert_int_eq(print("\"map\", \"data\": {\"@ns_total\": {\"READ\": 3300}}}\n"), 1);
    check_read(0, 0, 0, 0);
    ck_assert_int_eq(print(MARK), 1);
    check_read(3, 3, 0, 3300);
}
END_TEST

START_TEST(last_print_needs_no_mark_and_of_two_the_later_counts) {
    ck_assert_int_eq(print(HISTOGRAMS("\"READ\": [{\"min\": 1024, \"max\": 2047, \"count\": 3}]")), 1);
    ck_assert_int_eq(print(HISTOGRAMS("\"READ\": [{\"min\": 1024, \"max\": 2047, \"count\": 4}]")
                               TOTALS("\"READ\": 4400") "{\"type\": \"hist\", \"data\": {\"@queue_ns\": {}}}\n{\"ty"),
                     1);
    ck_assert_int_eq(end_output(), 0);
    check_read(4, 4, 0, 4400);
}
END_TEST

START_TEST(total_that_is_ahead_of_its_calls_counts_with_them) {
    ck_assert_int_eq(
        print(HISTOGRAMS("\"READ\": [{\"min\": 1024, \"max\": 2047, \"count\": 1}]") TOTALS("\"READ\": 6000") MARK), 1);
    check_read(1, 1, 0, 2047);
    ck_assert_int_eq(print(HISTOGRAMS("\"READ\": [{\"min\": 1024, \"max\": 2047, \"count\": 1}, "
                                      "{\"min\": 4096, \"max\": 8191, \"count\": 1}]") TOTALS("\"READ\": 6200") MARK),
                     1);
    check_read(2, 1, 1, 6200);
}
END_TEST

START_TEST(total_that_is_behind_its_calls_is_at_least_what_they_took) {
    ck_assert_int_eq(
        print(HISTOGRAMS("\"READ\": [{\"min\": 4096, \"max\": 8191, \"count\": 2}]") TOTALS("\"READ\": 5000") MARK), 1);
    check_read(2, 0, 2, 8192);
    ck_assert_int_eq(
        print(HISTOGRAMS("\"READ\": [{\"min\": 4096, \"max\": 8191, \"count\": 3}]") TOTALS("\"READ\": 16000") MARK),
        1);
    check_read(3, 0, 3, 16000);
}
END_TEST

/* As bpftrace 0.17 prints its last bucket. */
START_TEST(bucket_without_an_end_has_any_total) {
    ck_assert_int_eq(print(HISTOGRAMS("\"READ\": [{\"min\": -2147483648, \"max\": 0, \"count\": 1}]")
                               TOTALS("\"READ\": 60000000000") MARK),
                     1);
    check_read(1, 0, 0, 60000000000);
}
END_TEST

START_TEST(mark_tells_until_when_calls_are_counted) {
    char mark[128];
    const int64_t before_ns = read_clock_ns(CLOCK_MONOTONIC);
    snprintf(mark, sizeof(mark), "{\"type\": \"printf\", \"data\": \"%lld\\n\"}\n", (long long)before_ns);
    ck_assert_int_eq(print(mark), 1);
    ck_assert_int_eq(counts.counted_ns, before_ns);
    snprintf(mark, sizeof(mark), "{\"type\": \"printf\", \"data\": \"%lld\\n\"}\n",
             (long long)read_clock_ns(CLOCK_BOOTTIME));
    ck_assert_int_eq(print(mark), 1);
    ck_assert_int_ge(counts.counted_ns, before_ns);
    ck_assert_int_le(counts.counted_ns, read_clock_ns(CLOCK_MONOTONIC));
}
END_TEST

START_TEST(mark_tells_whether_the_mount_has_ended) {
    ck_assert_int_eq(print("{\"type\": \"printf\", \"data\": \"1 0\\n\"}\n"), 1);
    ck_assert(!counts.mount_has_ended);
    ck_assert_int_eq(print("{\"type\": \"printf\", \"data\": \"1 1\\n\"}\n"), 1);
    ck_assert(counts.mount_has_ended);
}
END_TEST

START_TEST(print_of_something_else_is_refused) {
    ck_assert_int_eq(print(HISTOGRAMS("\"OTHER\": [{\"min\": 1024, \"max\": 2047, \"count\": 3}]") MARK), -EBADMSG);
    ck_assert_str_eq(why.message, "the histogram OTHER is not one of an operation");
    ck_assert_int_eq(print(HISTOGRAMS("\"READ\": 5") MARK), -EBADMSG);
    ck_assert_int_eq(print(HISTOGRAMS("\"READ\": [{\"min\": 0, \"max\": 9, \"count\": 3}]") MARK), -EBADMSG);
    check_read(0, 0, 0, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("trace_counts");
    TCase *tcase = suite_case(suite, "prints", set_up, tear_down);
    tcase_add_test(tcase, operations_are_those_that_the_script_names);
    tcase_add_test(tcase, what_is_printed_again_counts_once);
    tcase_add_test(tcase, print_counts_when_all_of_it_has_come);
    tcase_add_test(tcase, last_print_needs_no_mark_and_of_two_the_later_counts);
    tcase_add_test(tcase, total_that_is_ahead_of_its_calls_counts_with_them);
    tcase_add_test(tcase, total_that_is_behind_its_calls_is_at_least_what_they_took);
    tcase_add_test(tcase, bucket_without_an_end_has_any_total);
    tcase_add_test(tcase, mark_tells_until_when_calls_are_counted);
    tcase_add_test(tcase, mark_tells_whether_the_mount_has_ended);
    tcase_add_test(tcase, print_of_something_else_is_refused);
    return run_suite(suite);
}
