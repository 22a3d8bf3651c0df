/* osprof show --check: are a profile's numbers consistent? Every call was counted when it began and its bucket when it ended.
 * So both must agree except for the calls in flight (thesis §5.8), and those that were left and will never end; and the
 * total latency must be possible for the buckets. It also says how far preemption may have moved calls to other buckets
 * (thesis §3.3.1). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "calibration.h"
#include "check_profiles.h"
#include "command.h"
#include "figures.h"
#include "input.h"
#include "preemption.h"
#include "screen.h"
#include "units.h"

#define LAYER_COLUMNS 60

/* Rounding of sums of many doubles. */
#define BOUNDS_TOLERANCE 1e-9L

/* The latency of a call that is just ending may be in the total and not yet in its bucket. So while calls are in flight
 * the total has no upper bound. */
static bool check_total(const char *name, const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                        uint64_t finished) {
    struct figures_bounds bounds = figures_total_bounds(op, profile->resolution);
    long double total = (long double)op->total_cycles;
    bool high_enough = total >= bounds.lower_cycles * (1 - BOUNDS_TOLERANCE);
    bool low_enough = total <= bounds.upper_cycles * (1 + BOUNDS_TOLERANCE) || op->calls > finished;
    if (high_enough && low_enough)
        return true;
    printf("%s: OP_%s: a total of %" PRIu64 " cycles, but its buckets allow %.0Lf to %.0Lf\n", name, op->name,
           op->total_cycles, bounds.lower_cycles, bounds.upper_cycles);
    return false;
}

/* In no bucket do groups of one grouping have more calls than the whole, and each has a total that its buckets allow. */
static bool check_op_of_groups(const char *name, const struct aggstats_profile *profile,
                               enum aggstats_grouping grouping, const struct aggstats_op_profile *whole) {
    uint64_t left[AGGSTATS_BUCKETS_MAX];
    bool consistent = true;
    bool is_contained = true;
    memcpy(left, whole->buckets, 64 * (size_t)profile->resolution * sizeof(*left));
    for (size_t i = 0; i < profile->group_count; i++) {
        if (profile->groups[i].grouping != grouping)
            continue;
        const struct aggstats_op_profile *op = aggstats_profile_op(&profile->groups[i].profile, whole->name);
        for (unsigned bucket = 0; op && bucket < 64 * profile->resolution; bucket++)
            is_contained &= !__builtin_sub_overflow(left[bucket], op->buckets[bucket], &left[bucket]);
        consistent &= !op || check_total(name, profile, op, op->calls);
    }
    if (!is_contained)
        printf("%s: OP_%s: more calls in a bucket of all %ss together than in the whole\n", name, whole->name,
               aggstats_grouping_name(grouping));
    return consistent && is_contained;
}

static bool is_consistent(const char *name, const struct aggstats_profile *profile) {
    wide_count in_lowest = 0;
    char text[WIDE_COUNT_TEXT_SIZE];
    for (size_t i = 0; i < profile->op_count; i++)
        in_lowest += profile->ops[i].buckets[0];
    bool consistent = profile->clamped <= in_lowest; /* calls with negative differences of the clock are in bucket 0 */
    if (!consistent)
        printf("%s: %" PRIu64 " clamped calls, but %s in bucket 0\n", name, profile->clamped,
               wide_count_format(in_lowest, text));
    /* Calls in flight of an op that was never called: checking ops would miss them. */
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        const char *op_name = profile->in_flight[i].op;
        if (aggstats_profile_op(profile, op_name))
            continue;
        printf("%s: OP_%s: a call in flight, but none was counted\n", name, op_name);
        consistent = false;
    }
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        const uint64_t finished = figures_finished(op, profile->resolution);
        const uint64_t listed = figures_in_flight(profile, op->name);
        if (op->calls - finished - op->left_calls != listed) {
            printf("%s: OP_%s: %" PRIu64 " calls, but %" PRIu64 " in buckets and %" PRIu64 " in flight", name, op->name,
                   op->calls, finished, listed);
            if (op->left_calls > 0)
                printf(", %" PRIu64 " left", op->left_calls);
            putchar('\n');
            consistent = false;
        }
        consistent &= check_total(name, profile, op, finished);
    }
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        for (size_t i = 0; profile->groupings & 1U << grouping && i < profile->op_count; i++)
            consistent &= check_op_of_groups(name, profile, (enum aggstats_grouping)grouping, &profile->ops[i]);
    return consistent;
}

/* ---- Preemption --------------------------------------------------------------------------------- */

static struct units_text expected_text(double calls) {
    struct units_text text;
    if (calls >= 10)
        return units_count((uint64_t)llround(calls));
    snprintf(text.text, sizeof(text.text), calls < 0.01 ? "%.1g" : "%.2f", calls);
    return text;
}

