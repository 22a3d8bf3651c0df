/* Metrics as protobuf, read back by protobuf-c: the same samples as in the text, and each bucket of the profile once,
 * where its latencies are. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "metrics.pb-c.h"
#include "testing.h"
#include "views_private.h"

#define FAMILIES 16
#define LATENCY "osprof_op_latency_seconds"

static struct aggstats_profile profile;
static Prometheus__MetricFamily *families[FAMILIES];
static size_t family_count;

static void forget_families(void) {
    for (size_t i = 0; i < family_count; i++)
        prometheus__metric_family__free_unpacked(families[i], NULL);
    family_count = 0;
}

static void tear_down(void) {
    aggstats_profile_finish(&profile);
    forget_families();
}

static void parse(const char *text, struct aggstats_profile *ret_profile) {
    CLEANUP_STREAM FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    struct aggstats_parse_error error = {0};
    int err = aggstats_profile_parse(stream, ret_profile, &error);
    ck_assert_msg(err == 0, "line %zu: %s", error.line, error.message);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static size_t read_length(const uint8_t *bytes, size_t size_bytes, size_t *at) {
    size_t length = 0;
    unsigned shift = 0;
    do {
        ck_assert_uint_lt(*at, size_bytes);
        length |= (size_t)(bytes[*at] & 0x7f) << shift;
        shift += 7;
    } while (bytes[(*at)++] & 0x80);
    return length;
}

static void read_text(const char *text, size_t size_bytes) {
    size_t at = 0;
    forget_families();
    const uint8_t *bytes = (const uint8_t *)text;
    while (at < size_bytes) {
        size_t length = read_length(bytes, size_bytes, &at);
        ck_assert_uint_le(length, size_bytes - at);
        ck_assert_uint_lt(family_count, FAMILIES);
        families[family_count] = prometheus__metric_family__unpack(NULL, length, bytes + at);
        ck_assert_ptr_nonnull(families[family_count++]);
        at += length;
    }
}

static void read_families(const struct view_target *targets, size_t count) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    ck_assert_int_eq(view_format_all(&view_protobuf, targets, count, &text, &size_bytes), 0);
    read_text(text, size_bytes);
    ck_assert_uint_eq(family_count, FAMILIES);
}

static void given(const char *text) {
    aggstats_profile_finish(&profile);
    parse(text, &profile);
    CLEANUP_FREE char *written = NULL;
    size_t size_bytes;
    ck_assert_int_eq(view_format(&view_protobuf, &profile, &written, &size_bytes), 0);
    read_text(written, size_bytes);
    ck_assert_uint_eq(family_count, FAMILIES - 2); /* whether it is up, and what waits, is given of several only */
}

static const Prometheus__MetricFamily *find_family(const char *name) {
    for (size_t i = 0; i < family_count; i++)
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    ck_abort_msg("no family %s", name);
}

static const char *label_of(const Prometheus__Metric *metric, const char *name) {
    for (size_t i = 0; i < metric->n_label; i++)
        if (strcmp(metric->label[i]->name, name) == 0)
            return metric->label[i]->value;
    return NULL;
}

static const Prometheus__Histogram *find_histogram(const char *op) {
    const Prometheus__MetricFamily *family = find_family(LATENCY);
    ck_assert_int_eq(family->type, PROMETHEUS__METRIC_TYPE__HISTOGRAM);
    for (size_t i = 0; i < family->n_metric; i++)
        if (strcmp(label_of(family->metric[i], "op"), op) == 0)
            return family->metric[i]->histogram;
    ck_abort_msg("no histogram of %s", op);
}

/* A histogram as a reader sees it: the number of each bucket that it has, and its count. */
struct native {
    int index[AGGSTATS_BUCKETS_MAX];
    uint64_t count[AGGSTATS_BUCKETS_MAX];
    size_t buckets;
};

static struct native read_buckets(const Prometheus__Histogram *histogram) {
    struct native native = {.buckets = 0};
    int index = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < histogram->n_positive_span; i++) {
        ck_assert(i == 0 || histogram->positive_span[i]->offset > 0); /* else it were one span */
        index += histogram->positive_span[i]->offset;
        for (uint32_t left = histogram->positive_span[i]->length; left > 0; left--) {
            ck_assert_uint_lt(native.buckets, histogram->n_positive_delta);
            count += (uint64_t)histogram->positive_delta[native.buckets];
            native.index[native.buckets] = index++;
            native.count[native.buckets++] = count;
        }
    }
    ck_assert_uint_eq(native.buckets, histogram->n_positive_delta);
    return native;
}

/* ---- Latencies ---------------------------------------------------------------------------------- */

