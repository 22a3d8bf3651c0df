/* A profile as Prometheus metrics, in the text format that is also OpenMetrics: so there are histograms and gauges
 * only, which the two write alike, and an end mark.
 *
 * A series of a histogram is known by its bound, so all ops have the same bounds at every scrape, also where buckets
 * are empty: those from LE_MIN_SECONDS to LE_MAX_SECONDS. The lowest takes all that is below, "+Inf" all that is above.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "user_label.h"
#include "values.h"
#include "views_private.h"

#define LE_MIN_SECONDS 1e-7
#define LE_MAX_SECONDS 100.0

struct exposition {
    const struct aggstats_profile *profile;
    FILE *stream;
    unsigned first_bucket; /* whose upper bounds are shown; */
    unsigned bound_count;  /* so many from there */
    char (*bounds)[REAL_TEXT_SIZE];
};

/* ---- Samples ------------------------------------------------------------------------------------ */

/* The format has no escapes but these three, so what a terminal obeys becomes '?': metrics are also looked at. */
static void write_label_value(FILE *stream, const char *value) {
    const char *character;
    size_t length;
    while ((length = next_character(&value, &character)) > 0) {
        if (*character == '\n') {
            fputs("\\n", stream);
            continue;
        }
        if (is_obeyed_by_terminals(character, length)) {
            putc('?', stream);
            continue;
        }
        if (*character == '"' || *character == '\\')
            putc('\\', stream);
        fwrite(character, 1, length, stream);
    }
}

static void write_label(FILE *stream, const char *separator, const char *key, const char *value) {
    fprintf(stream, "%s%s=\"", separator, key);
    write_label_value(stream, value);
    putc('"', stream);
}

/* The labels of a profile that have one of these keys. Returns what separates the next one */
static const char *write_labels_of(const struct exposition *exposition, const char *separator, const char *const *keys,
                                   size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *value = aggstats_profile_label(exposition->profile, keys[i]);
        if (!value)
            continue;
        write_label(exposition->stream, separator, keys[i], value);
        separator = ",";
    }
    return separator;
}

/* Those that users gave: KEY becomes label_KEY, which no label of ours begins with, as kube-state-metrics has it. They
 * are in the info alone, so that a series goes on when one of them changes. */
static const char *write_user_labels(const struct exposition *exposition, const char *separator) {
    const struct aggstats_profile *profile = exposition->profile;
    for (size_t i = 0; i < profile->label_count; i++) {
        const struct aggstats_label *label = &profile->labels[i];
        const char *key = user_label_of_key(label->key);
        if (!key || aggstats_profile_label(profile, label->key) != label->value)
            continue; /* a key that comes twice has its first value */
        fprintf(exposition->stream, "%slabel_%s=\"", separator, key);
        write_label_value(exposition->stream, label->value);
        putc('"', exposition->stream);
        separator = ",";
    }
    return separator;
}

/* "name{" and the labels that every sample has. Returns what separates the next one */
static const char *begin_sample(const struct exposition *exposition, const char *name) {
    static const char *const keys[] = {"layer", "host", "mount"};
    fprintf(exposition->stream, "%s{", name);
    return write_labels_of(exposition, "", keys, ARRAY_SIZE(keys));
}

static void end_sample_real(FILE *stream, double value) {
    char text[REAL_TEXT_SIZE];
    format_real(value, text);
    fprintf(stream, "} %s\n", text);
}

static void write_op_count(const struct exposition *exposition, const char *name, const struct aggstats_op_profile *op,
                           const char *bound, uint64_t count) {
    write_label(exposition->stream, begin_sample(exposition, name), "op", op->name);
    if (bound)
        write_label(exposition->stream, ",", "le", bound);
    fprintf(exposition->stream, "} %" PRIu64 "\n", count);
}

static void write_op_real(const struct exposition *exposition, const char *name, const struct aggstats_op_profile *op,
                          double value) {
    write_label(exposition->stream, begin_sample(exposition, name), "op", op->name);
    end_sample_real(exposition->stream, value);
}