/* An op's sum, and a line for each bucket that may have preempted calls. */
static void print_preempted(const struct preemption_terms *terms, const struct aggstats_profile *profile,
                            const struct aggstats_op_profile *op, const struct units *units) {
    struct preemption_estimate estimate;
    preemption_estimate(terms, profile, op, &estimate);
    const struct units_text expected = expected_text(estimate.calls.expected);
    if (estimate.calls.expected < 1) {
        printf("  %s: negligible: %s of %s calls expected to be preempted\n", op->name, expected.text,
               units_count(op->calls).text);
        return;
    }
    printf("  %s: up to %s (%s to %s) of %s calls expected to be preempted\n", op->name, expected.text,
           expected_text(estimate.calls.lower).text, expected_text(estimate.calls.upper).text,
           units_count(op->calls).text);
    for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++) {
        const uint64_t calls = op->buckets[bucket];
        const double arriving = estimate.arriving[bucket];
        if (arriving < 1)
            continue;
        printf("    %s .. %s: up to %s expected, ",
               units_cycles(units, aggstats_bucket_lower(bucket, profile->resolution)).text,
               units_cycles(units, aggstats_bucket_upper(bucket, profile->resolution)).text,
               expected_text(arriving).text);
        if (calls == 0)
            puts("none is there: fewer were preempted");
        else if (arriving >= (double)calls)
            printf("%s there: %s\n", units_count(calls).text,
                   calls == 1 ? "it may be a preempted one" : "all may be preempted ones");
        else
            printf("%s there: %.1f %% may be preempted ones\n", units_count(calls).text,
                   100 * arriving / (double)calls);
    }
}

/* Prints the estimate of preemption.h, op by op. Returns STATUS_TROUBLE, and complains, if data for it is missing */
static enum status print_preemption(const struct check_options *options, const char *name,
                                    const struct aggstats_profile *profile) {
    const uint64_t frequency_hz = profile->clock.frequency_hz;
    const struct units units = {.frequency_hz = frequency_hz, .ascii = screen_of_stdout().ascii};
    double quantum_seconds = (double)options->quantum_ns / 1e9;
    if (frequency_hz == 0) {
        complain("cannot estimate preemption in %s: it does not tell its clock's rate", name);
        return STATUS_TROUBLE;
    }
    if (options->quantum_ns == 0) {
        struct calibration calibration;
        calibration_for_profile(profile, &calibration);
        const struct characteristic *quantum = calibration_time(&calibration, CHARACTERISTIC_QUANTUM);
        quantum_seconds = quantum ? quantum->ns.median / 1e9 : 0;
        calibration_finish(&calibration);
    }
    if (quantum_seconds == 0) {
        complain("cannot estimate preemption in %s: the scheduler's quantum of its host is not known; run 'osprof "
                 "doctor --calibrate' there, or give --quantum",
                 name);
        return STATUS_TROUBLE;
    }
    const struct preemption_terms terms =
        preemption_terms_of(profile, quantum_seconds * (double)frequency_hz, options->threads);
    printf("%s: preemption, if %u threads take turns of %s%s on a CPU", name, terms.threads,
           units_cycles(&units, terms.quantum_cycles).text, options->quantum_ns > 0 ? "" : " (calibrated)");
    if (terms.yield > 0)
        printf(" and %.1f %% of calls wait", 100 * terms.yield);
    puts(":");
    for (size_t i = 0; i < profile->op_count; i++)
        print_preempted(&terms, profile, &profile->ops[i], &units);
    return STATUS_OK;
}

/* ---- All of it ---------------------------------------------------------------------------------- */

/* Numbers need not agree exactly if they were taken while calls began and ended, or after memory ran out. Reading has
 * already checked what they must satisfy: no more calls in buckets than were made. */
static enum status check_profile(const struct check_options *options, const char *name, const struct input *input,
                                 const struct aggstats_profile *profile) {
    const bool is_approximate = input->counting || profile->incomplete;
    const wide_count left = figures_left(profile);
    if (!is_approximate && !is_consistent(name, profile))
        return STATUS_NOT_SO;
    printf("%s: consistent: %zu ops, %s calls", name, profile->op_count, units_count(figures_sum(profile).calls).text);
    if (profile->in_flight_count > 0)
        printf(", %zu in flight", profile->in_flight_count);
    if (left > 0)
        printf(", %s left before they returned", units_count(left).text);
    fputs(profile->incomplete ? "; marked incomplete: some calls are missing\n" : "\n", stdout);
    return options->preemption ? print_preemption(options, name, profile) : STATUS_OK;
}

static enum status worse(enum status a, enum status b) {
    return a > b ? a : b;
}

/* With the layer behind the name if there are several. */
static enum status check_argument(const struct check_options *options, const char *argument) {
    const struct screen screen = screen_of_stdout();
    struct input input;
    struct input_layer layer = {.name = options->layer};
    enum status status = STATUS_OK;
    if ((layer.name ? input_load(argument, &layer, &input) : input_load_recording(argument, &input)) != 0)
        return STATUS_TROUBLE;
    if (input.layers.count == 0)
        status = check_profile(options, argument, &input, &input.profile);
    for (size_t i = 0; i < input.layers.count; i++) {
        const struct aggstats_profile *profile = &input.layers.layers[i];
        CLEANUP_FREE char *name = NULL;
        CLEANUP_FREE char *cut =
            screen_cut(&screen, aggstats_profile_label(profile, "layer"), LAYER_COLUMNS, SCREEN_BEGINNING);
        if (cut && asprintf(&name, "%s, layer %s", argument, cut) >= 0) {
            status = worse(status, check_profile(options, name, &input, profile));
            continue;
        }
        name = NULL;
        complain("cannot check %s: no memory", argument);
        status = STATUS_TROUBLE;
    }
    input_finish(&input);
    return status;
}

enum status check_profiles(const struct check_options *options, char *const *names, size_t count) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count; i++)
        status = worse(status, check_argument(options, names[i]));
    return status;
}