static const unsigned resolutions[] = {1, 2, 4, 8};
static const char *const rates[] = {"1000000000", "2596136191", "24000000", "1073741824", "1", "18446744073709551615"};

/* Every third bucket is empty; the counts are all different. */
static uint64_t count_of(unsigned bucket) {
    return bucket % 3 == 2 ? 0 : 1000 - bucket;
}

static void given_buckets(unsigned resolution, const char *rate) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&text, &size_bytes);
    fprintf(stream, "# clock: tsc %s Hz\n# resolution: %u\nOP_READ 1000000 123456789\n", rate, resolution);
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        fprintf(stream, " %" PRIu64, count_of(bucket));
    fputs("\n", stream);
    fclose(stream);
    given(text);
}

TEST_CASE(.tear_down = tear_down);

TEST(each_bucket_is_where_its_geometric_mean_is, .to = (int)(ARRAY_SIZE(resolutions) * ARRAY_SIZE(rates))) {
    const unsigned resolution = resolutions[_i % 4];
    const char *rate = rates[_i / 4];
    given_buckets(resolution, rate);
    const Prometheus__Histogram *histogram = find_histogram("READ");
    const struct native native = read_buckets(histogram);
    const double buckets_per_octave = pow(2, histogram->schema);
    const double rounding = 1 + 1e-12;
    size_t at = 0;
    uint64_t calls = 0;
    ck_assert_double_eq(buckets_per_octave, resolution);
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        if (count_of(bucket) == 0)
            continue;
        const double cycles =
            sqrt(aggstats_bucket_lower(bucket, resolution)) * sqrt(aggstats_bucket_upper(bucket, resolution));
        const double mean = cycles / strtod(rate, NULL);
        ck_assert_uint_eq(native.count[at], count_of(bucket));
        ck_assert_double_le(exp2((native.index[at] - 1) / buckets_per_octave), mean * rounding);
        ck_assert_double_le(mean, exp2(native.index[at] / buckets_per_octave) * rounding);
        calls += count_of(bucket);
        at++;
    }
    ck_assert_uint_eq(native.buckets, at);
    ck_assert_uint_eq(histogram->sample_count, calls);
    ck_assert_double_eq(histogram->sample_sum, 123456789 / strtod(rate, NULL));
}

/* What osprof(5) promises of bounds. */
TEST(bounds_move_by_half_a_bucket_at_most, .to = (int)(ARRAY_SIZE(resolutions) * ARRAY_SIZE(rates))) {
    const unsigned resolution = resolutions[_i % 4];
    given_buckets(resolution, rates[_i / 4]);
    const struct native native = read_buckets(find_histogram("READ"));
    const double told = exp2((double)native.index[0] / resolution);
    const double is = aggstats_bucket_upper(0, resolution) / strtod(rates[_i / 4], NULL);
    ck_assert_double_le(fabs(log2(told / is)), 0.5 / resolution + 1e-12);
}

/* A rate that is a power of two moves none. */
TEST(bounds_that_are_native_ones_stay) {
    given("# clock: tsc 1073741824 Hz\nOP_READ 1 9\n 0 0 0 1\n");
    const struct native native = read_buckets(find_histogram("READ"));
    ck_assert_uint_eq(native.buckets, 1);
    ck_assert_int_eq(native.index[0], 4 - 30); /* 2^3 to 2^4 cycles */
}

TEST(histogram_without_calls_is_a_native_one) {
    given("# clock: 1000 Hz\n# call: READ age 500 inode 1 pid 1\nOP_READ 1 0\n-\n");
    const Prometheus__Histogram *histogram = find_histogram("READ");
    ck_assert_uint_eq(histogram->sample_count, 0);
    ck_assert(histogram->has_schema && histogram->has_sample_count && histogram->has_sample_sum);
    ck_assert_double_gt(histogram->zero_threshold, 0);
    ck_assert_double_lt(histogram->zero_threshold, 1e-30);
    ck_assert_uint_eq(histogram->zero_count, 0);
    ck_assert_uint_eq(read_buckets(histogram).buckets, 0);
}

TEST(counts_keep_63_bits) {
    given("# clock: 1000 Hz\nOP_READ 18446744073709551615 18446744073709551615\n"
          " 9223372036854775807 0 9223372036854775807 1\n");
    const struct native native = read_buckets(find_histogram("READ"));
    ck_assert_uint_eq(native.buckets, 3);
    ck_assert_uint_eq(native.count[0], INT64_MAX);
    ck_assert_uint_eq(native.count[1], INT64_MAX);
    ck_assert_uint_eq(native.count[2], 1);
    ck_assert_uint_eq(find_histogram("READ")->sample_count, UINT64_MAX);
    ck_assert_double_eq(find_histogram("READ")->sample_sum, 0x1p64 / 1000);
}