static void write_family(const struct exposition *exposition, const char *name, const char *type, const char *help) {
    fprintf(exposition->stream, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* ---- Latencies ---------------------------------------------------------------------------------- */

static double bound_seconds(const struct aggstats_profile *profile, unsigned bucket) {
    return view_seconds(profile, aggstats_bucket_upper(bucket, profile->resolution));
}

static int find_bounds(struct exposition *exposition) {
    const struct aggstats_profile *profile = exposition->profile;
    unsigned bucket = 0;
    while (bucket < 64 * profile->resolution && bound_seconds(profile, bucket) < LE_MIN_SECONDS)
        bucket++;
    exposition->first_bucket = bucket;
    while (bucket < 64 * profile->resolution && bound_seconds(profile, bucket) <= LE_MAX_SECONDS)
        bucket++;
    exposition->bound_count = bucket - exposition->first_bucket;
    exposition->bounds = calloc(exposition->bound_count + 1, sizeof(*exposition->bounds));
    if (!exposition->bounds)
        return -ENOMEM;
    for (unsigned i = 0; i < exposition->bound_count; i++)
        format_real(bound_seconds(profile, exposition->first_bucket + i), exposition->bounds[i]);
    return 0;
}

static void write_histogram(const struct exposition *exposition, const struct aggstats_op_profile *op) {
    uint64_t finished = view_finished(exposition->profile, op);
    uint64_t not_above = 0;
    unsigned bucket = 0;
    for (unsigned i = 0; i < exposition->bound_count; i++) {
        for (; bucket <= exposition->first_bucket + i; bucket++)
            not_above += op->buckets[bucket];
        write_op_count(exposition, "osprof_op_latency_seconds_bucket", op, exposition->bounds[i], not_above);
    }
    write_op_count(exposition, "osprof_op_latency_seconds_bucket", op, "+Inf", finished);
    write_op_real(exposition, "osprof_op_latency_seconds_sum", op,
                  view_seconds(exposition->profile, (double)op->total_cycles));
    write_op_count(exposition, "osprof_op_latency_seconds_count", op, NULL, finished);
}

/* ---- Calls in flight ---------------------------------------------------------------------------- */

static double oldest_seconds(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    uint64_t oldest_cycles = 0;
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        const struct aggstats_call_in_flight *call = &profile->in_flight[i];
        if (strcmp(call->op, op->name) == 0 && call->age_cycles > oldest_cycles)
            oldest_cycles = call->age_cycles;
    }
    return view_seconds(profile, (double)oldest_cycles);
}

static void write_ops(const struct exposition *exposition) {
    const struct aggstats_profile *profile = exposition->profile;
    write_family(exposition, "osprof_op_latency_seconds", "histogram", "Latency of the calls that have returned.");
    for (size_t i = 0; i < profile->op_count; i++)
        write_histogram(exposition, &profile->ops[i]);
    write_family(exposition, "osprof_op_calls_in_flight", "gauge", "Calls that have not returned.");
    for (size_t i = 0; i < profile->op_count; i++)
        write_op_count(exposition, "osprof_op_calls_in_flight", &profile->ops[i], NULL,
                       profile->ops[i].calls - view_finished(profile, &profile->ops[i]));
    write_family(exposition, "osprof_op_oldest_call_seconds", "gauge",
                 "Age of the oldest call that has not returned; 0 if all have.");
    for (size_t i = 0; i < profile->op_count; i++)
        write_op_real(exposition, "osprof_op_oldest_call_seconds", &profile->ops[i],
                      oldest_seconds(profile, &profile->ops[i]));
}

/* ---- The profile as a whole --------------------------------------------------------------------- */

static void write_gauge(const struct exposition *exposition, const char *name, const char *help, double value) {
    write_family(exposition, name, "gauge", help);
    begin_sample(exposition, name);
    end_sample_real(exposition->stream, value);
}

static void write_info(const struct exposition *exposition) {
    static const char *const keys[] = {"lower", "cache", "data"};
    const struct aggstats_profile *profile = exposition->profile;
    const char *clock = aggstats_clock_name(profile->clock.kind);
    char resolution[16];
    snprintf(resolution, sizeof(resolution), "%u", profile->resolution);
    write_family(exposition, "osprof_info", "gauge", "What is profiled, and how; always 1.");
    const char *separator = begin_sample(exposition, "osprof_info");
    separator = write_labels_of(exposition, separator, keys, ARRAY_SIZE(keys));
    separator = write_user_labels(exposition, separator);
    write_label(exposition->stream, separator, "resolution", resolution);
    if (clock)
        write_label(exposition->stream, ",", "clock", clock);
    end_sample_real(exposition->stream, 1);
}

static void write_whole(const struct exposition *exposition) {
    const struct aggstats_profile *profile = exposition->profile;
    if (profile->has_start)
        write_gauge(exposition, "osprof_start_time_seconds", "When the profile was begun or last reset, in Unix time.",
                    (double)profile->start_ns / 1e9);
    if (profile->has_elapsed)
        write_gauge(exposition, "osprof_elapsed_seconds", "For how long the profile was taken, without pauses.",
                    view_seconds(profile, (double)profile->elapsed_cycles));
    write_gauge(exposition, "osprof_clamped_calls", "Calls in which the clock ran backwards, counted as 0 seconds.",
                (double)profile->clamped);
    write_gauge(exposition, "osprof_incomplete", "1 if memory or disk space ran out and calls are missing.",
                profile->incomplete);
    write_info(exposition);
}

static int write_metrics(const struct aggstats_profile *profile, FILE *stream) {
    struct exposition exposition = {.profile = profile, .stream = stream};
    if (!aggstats_resolution_valid(profile->resolution))
        return -EINVAL;
    if (!view_has_seconds(profile))
        return -EDOM;
    int err = find_bounds(&exposition);
    if (err < 0)
        return err;
    errno = 0;
    write_ops(&exposition);
    write_whole(&exposition);
    fputs("# EOF\n", stream);
    free(exposition.bounds);
    return view_finish(stream);
}

const struct view view_metrics = {.name = "metrics", .write = write_metrics, .needs_steady_rate = true};
