/* The estimate of preemption.h, op by op. */
#include "preemption_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base.h"
#include "calibration.h"
#include "preemption.h"
#include "screen.h"
#include "units.h"

struct report {
    const char *name;
    const struct aggstats_profile *profile;
    struct preemption_terms terms;
    struct screen screen;
    struct units units;
};

/* ---- Quantum ------------------------------------------------------------------------------------ */

/* 0: none, which has been reported. */
static double find_quantum(const char *name, const struct aggstats_profile *profile,
                           const struct preemption_options *options, bool *ret_calibrated) {
    struct calibration calibration;
    *ret_calibrated = false;
    if (profile->clock.frequency_hz == 0) {
        complain("cannot estimate preemption in %s: it does not tell its clock's rate", name);
        return 0;
    }
    if (options->quantum_seconds > 0)
        return options->quantum_seconds;
    calibration_for_profile(profile, &calibration);
    const struct characteristic *quantum = calibration_time(&calibration, CHARACTERISTIC_QUANTUM);
    double seconds = quantum ? quantum->ns.median / 1e9 : 0;
    calibration_finish(&calibration);
    if (seconds == 0)
        complain("cannot estimate preemption in %s: the scheduler's quantum of its host is not known; run 'osprof "
                 "calibrate' there, or give --quantum",
                 name);
    *ret_calibrated = true;
    return seconds;
}

/* ---- Words -------------------------------------------------------------------------------------- */

static void format_expected(double calls, char ret_text[UNITS_TEXT_SIZE]) {
    if (calls < 10)
        snprintf(ret_text, UNITS_TEXT_SIZE, calls < 0.01 ? "%.1g" : "%.2f", calls);
    else
        units_format_count((uint64_t)llround(calls), ret_text);
}

static void print_heading(const struct report *report, bool calibrated) {
    FILE *stream = report->screen.stream;
    fprintf(stream, "%s: preemption, if %u threads take turns of %s%s on a CPU", report->name, report->terms.threads,
            units_cycles(&report->units, report->terms.quantum_cycles).text, calibrated ? " (calibrated)" : "");
    if (report->terms.yield > 0)
        fprintf(stream, " and %.1f %% of calls wait", 100 * report->terms.yield);
    fputs(":\n", stream);
}

/* A bucket with preempted calls. */
static void print_bucket(const struct report *report, uint64_t calls, double expected, unsigned bucket) {
    FILE *stream = report->screen.stream;
    char arriving[UNITS_TEXT_SIZE];
    const struct units_text to =
        units_cycles(&report->units, aggstats_bucket_upper(bucket, report->profile->resolution));
    const struct units_text count = units_count(calls);
    format_expected(expected, arriving);
    fprintf(stream, "    %s .. %s: up to %s expected, ",
            units_cycles(&report->units, aggstats_bucket_lower(bucket, report->profile->resolution)).text, to.text,
            arriving);
    if (calls == 0)
        fputs("none is there: fewer were preempted\n", stream);
    else if (expected >= (double)calls)
        fprintf(stream, "%s there: %s\n", count.text,
                calls == 1 ? "it may be a preempted one" : "all may be preempted ones");
    else
        fprintf(stream, "%s there: %.1f %% may be preempted ones\n", count.text, 100 * expected / (double)calls);
}

static void print_op(const struct report *report, const struct aggstats_op_profile *op) {
    FILE *stream = report->screen.stream;
    struct preemption_estimate estimate;
    char expected[UNITS_TEXT_SIZE];
    char lower[UNITS_TEXT_SIZE];
    char upper[UNITS_TEXT_SIZE];
    preemption_estimate(&report->terms, report->profile, op, &estimate);
    format_expected(estimate.calls.expected, expected);
    format_expected(estimate.calls.lower, lower);
    format_expected(estimate.calls.upper, upper);
    const struct units_text calls = units_count(op->calls);
    if (estimate.calls.expected < 1) {
        fprintf(stream, "  %s: negligible: %s of %s calls expected to be preempted\n", op->name, expected, calls.text);
        return;
    }
    fprintf(stream, "  %s: up to %s (%s to %s) of %s calls expected to be preempted\n", op->name, expected, lower,
            upper, calls.text);
    for (unsigned bucket = 0; bucket < 64 * report->profile->resolution; bucket++)
        if (estimate.arriving[bucket] >= 1)
            print_bucket(report, op->buckets[bucket], estimate.arriving[bucket], bucket);
}

enum status preemption_report_print(const char *name, const struct aggstats_profile *profile,
                                    const struct preemption_options *options) {
    bool calibrated;
    double quantum_seconds = find_quantum(name, profile, options, &calibrated);
    if (quantum_seconds == 0)
        return STATUS_TROUBLE;
    struct report report = {.name = name, .profile = profile, .screen = screen_of_stdout(0, false)};
    report.units = (struct units){.frequency_hz = profile->clock.frequency_hz, .ascii = report.screen.ascii};
    report.terms =
        preemption_terms_of(profile, quantum_seconds * (double)profile->clock.frequency_hz, options->threads);
    print_heading(&report, calibrated);
    for (size_t i = 0; i < profile->op_count; i++)
        print_op(&report, &profile->ops[i]);
    return STATUS_OK;
}
