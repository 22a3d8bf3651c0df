/* Profiles as Prometheus metrics in protobuf, with native histograms: a single series, whose buckets are identified by
 * number. Each family is a message preceded by its length ("delimited").
 *
 * At resolution r = 2^s our buckets are as wide as the native ones of schema s, and both have fixed numbers: so each
 * bucket becomes one native bucket, all with the same shift, and no count is split. The native bucket is the one that
 * holds the geometric mean of ours, so bounds move by at most half a bucket: latencies are wrong by a factor of at most
 * 2^(1/2r). */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "metrics.pb-c.h"
#include "metrics_model.h"
#include "views_private.h"

#define BUCKETS_MAX AGGSTATS_BUCKETS_MAX

/* Values up to this are zero: the usual threshold. None of our buckets is, but without it Prometheus takes an empty
 * histogram for a classic one. */
#define ZERO_THRESHOLD 0x1p-128

/* The parts of one metric, reused for each. */
#define LABELS_OF_SAMPLES 3 /* at most, besides those of the subject */

struct protobuf_writer {
    uint8_t *bytes; /* the family so far; reused too */
    size_t size_bytes;
    size_t room_bytes;
    Prometheus__LabelPair *labels;
    Prometheus__LabelPair **label_pointers;
    Prometheus__BucketSpan spans[BUCKETS_MAX];
    Prometheus__BucketSpan *span_pointers[BUCKETS_MAX];
    int64_t deltas[BUCKETS_MAX];
};

/* ---- Labels ------------------------------------------------------------------------------------- */

static void add_label(struct protobuf_writer *writer, Prometheus__Metric *metric, const char *name, const char *value) {
    Prometheus__LabelPair *label = &writer->labels[metric->n_label];
    prometheus__label_pair__init(label);
    label->name = (char *)(uintptr_t)name; /* only read */
    label->value = (char *)(uintptr_t)value;
    writer->label_pointers[metric->n_label++] = label;
}

static void add_labels(struct protobuf_writer *writer, Prometheus__Metric *metric,
                       const struct metrics_labels *labels) {
    for (size_t i = 0; i < labels->count; i++)
        add_label(writer, metric, labels->labels[i].name, labels->labels[i].value);
}

static void add_sample_labels(struct protobuf_writer *writer, Prometheus__Metric *metric,
                              const struct metrics_sample *sample) {
    metric->label = writer->label_pointers;
    add_labels(writer, metric, &sample->subject->common);
    if (sample->op_name)
        add_label(writer, metric, "op", sample->op_name);
    if (sample->series)
        add_label(writer, metric, sample->family->series_label, sample->series);
    if (sample->own)
        add_labels(writer, metric, sample->own);
    if (sample->family->has_info)
        add_labels(writer, metric, &sample->subject->info);
}

/* Makes room for the labels of any sample. */
static int make_room(struct protobuf_writer *writer, const struct metrics_model *model) {
    size_t most = 0;
    for (size_t i = 0; i < model->count; i++) {
        size_t count = model->subjects[i].common.count + model->subjects[i].info.count + LABELS_OF_SAMPLES;
        most = count > most ? count : most;
    }
    writer->labels = calloc(most + 1, sizeof(*writer->labels));
    writer->label_pointers = calloc(most + 1, sizeof(struct Prometheus__LabelPair *));
    return writer->labels && writer->label_pointers ? 0 : -ENOMEM;
}

/* ---- Latencies ---------------------------------------------------------------------------------- */

/* Bucket b becomes native bucket b + shift. Its geometric mean is 2^((b + 1/2) / r) cycles. */
static int add_buckets(struct protobuf_writer *writer, Prometheus__Histogram *histogram,
                       const struct metrics_sample *sample) {
    const struct aggstats_profile *profile = sample->subject->profile;
    const uint64_t *counts = sample->op->buckets;
    const int shift = (int)ceil(0.5 - profile->resolution * log2((double)profile->clock.frequency_hz));
    int end = 0; /* of the latest span */
    uint64_t previous = 0;
    histogram->positive_span = writer->span_pointers;
    histogram->positive_delta = writer->deltas;
    for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++) {
        const int index = (int)bucket + shift;
        if (counts[bucket] > INT64_MAX)
            return -EOVERFLOW;
        if (counts[bucket] == 0)
            continue;
        if (histogram->n_positive_span == 0 || index != end) { /* another range of non-empty buckets begins */
            Prometheus__BucketSpan *span = &writer->spans[histogram->n_positive_span];
            prometheus__bucket_span__init(span);
            span->has_offset = span->has_length = true;
            span->offset = index - end;
            writer->span_pointers[histogram->n_positive_span++] = span;
        }
        writer->spans[histogram->n_positive_span - 1].length++;
        writer->deltas[histogram->n_positive_delta++] = (int64_t)counts[bucket] - (int64_t)previous;
        previous = counts[bucket];
        end = index + 1;
    }
    return 0;
}