TEST(larger_counts_are_refused) {
    char *text = NULL;
    size_t size_bytes = 7;
    parse("# clock: 1000 Hz\nOP_READ 18446744073709551615 1\n 9223372036854775808\n", &profile);
    ck_assert_int_eq(view_format(&view_protobuf, &profile, &text, &size_bytes), -EOVERFLOW);
    ck_assert_ptr_null(text);
    ck_assert_uint_eq(size_bytes, 7);
}

/* ---- Beside the text ---------------------------------------------------------------------------- */

/* The samples of gauges and counters as lines of the text format, of labels that need no escape. */
static void expect_in_text(const Prometheus__MetricFamily *family, const char *text) {
    for (size_t i = 0; i < family->n_metric; i++) {
        const Prometheus__Metric *metric = family->metric[i];
        char line[1024];
        char value[REAL_TEXT_SIZE];
        int used = snprintf(line, sizeof(line), "\n%s{", family->name);
        for (size_t j = 0; j < metric->n_label; j++)
            used += snprintf(line + used, sizeof(line) - (size_t)used, "%s%s=\"%s\"", j > 0 ? "," : "",
                             metric->label[j]->name, metric->label[j]->value);
        if (metric->counter)
            format_real(metric->counter->value, value);
        else
            format_real(metric->gauge->value, value);
        snprintf(line + used, sizeof(line) - (size_t)used, "} %s\n", value);
        ck_assert_msg(strstr(text, line), "no line %s in:\n%s", line, text);
    }
}

static size_t count_lines(const char *text, const char *beginning) {
    size_t count = 0;
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        count += strncmp(at, beginning, strlen(beginning)) == 0;
    }
    return count;
}

#define WHOLE                                                                                                          \
    "# layer: fs\n# host: node1\n# lower: /l\n# mount: /m\n# clock: tsc 2000000000 Hz\n# resolution: 2\n"              \
    "# cache: none\n# label rack: 7\n# start: 1970-01-01T00:00:01.5Z\n# elapsed: 2500000000\n# clamped: 3\n"           \
    "# incomplete: yes\n# failed: READ EIO 5 ENOENT 3\n# bytes: READ asked 4096 moved 100\n"                           \
    "# call: READ age 2500000000 inode 9 pid 4711\n"                                                                   \
    "# slow: 20000000\n# cause: READ calls 9 total 3000000000 longest 2000000 cause_id disk cause_class disk "         \
    "cause waiting\\040for\\040the\\040disk\n"                                                                         \
    "OP_READ 12 140000000000\n 1 1 0 0 0 9\nOP_WRITE 1 7\n 0 1\n"

static bool is_counter(const Prometheus__MetricFamily *family) {
    return strstr(family->name, "_total") != NULL;
}

static Prometheus__MetricType type_of(const Prometheus__MetricFamily *family) {
    return is_counter(family)                   ? PROMETHEUS__METRIC_TYPE__COUNTER
           : strcmp(family->name, LATENCY) == 0 ? PROMETHEUS__METRIC_TYPE__HISTOGRAM
                                                : PROMETHEUS__METRIC_TYPE__GAUGE;
}

TEST(gauges_counters_and_labels_are_those_of_the_text) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    given(WHOLE);
    ck_assert_int_eq(view_format(&view_metrics, &profile, &text, &size_bytes), 0);
    for (size_t i = 0; i < family_count; i++) {
        char head[512];
        int used = snprintf(head, sizeof(head), "# HELP %s %s\n", families[i]->name, families[i]->help);
        if (!is_counter(families[i])) /* in the text their type is not told */
            snprintf(head + used, sizeof(head) - (size_t)used, "# TYPE %s %s\n", families[i]->name,
                     i == 0 ? "histogram" : "gauge");
        ck_assert_msg(strstr(text, head), "not in the text: %s", head);
        char sample[64];
        snprintf(sample, sizeof(sample), "%s%s{", families[i]->name, i == 0 ? "_count" : "");
        ck_assert_uint_eq(families[i]->n_metric, count_lines(text, sample));
        ck_assert_int_eq(families[i]->type, type_of(families[i]));
        if (i > 0)
            expect_in_text(families[i], text);
    }
    const Prometheus__Metric *latency = find_family(LATENCY)->metric[0];
    ck_assert_uint_eq(latency->n_label, 4);
    ck_assert_str_eq(label_of(latency, "layer"), "fs");
    ck_assert_str_eq(label_of(latency, "host"), "node1");
    ck_assert_str_eq(label_of(latency, "mount"), "/m");
    ck_assert_str_eq(label_of(find_family("osprof_info")->metric[0], "label_rack"), "7");
    ck_assert_uint_eq(find_family("osprof_failed_calls_total")->n_metric, 2);
    ck_assert_str_eq(label_of(find_family("osprof_failed_calls_total")->metric[1], "errno"), "EIO");
    ck_assert_double_eq(find_family("osprof_bytes_total")->metric[1]->counter->value, 100);
    const Prometheus__Metric *slow = find_family("osprof_slow_seconds_total")->metric[0];
    ck_assert_str_eq(label_of(slow, "op"), "READ");
    ck_assert_str_eq(label_of(slow, "cause"), "waiting for the disk");
    ck_assert_double_eq(slow->counter->value, 1.5);
    ck_assert_double_eq(find_family("osprof_slow_calls_total")->metric[0]->counter->value, 9);
}

