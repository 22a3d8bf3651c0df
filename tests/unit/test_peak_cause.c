/* Which times are evidence of what a peak's calls waited for. */
#include <check.h>
#include <stdio.h>

#include "base.h"
#include "histograms.h"
#include "peak_cause.h"
#include "run_suite.h"

static struct histogram histogram;
static uint64_t frequency_hz; /* 1 GHz: cycles are nanoseconds */
static struct peak_reason reason;

static void set_up(void) {
    histogram_init(&histogram); /* of READ */
    frequency_hz = 1000000000;
}

static void of_op(const char *name) {
    snprintf(histogram.op.name, sizeof(histogram.op.name), "%s", name);
}

static void add_calls(unsigned bucket, uint64_t calls) {
    histogram_add(&histogram, bucket, calls, 1);
}

/* Of the only peak. */
static enum peak_cause cause_with(const struct characteristic *times, size_t count) {
    const struct peak_times held_against = {1, frequency_hz, times, count};
    struct peak peaks[PEAKS_MAX];
    ck_assert_uint_eq(peaks_find(&histogram.op, 1, peaks), 1);
    reason = peak_reason_of(&histogram.op, &peaks[0], &held_against);
    return reason.cause;
}

static struct characteristic time_of(enum characteristic_kind kind, double ns) {
    return (struct characteristic){.kind = kind, .ns = {ns, ns, ns}};
}

START_TEST(reads_near_the_device_have_read_the_device) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_DEVICE_WRITE, 98304),
                                           time_of(CHARACTERISTIC_DEVICE_READ, 98304)};
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_DEVICE_READ);
    ck_assert_int_eq(cause_with(times, 1), PEAK_CAUSE_NOT_KNOWN); /* a read waits for no write */
    ck_assert_int_eq(cause_with(NULL, 0), PEAK_CAUSE_NOT_KNOWN);
}
END_TEST

START_TEST(a_peak_whose_calls_lie_mostly_elsewhere_is_not_the_device) {
    const struct characteristic time = time_of(CHARACTERISTIC_DEVICE_READ, 98304);
    add_calls(16, 49);
    add_calls(17, 51); /* twice as long: one peak, two reads maybe */
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_NOT_KNOWN);
    add_calls(16, 10);
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_DEVICE_READ);
}
END_TEST

START_TEST(calls_much_faster_than_the_device_were_answered_by_memory) {
    const struct characteristic time = time_of(CHARACTERISTIC_DEVICE_READ, 98304);
    of_op("GETATTR");
    add_calls(13, 90); /* 12.3 us: an eighth */
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_MEMORY);
    add_calls(14, 20); /* a quarter: not sure any more */
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_NOT_KNOWN);
}
END_TEST

START_TEST(a_sync_may_be_a_write_or_a_flush) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_DEVICE_WRITE, 98304),
                                           time_of(CHARACTERISTIC_DEVICE_FLUSH, 98304)};
    of_op("FSYNC");
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_DEVICE_WRITE_OR_FLUSH);
    ck_assert_int_eq(cause_with(times, 1), PEAK_CAUSE_DEVICE_WRITE);
    ck_assert_int_eq(cause_with(times + 1, 1), PEAK_CAUSE_DEVICE_FLUSH);
}
END_TEST

START_TEST(all_ops_may_wait_for_the_network) {
    const struct characteristic time = time_of(CHARACTERISTIC_ROUND_TRIP, 98304);
    of_op("MKDIR");
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_ROUND_TRIP);
}
END_TEST

START_TEST(times_of_the_machine_explain_nothing_by_themselves) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_SLEEP, 98304),
                                           time_of(CHARACTERISTIC_QUANTUM, 98304)};
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_NOT_KNOWN);
}
END_TEST

START_TEST(without_the_rate_of_the_clock_there_are_no_causes) {
    const struct characteristic time = time_of(CHARACTERISTIC_DEVICE_READ, 98304);
    add_calls(16, 100);
    frequency_hz = 0;
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_NOT_KNOWN);
}
END_TEST

START_TEST(the_reason_is_a_time_and_how_many_calls_are_near_it) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_ROUND_TRIP, 9e6),
                                           time_of(CHARACTERISTIC_DEVICE_READ, 98304)};
    add_calls(16, 30);
    add_calls(17, 10);
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_DEVICE_READ);
    ck_assert_ptr_eq(reason.time, &times[1]);
    ck_assert_double_eq_tol(reason.near_part, 0.75, 1e-9);
    ck_assert_str_eq(peak_cause_text(reason.cause, &histogram.op), "one disk read");
}
END_TEST

START_TEST(without_a_cause_the_reason_is_the_time_that_most_calls_are_near) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_ROUND_TRIP, 9e6),
                                           time_of(CHARACTERISTIC_DEVICE_READ, 98304),
                                           time_of(CHARACTERISTIC_SLEEP, 196608)};
    add_calls(16, 10);
    add_calls(17, 30);
    ck_assert_int_eq(cause_with(times, 3), PEAK_CAUSE_NOT_KNOWN);
    ck_assert_ptr_eq(reason.time, &times[1]);
    ck_assert_double_eq_tol(reason.near_part, 0.25, 1e-9);
    ck_assert_str_eq(peak_cause_text(reason.cause, &histogram.op), "");
    ck_assert_int_eq(cause_with(times + 2, 1), PEAK_CAUSE_NOT_KNOWN);
    ck_assert_ptr_null(reason.time);
}
END_TEST

START_TEST(a_sync_that_takes_longer_than_a_flush_has_not_stayed_in_memory) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_DEVICE_READ, 98304),
                                           time_of(CHARACTERISTIC_DEVICE_FLUSH, 3000)};
    add_calls(13, 100); /* 12.3 us: an eighth of a read, four flushes */
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_MEMORY);
    of_op("WRITE");
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_MEMORY);
    of_op("FSYNC");
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_NOT_KNOWN);
    ck_assert_int_eq(cause_with(times, 1), PEAK_CAUSE_MEMORY);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("peak_cause");
    TCase *causes = tcase_create("causes");
    tcase_add_checked_fixture(causes, set_up, NULL);
    tcase_add_test(causes, reads_near_the_device_have_read_the_device);
    tcase_add_test(causes, a_peak_whose_calls_lie_mostly_elsewhere_is_not_the_device);
    tcase_add_test(causes, calls_much_faster_than_the_device_were_answered_by_memory);
    tcase_add_test(causes, a_sync_may_be_a_write_or_a_flush);
    tcase_add_test(causes, all_ops_may_wait_for_the_network);
    tcase_add_test(causes, times_of_the_machine_explain_nothing_by_themselves);
    tcase_add_test(causes, without_the_rate_of_the_clock_there_are_no_causes);
    tcase_add_test(causes, the_reason_is_a_time_and_how_many_calls_are_near_it);
    tcase_add_test(causes, without_a_cause_the_reason_is_the_time_that_most_calls_are_near);
    tcase_add_test(causes, a_sync_that_takes_longer_than_a_flush_has_not_stayed_in_memory);
    suite_add_tcase(suite, causes);
    return run_suite(suite);
}