static int fill_histogram(struct protobuf_writer *writer, Prometheus__Histogram *histogram,
                          const struct metrics_sample *sample) {
    const struct aggstats_profile *profile = sample->subject->profile;
    histogram->has_sample_count = true;
    histogram->sample_count = view_finished(profile, sample->op);
    histogram->has_sample_sum = true;
    histogram->sample_sum = view_seconds(profile, (double)sample->op->total_cycles);
    histogram->has_schema = true;
    histogram->schema = __builtin_ctz(profile->resolution); /* 0 to 3 for 1, 2, 4 or 8 */
    histogram->has_zero_threshold = true;
    histogram->zero_threshold = ZERO_THRESHOLD;
    histogram->has_zero_count = true;
    return add_buckets(writer, histogram, sample);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

static int make_bytes(struct protobuf_writer *writer, size_t size_bytes) {
    const size_t needed_bytes = writer->size_bytes + size_bytes;
    if (needed_bytes <= writer->room_bytes)
        return 0;
    uint8_t *grown = realloc(writer->bytes, 2 * needed_bytes);
    if (!grown)
        return -ENOMEM;
    writer->bytes = grown;
    writer->room_bytes = 2 * needed_bytes;
    return 0;
}

/* Concatenated messages are read as one that has all their fields; for a family that means all metrics. */
static int append(struct protobuf_writer *writer, const Prometheus__MetricFamily *family) {
    int error = make_bytes(writer, prometheus__metric_family__get_packed_size(family));
    if (!error)
        writer->size_bytes += prometheus__metric_family__pack(family, writer->bytes + writer->size_bytes);
    return error;
}

static int append_head(struct protobuf_writer *writer, const struct metrics_family *family) {
    static const Prometheus__MetricType types[] = {[METRICS_GAUGE] = PROMETHEUS__METRIC_TYPE__GAUGE,
                                                   [METRICS_COUNTER] = PROMETHEUS__METRIC_TYPE__COUNTER,
                                                   [METRICS_SUM] = PROMETHEUS__METRIC_TYPE__COUNTER,
                                                   [METRICS_HISTOGRAM] = PROMETHEUS__METRIC_TYPE__HISTOGRAM};
    Prometheus__MetricFamily head = PROMETHEUS__METRIC_FAMILY__INIT;
    head.name = (char *)(uintptr_t)family->name; /* only read */
    head.help = (char *)(uintptr_t)family->help;
    head.has_type = true;
    head.type = types[family->type];
    return append(writer, &head);
}

static int append_sample(void *context, const struct metrics_sample *sample) {
    struct protobuf_writer *writer = context;
    Prometheus__MetricFamily family = PROMETHEUS__METRIC_FAMILY__INIT;
    Prometheus__Metric metric = PROMETHEUS__METRIC__INIT;
    Prometheus__Metric *metric_pointer = &metric;
    Prometheus__Histogram histogram = PROMETHEUS__HISTOGRAM__INIT;
    Prometheus__Gauge gauge = PROMETHEUS__GAUGE__INIT;
    Prometheus__Counter counter = PROMETHEUS__COUNTER__INIT;
    int error = 0;
    add_sample_labels(writer, &metric, sample);
    if (sample->family->type == METRICS_HISTOGRAM) {
        error = fill_histogram(writer, &histogram, sample);
        metric.histogram = &histogram;
    } else if (sample->family->type != METRICS_GAUGE) {
        counter.has_value = true;
        counter.value = sample->family->type == METRICS_COUNTER ? (double)sample->count : sample->value;
        metric.counter = &counter;
    } else {
        gauge.has_value = true;
        gauge.value = sample->value;
        metric.gauge = &gauge;
    }
    family.metric = &metric_pointer;
    family.n_metric = 1;
    return error ? error : append(writer, &family);
}

static int write_family(struct protobuf_writer *writer, const struct metrics_model *model,
                        const struct metrics_family *family, FILE *stream) {
    writer->size_bytes = 0;
    int error = append_head(writer, family);
    if (!error)
        error = metrics_visit(model, family, append_sample, writer);
    if (error)
        return error;
    size_t length = writer->size_bytes; /* in protobuf's format: seven bits a byte, the lowest first */
    for (; length >= 0x80; length >>= 7)
        putc((int)(0x80 | (length & 0x7f)), stream);
    putc((int)length, stream);
    fwrite(writer->bytes, 1, writer->size_bytes, stream);
    return 0;
}

static int write_model(const struct metrics_model *model, FILE *stream) {
    CLEANUP_FREE struct protobuf_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return -ENOMEM;
    errno = 0;
    int error = make_room(writer, model);
    for (size_t i = 0; i < METRICS_FAMILIES && !error; i++)
        if (metrics_has_family(model, &metrics_families[i]))
            error = write_family(writer, model, &metrics_families[i], stream);
    free(writer->labels);
    free(writer->label_pointers);
    free(writer->bytes);
    return error ? error : view_finish(stream);
}

static int write_all_protobuf(const struct view_target *targets, size_t count, FILE *stream) {
    CLEANUP_METRICS struct metrics_model model = {0};
    int error = metrics_model_init(&model, targets, count);
    return error ? error : write_model(&model, stream);
}

static int write_protobuf(const struct aggstats_profile *profile, FILE *stream) {
    CLEANUP_METRICS struct metrics_model model = {0};
    int error = metrics_model_init_one(&model, profile);
    return error ? error : write_model(&model, stream);
}

const struct view view_protobuf = {
    .name = "protobuf", .write = write_protobuf, .write_all = write_all_protobuf, .needs_steady_rate = true};