/* As in the text, but that nothing needs an escape. */
TEST(labels_are_harmless_to_terminals) {
    given("# mount: a\"b\\\\c\\012d\\033[2Je\xff\n# clock: 1000 Hz\nOP_READ 1 1\n 1\n");
    ck_assert_str_eq(label_of(find_family(LATENCY)->metric[0], "mount"), "a\"b\\\\c\nd?[2Je\xef\xbf\xbd");
}

TEST(empty_profile_has_every_family) {
    given("# osprof 1\n# clock: 1000 Hz\n");
    ck_assert_uint_eq(find_family(LATENCY)->n_metric, 0);
    ck_assert_uint_eq(find_family("osprof_start_time_seconds")->n_metric, 0);
    ck_assert_uint_eq(find_family("osprof_info")->n_metric, 1);
}

TEST(several_profiles_share_the_families) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    struct aggstats_profile other = {0};
    parse(WHOLE, &profile);
    parse("# mount: /n\n# clock: tsc 1000000000 Hz\n# resolution: 8\nOP_READ 3 9\n 0 3\n", &other);
    const struct view_target both[] = {{&profile, true}, {&other, true}};
    read_families(both, 2);
    const Prometheus__MetricFamily *latency = find_family(LATENCY);
    ck_assert_uint_eq(latency->n_metric, 3);
    ck_assert_str_eq(label_of(latency->metric[2], "mount"), "/n");
    ck_assert_int_eq(latency->metric[0]->histogram->schema, 1);
    ck_assert_int_eq(latency->metric[2]->histogram->schema, 3);
    ck_assert_uint_eq(find_family("osprof_info")->n_metric, 2);
    ck_assert_int_eq(view_format_all(&view_metrics, both, 2, &text, &size_bytes), 0);
    ck_assert_uint_eq(count_lines(text, "# TYPE " LATENCY " "), 1);
    ck_assert_uint_eq(count_lines(text, "# EOF"), 1);
    ck_assert_uint_eq(count_lines(text, LATENCY "_count{"), 3);
    ck_assert_ptr_nonnull(strstr(text, LATENCY "_bucket{mount=\"/n\",op=\"READ\",le=\"+Inf\"} 3\n"));
    aggstats_profile_finish(&other);
}

TEST(of_one_that_is_down_only_that_is_told) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    struct aggstats_profile down = {0}; /* no resolution, no clock */
    struct aggstats_label mount = {.key = (char[]){"mount"}, .value = (char[]){"/down"}};
    down.labels = &mount;
    down.label_count = 1;
    parse(WHOLE, &profile);
    const struct view_target both[] = {{&down, false}, {&profile, true}};
    read_families(both, 2);
    const Prometheus__MetricFamily *up = find_family("osprof_up");
    ck_assert_uint_eq(up->n_metric, 2);
    ck_assert_str_eq(label_of(up->metric[0], "mount"), "/down");
    ck_assert(up->metric[0]->gauge->value == 0 && up->metric[1]->gauge->value == 1);
    ck_assert_uint_eq(find_family("osprof_info")->n_metric, 1);
    ck_assert_int_eq(view_format_all(&view_metrics, both, 2, &text, &size_bytes), 0);
    ck_assert_ptr_nonnull(strstr(text, "osprof_up{mount=\"/down\"} 0\n"));
    ck_assert_uint_eq(count_lines(text, "osprof_up{"), 2);
    ck_assert_uint_eq(count_lines(text, "osprof_info{"), 1);
    free(steal_pointer(&text));
    ck_assert_int_eq(view_format(&view_metrics, &profile, &text, &size_bytes), 0);
    ck_assert_ptr_null(strstr(text, "osprof_up"));
}

TEST(no_profile_is_no_sample) {
    read_families(NULL, 0);
    for (size_t i = 0; i < family_count; i++)
        ck_assert_uint_eq(families[i]->n_metric, 0);
}

/* ---- Run ---------------------------------------------------------------------------------------- */
