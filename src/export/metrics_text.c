/* Profiles as Prometheus metrics, in the text format that is also OpenMetrics: histograms and gauges, which both write
 * alike, and an end mark. Counters are not declared as such: one format uses the name of the samples for that, the
 * other the name without "_total".
 *
 * A series of a histogram is identified by its bound. So all ops have the same bounds at every scrape, even if buckets
 * are empty: those from LE_MIN_SECONDS to LE_MAX_SECONDS. The lowest includes all calls below, "+Inf" all above. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "metrics_model.h"
#include "views_private.h"

#define LE_MIN_SECONDS 1e-7
#define LE_MAX_SECONDS 100.0

struct text_writer {
    FILE *stream;
    const struct aggstats_profile *bounded; /* the profile with these bounds; */
    unsigned first_bucket;                  /* the first bucket whose upper bound is shown; */
    unsigned bound_count;                   /* the number of buckets from there */
    char (*bounds)[REAL_TEXT_SIZE];         /* [AGGSTATS_BUCKETS_MAX] */
};

/* ---- Samples ------------------------------------------------------------------------------------ */

static void write_label(FILE *stream, const char **separator, const char *name, const char *value) {
    fputs(*separator, stream);
    fputs(name, stream);
    fputs("=\"", stream);
    while (*value) {
        size_t plain = strcspn(value, "\"\\\n");
        fwrite(value, 1, plain, stream);
        value += plain;
        if (!*value)
            break;
        putc('\\', stream);
        putc(*value == '\n' ? 'n' : *value, stream);
        value++;
    }
    putc('"', stream);
    *separator = ",";
}

static void write_labels(FILE *stream, const char **separator, const struct metrics_labels *labels) {
    for (size_t i = 0; i < labels->count; i++)
        write_label(stream, separator, labels->labels[i].name, labels->labels[i].value);
}

/* "name{labels} ", with the label "le" if there is a bound. */
static void begin_sample(FILE *stream, const struct metrics_sample *sample, const char *suffix, const char *bound) {
    const char *separator = "";
    fprintf(stream, "%s%s{", sample->family->name, suffix);
    write_labels(stream, &separator, &sample->subject->common);
    if (sample->op_name)
        write_label(stream, &separator, "op", sample->op_name);
    if (sample->series)
        write_label(stream, &separator, sample->family->series_label, sample->series);
    if (sample->own)
        write_labels(stream, &separator, sample->own);
    if (sample->family->has_info)
        write_labels(stream, &separator, &sample->subject->info);
    if (bound)
        write_label(stream, &separator, "le", bound);
    fputs("} ", stream);
}

static void end_sample_real(FILE *stream, double value) {
    char text[REAL_TEXT_SIZE];
    format_real(value, text);
    fprintf(stream, "%s\n", text);
}

static void end_sample_count(FILE *stream, wide_count count) {
    char text[WIDE_COUNT_TEXT_SIZE];
    fprintf(stream, "%s\n", wide_count_format(count, text));
}

/* ---- Latencies ---------------------------------------------------------------------------------- */

static double bound_seconds(const struct aggstats_profile *profile, unsigned bucket) {
    return view_seconds(profile, aggstats_bucket_upper(bucket, profile->resolution));
}

static void find_bounds(struct text_writer *writer, const struct aggstats_profile *profile) {
    unsigned bucket = 0;
    while (bucket < 64 * profile->resolution && bound_seconds(profile, bucket) < LE_MIN_SECONDS)
        bucket++;
    writer->first_bucket = bucket;
    for (; bucket < 64 * profile->resolution && bound_seconds(profile, bucket) <= LE_MAX_SECONDS; bucket++)
        format_real(bound_seconds(profile, bucket), writer->bounds[bucket - writer->first_bucket]);
    writer->bound_count = bucket - writer->first_bucket;
    writer->bounded = profile;
}

static void write_histogram(struct text_writer *writer, const struct metrics_sample *sample) {
    const struct aggstats_profile *profile = sample->subject->profile;
    uint64_t finished = view_finished(profile, sample->op);
    uint64_t not_above = 0;
    unsigned bucket = 0;
    if (writer->bounded != profile)
        find_bounds(writer, profile);
    for (unsigned i = 0; i < writer->bound_count; i++) {
        for (; bucket <= writer->first_bucket + i; bucket++)
            not_above += sample->op->buckets[bucket];
        begin_sample(writer->stream, sample, "_bucket", writer->bounds[i]);
        end_sample_count(writer->stream, not_above);
    }
    begin_sample(writer->stream, sample, "_bucket", "+Inf");
    end_sample_count(writer->stream, finished);
    begin_sample(writer->stream, sample, "_sum", NULL);
    end_sample_real(writer->stream, view_seconds(profile, (double)sample->op->total_cycles));
    begin_sample(writer->stream, sample, "_count", NULL);
    end_sample_count(writer->stream, finished);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

static int write_sample(void *context, const struct metrics_sample *sample) {
    struct text_writer *writer = context;
    if (sample->family->type == METRICS_HISTOGRAM) {
        write_histogram(writer, sample);
        return 0;
    }
    begin_sample(writer->stream, sample, "", NULL);
    if (sample->family->type == METRICS_COUNTER)
        end_sample_count(writer->stream, sample->count);
    else
        end_sample_real(writer->stream, sample->value);
    return 0;
}

static int write_model(const struct metrics_model *model, FILE *stream) {
    struct text_writer writer = {.stream = stream};
    CLEANUP_FREE void *bounds = calloc((size_t)AGGSTATS_BUCKETS_MAX, sizeof(*writer.bounds));
    if (!bounds)
        return -ENOMEM;
    writer.bounds = bounds;
    errno = 0;
    for (size_t i = 0; i < METRICS_FAMILIES; i++) {
        const struct metrics_family *family = &metrics_families[i];
        if (!metrics_has_family(model, family))
            continue;
        fprintf(stream, "# HELP %s %s\n", family->name, family->help);
        if (family->type != METRICS_COUNTER && family->type != METRICS_SUM)
            fprintf(stream, "# TYPE %s %s\n", family->name, family->type == METRICS_HISTOGRAM ? "histogram" : "gauge");
        metrics_visit(model, family, write_sample, &writer);
    }
    fputs("# EOF\n", stream);
    return view_finish(stream);
}

static int write_all_metrics(const struct view_target *targets, size_t count, FILE *stream) {
    CLEANUP_METRICS struct metrics_model model = {0};
    int error = metrics_model_init(&model, targets, count);
    return error ? error : write_model(&model, stream);
}

static int write_metrics(const struct aggstats_profile *profile, FILE *stream) {
    CLEANUP_METRICS struct metrics_model model = {0};
    int error = metrics_model_init_one(&model, profile);
    return error ? error : write_model(&model, stream);
}

const struct view view_metrics = {
    .name = "metrics", .write = write_metrics, .write_all = write_all_metrics, .needs_steady_rate = true};
