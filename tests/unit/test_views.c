/* The views: what their readers make of them. JSON is read back by jansson, which is not ours. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base.h"
#include "testing.h"
#include "views_private.h"

static struct aggstats_profile profile;
static char *text; /* of the latest view */

static void tear_down(void) {
    aggstats_profile_finish(&profile);
    free(text);
    text = NULL;
}

/* The profile that is viewed from now on. */
static void given(const char *profile_text) {
    CLEANUP_STREAM FILE *stream = fmemopen((void *)(uintptr_t)profile_text, strlen(profile_text), "r");
    struct aggstats_parse_error error = {0};
    int err = aggstats_profile_parse(stream, &profile, &error);
    ck_assert_msg(err == 0, "line %zu: %s", error.line, error.message);
}

static const char *view(const struct view *view) {
    size_t size_bytes;
    free(text);
    text = NULL;
    ck_assert_int_eq(view_format(view, &profile, &text, &size_bytes), 0);
    ck_assert_uint_eq(size_bytes, strlen(text));
    return text;
}

static void expect_line(const char *line) {
    char pattern[512];
    snprintf(pattern, sizeof(pattern), "\n%s\n", line);
    ck_assert_msg(strstr(text, pattern), "no line %s in:\n%s", line, text);
}

static void expect_nowhere(const char *part) {
    ck_assert_msg(!strstr(text, part), "%s in:\n%s", part, text);
}

/* ---- Numbers and characters --------------------------------------------------------------------- */

static const struct {
    double value;
    const char *text;
} reals[] = {
    {0, "0"},
    {1, "1"},
    {0x1p53, "9007199254740992"},
    {0x1p60, "1.152921504606847e+18"},
    {0x1p64, "1.8446744073709552e+19"},
    {0.1, "0.1"},
    {1e-7, "1e-07"},
    {0.1 + 0.2, "0.30000000000000004"},
    {1.0 / 3, "0.3333333333333333"},
    {1e300, "1e+300"},
};

TEST_CASE(.tear_down = tear_down);

TEST(real_is_the_shortest_text_of_its_number, .to = (int)ARRAY_SIZE(reals)) {
    char got[REAL_TEXT_SIZE];
    format_real(reals[_i].value, got);
    ck_assert_str_eq(got, reals[_i].text);
}

static const struct {
    const char *bytes;
    const char *characters;
} utf8[] = {
    {"", ""},
    {"a\xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82z", "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82z"},
    {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},              /* the last character */
    {"\xf4\x90\x80\x80", "????"},                          /* beyond it */
    {"a\xff\xfez", "a??z"},                                /* never in UTF-8 */
    {"\x80\xbf", "??"},                                    /* continuations of nothing */
    {"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf", "?????????"}, /* long forms of '/' */
    {"\xed\xa0\x80", "???"},                               /* half a surrogate pair */
    {"\xe2\x82", "??"},                                    /* cut off */
    {"\xe2\x82z", "??z"},
    {"\xf0\x9f\x99", "???"},
    {"\xc3", "?"},
};

TEST(what_is_no_utf8_is_replaced_byte_by_byte, .to = (int)ARRAY_SIZE(utf8)) {
    char got[64] = "";
    const char *rest = utf8[_i].bytes;
    const char *character;
    size_t length;
    while ((length = next_character(&rest, &character)) > 0) {
        if (length == 3 && memcmp(character, "\xef\xbf\xbd", 3) == 0)
            strncat(got, "?", 2);
        else
            strncat(got, character, length);
    }
    ck_assert_str_eq(got, utf8[_i].characters);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static json_t *read_json(void) {
    json_error_t error;
    json_t *json = json_loads(view(&view_json), JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json != NULL, "line %d: %s\n%s", error.line, error.text, text);
    return json;
}

static json_int_t count_of(const json_t *object, const char *key) {
    const json_t *count = json_object_get(object, key);
    ck_assert_msg(json_is_integer(count), "%s is no whole number", key);
    return json_integer_value(count);
}

static double real_of(const json_t *object, const char *key) {
    const json_t *real = json_object_get(object, key);
    ck_assert_msg(json_is_number(real), "%s is no number", key);
    return json_number_value(real);
}

#define HOSTILE "\\\\ \" ' \t \\012 \\015 \\033[2J \\177 </script> \\134n \xc3\xbc"
#define HOSTILE_READ "\\\\ \" ' \t \n \r \033[2J \177 </script> \\n \xc3\xbc"

TEST(json_labels_are_read_back_whatever_they_hold) {
    given("# mount: " HOSTILE "\n# \"key\"\\: first\n# \"key\"\\: second\n# host: \xff\xfe\n# empty:\n");
    json_t *json = read_json();
    const json_t *labels = json_object_get(json, "labels");
    ck_assert_str_eq(json_string_value(json_object_get(labels, "mount")), HOSTILE_READ);
    ck_assert_str_eq(json_string_value(json_object_get(labels, "\"key\"\\")), "first");
    ck_assert_str_eq(json_string_value(json_object_get(labels, "host")), "\xef\xbf\xbd\xef\xbf\xbd");
    ck_assert_str_eq(json_string_value(json_object_get(labels, "empty")), "");
    ck_assert_uint_eq(json_object_size(labels), 4);
    json_decref(json);
}

TEST(json_tells_all_that_the_profile_holds) {
    given("# clock: tsc 2000000000 Hz\n# resolution: 2\n# start: 2026-11-21T02:30:00.5Z\n# elapsed: 3000000000\n"
          "# clamped: 1\n# incomplete: yes\n# call: READ age 1000000000 inode 12 pid 4711\n"
          "OP_READ 6 5000\n 2 0 0 3\n");
    json_t *json = read_json();
    ck_assert_int_eq(count_of(json, "version"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(json, "clock"), "kind")), "tsc");
    ck_assert_int_eq(count_of(json_object_get(json, "clock"), "frequency_hz"), 2000000000);
    ck_assert_int_eq(count_of(json, "resolution"), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json, "start")), "2026-11-21T02:30:00.500000000Z");
    ck_assert_int_eq(count_of(json, "elapsed_cycles"), 3000000000);
    ck_assert_double_eq(real_of(json, "elapsed_seconds"), 1.5);
    ck_assert_int_eq(count_of(json, "clamped"), 1);
    ck_assert(json_is_true(json_object_get(json, "incomplete")));
    const json_t *call = json_array_get(json_object_get(json, "in_flight"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(call, "op")), "READ");
    ck_assert_int_eq(count_of(call, "inode"), 12);
    ck_assert_int_eq(count_of(call, "pid"), 4711);
    ck_assert_int_eq(count_of(call, "age_cycles"), 1000000000);
    ck_assert_double_eq(real_of(call, "age_seconds"), 0.5);
    json_decref(json);
}

#define OUTCOMES                                                                                                       \
    "# clock: 1000 Hz\n# failed: LOOKUP ENOENT 12 EACCES 3 other 1\n"                                                  \
    "# bytes: READ asked 18446744073709551615 moved 0\nOP_READ 1 1\n 1\nOP_LOOKUP 20 1\n 16\n"

TEST(json_tells_failures_and_bytes_where_there_are_any) {
    given("# failed: LOOKUP ENOENT 12 EACCES 3 other 1\n# bytes: READ asked 4096 moved 100\n"
          "OP_READ 1 2\n 1\nOP_LOOKUP 20 1\n 16\n");
    json_t *json = read_json();
    const json_t *read = json_array_get(json_object_get(json, "ops"), 0);
    const json_t *lookup = json_array_get(json_object_get(json, "ops"), 1);
    ck_assert_int_eq(count_of(read, "asked_bytes"), 4096);
    ck_assert_int_eq(count_of(read, "moved_bytes"), 100);
    ck_assert_ptr_null(json_object_get(read, "failed"));
    ck_assert_ptr_null(json_object_get(lookup, "asked_bytes"));
    ck_assert_ptr_null(json_object_get(lookup, "moved_bytes"));
    const json_t *failed = json_object_get(lookup, "failed");
    ck_assert_uint_eq(json_object_size(failed), 3);
    ck_assert_int_eq(count_of(failed, "ENOENT"), 12);
    ck_assert_int_eq(count_of(failed, "EACCES"), 3);
    ck_assert_int_eq(count_of(failed, "other"), 1);
    json_decref(json);
}

TEST(metrics_count_failures_and_bytes_exactly) {
    given(OUTCOMES);
    view(&view_metrics);
    expect_line("osprof_failed_calls_total{op=\"LOOKUP\",errno=\"ENOENT\"} 12");
    expect_line("osprof_failed_calls_total{op=\"LOOKUP\",errno=\"EACCES\"} 3");
    expect_line("osprof_failed_calls_total{op=\"LOOKUP\",errno=\"other\"} 1");
    expect_line("osprof_bytes_total{op=\"READ\",kind=\"asked\"} 18446744073709551615");
    expect_line("osprof_bytes_total{op=\"READ\",kind=\"moved\"} 0");
    expect_nowhere("osprof_failed_calls_total{op=\"READ\"");
    expect_nowhere("osprof_bytes_total{op=\"LOOKUP\"");
    expect_nowhere("# TYPE osprof_bytes");
}

TEST(json_has_the_buckets_that_are_not_empty) {
    given("# clock: tsc 2000000000 Hz\n# resolution: 2\nOP_READ 6 5000\n 2 0 0 3\nOP_WRITE 1 0\n-\n");
    json_t *json = read_json();
    const json_t *op = json_array_get(json_object_get(json, "ops"), 0);
    const json_t *buckets = json_object_get(op, "buckets");
    ck_assert_str_eq(json_string_value(json_object_get(op, "op")), "READ");
    ck_assert_int_eq(count_of(op, "calls"), 6);
    ck_assert_int_eq(count_of(op, "total_cycles"), 5000);
    ck_assert_double_eq(real_of(op, "total_seconds"), 2.5e-6);
    ck_assert_uint_eq(json_array_size(buckets), 2);
    const json_t *lowest = json_array_get(buckets, 0);
    ck_assert_double_eq(real_of(lowest, "lower_cycles"), 0);
    ck_assert_int_eq(count_of(lowest, "count"), 2);
    const json_t *bucket = json_array_get(buckets, 1);
    ck_assert_int_eq(count_of(bucket, "bucket"), 3);
    ck_assert_double_eq(real_of(bucket, "lower_cycles"), aggstats_bucket_lower(3, 2));
    ck_assert_double_eq(real_of(bucket, "upper_cycles"), 4);
    ck_assert_double_eq(real_of(bucket, "lower_seconds"), aggstats_bucket_lower(3, 2) / 2e9);
    ck_assert_double_eq(real_of(bucket, "upper_seconds"), 2e-9);
    ck_assert_int_eq(count_of(bucket, "count"), 3);
    op = json_array_get(json_object_get(json, "ops"), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(op, "buckets")), 0);
    json_decref(json);
}

TEST(json_counts_keep_all_their_bits) {
    given("OP_READ 9223372036854775807 9007199254740993\n 9223372036854775807\n");
    json_t *json = read_json();
    const json_t *op = json_array_get(json_object_get(json, "ops"), 0);
    ck_assert_int_eq(count_of(op, "calls"), INT64_MAX);
    ck_assert_int_eq(count_of(op, "total_cycles"), 9007199254740993);
    json_decref(json);
    tear_down();
    given("# call: READ age 1 inode 18446744073709551615 pid 1\nOP_READ 18446744073709551615 1\n-\n");
    view(&view_json); /* more than jansson can hold */
    ck_assert_ptr_nonnull(strstr(text, "\"inode\": 18446744073709551615,"));
    ck_assert_ptr_nonnull(strstr(text, "\"calls\": 18446744073709551615,"));
}

TEST(json_leaves_seconds_out_where_the_clocks_rate_is_unknown) {
    given("# clock: tsc\n# elapsed: 5\n# call: READ age 1 inode 1 pid 1\nOP_READ 2 1\n 1\n");
    json_decref(read_json());
    expect_nowhere("seconds");
    expect_nowhere("frequency");
}

TEST(json_of_an_empty_profile_is_whole) {
    given("# osprof 1\n");
    json_t *json = read_json();
    ck_assert_uint_eq(json_array_size(json_object_get(json, "ops")), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "in_flight")), 0);
    ck_assert(json_is_false(json_object_get(json, "incomplete")));
    ck_assert_ptr_null(json_object_get(json, "start"));
    ck_assert_ptr_null(json_object_get(json, "elapsed_cycles"));
    json_decref(json);
}

/* A profile of resolution 8 that has a call in each bucket. */
static void given_all_buckets(void) {
    char all[4096] = "# clock: tsc 1000000000 Hz\n# resolution: 8\nOP_READ 512 99\n";
    for (int bucket = 0; bucket < 512; bucket++)
        strncat(all, bucket < 511 ? " 1" : " 1\n", 4);
    given(all);
}

TEST(json_buckets_of_any_resolution_join_without_gaps) {
    given_all_buckets();
    json_t *json = read_json();
    const json_t *buckets = json_object_get(json_array_get(json_object_get(json, "ops"), 0), "buckets");
    ck_assert_uint_eq(json_array_size(buckets), 512);
    double upper = 0;
    for (size_t i = 0; i < 512; i++) {
        ck_assert_double_eq(real_of(json_array_get(buckets, i), "lower_cycles"), upper);
        upper = real_of(json_array_get(buckets, i), "upper_cycles");
    }
    ck_assert_double_eq(upper, 0x1p64);
    json_decref(json);
}

/* ---- CSV ---------------------------------------------------------------------------------------- */

#define CSV_HEAD "op,bucket,lower_cycles,upper_cycles,lower_seconds,upper_seconds,count\n"

TEST(csv_has_a_row_per_bucket_that_is_not_empty) {
    given("# clock: tsc 2000000000 Hz\nOP_READ 18446744073709551615 99\n 2 0 18446744073709551613\nOP_WRITE 1 0\n-\n");
    ck_assert_str_eq(view(&view_csv), CSV_HEAD "READ,0,0,2,0,1e-09,2\n"
                                               "READ,2,4,8,2e-09,4e-09,18446744073709551613\n");
}

TEST(csv_leaves_seconds_empty_where_the_clocks_rate_is_unknown) {
    given("OP_READ 2 9\n 0 0 2\n");
    ck_assert_str_eq(view(&view_csv), CSV_HEAD "READ,2,4,8,,,2\n");
}

TEST(csv_of_an_empty_profile_is_its_head) {
    given("# osprof 1\n");
    ck_assert_str_eq(view(&view_csv), CSV_HEAD);
}

/* No parser lets such names in; programs can make profiles of their own. */
TEST(csv_quotes_names_that_need_it) {
    static const struct {
        const char *name;
        const char *cell;
    } names[] = {{"a b'c", "a b'c"}, {"a,b", "\"a,b\""}, {"a\"b", "\"a\"\"b\""}, {"a\r\nb", "\"a\r\nb\""}};
    given("OP_READ 2 9\n 0 0 2\n");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char expected[256];
        snprintf(profile.ops[0].name, sizeof(profile.ops[0].name), "%s", names[i].name);
        snprintf(expected, sizeof(expected), CSV_HEAD "%s,2,4,8,,,2\n", names[i].cell);
        ck_assert_str_eq(view(&view_csv), expected);
    }
}

/* ---- Metrics ------------------------------------------------------------------------------------ */

#define LATENCY "osprof_op_latency_seconds"

TEST(metrics_count_calls_up_to_each_bound) {
    /* 2^10 cycles are 1.024 us; two calls lie below the lowest bound, one above the highest, one is in flight */
    given("# layer: fs\n# mount: /mnt\n# clock: monotonic 1000000000 Hz\n"
          "# call: READ age 2500000000 inode 9 pid 4711\n# call: READ age 1 inode 9 pid 4712\n"
          "OP_READ 12 140000000000\n"
          " 1 1 0 0 0 0 0 0 0 0 3 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1\n");
    view(&view_metrics);
    expect_line(LATENCY "_bucket{layer=\"fs\",mount=\"/mnt\",op=\"READ\",le=\"1.28e-07\"} 2");
    expect_line(LATENCY "_bucket{layer=\"fs\",mount=\"/mnt\",op=\"READ\",le=\"1.024e-06\"} 2");
    expect_line(LATENCY "_bucket{layer=\"fs\",mount=\"/mnt\",op=\"READ\",le=\"2.048e-06\"} 5");
    expect_line(LATENCY "_bucket{layer=\"fs\",mount=\"/mnt\",op=\"READ\",le=\"4.096e-06\"} 10");
    expect_line(LATENCY "_bucket{layer=\"fs\",mount=\"/mnt\",op=\"READ\",le=\"68.719476736\"} 10");
    expect_line(LATENCY "_bucket{layer=\"fs\",mount=\"/mnt\",op=\"READ\",le=\"+Inf\"} 11");
    expect_line(LATENCY "_sum{layer=\"fs\",mount=\"/mnt\",op=\"READ\"} 140");
    expect_line(LATENCY "_count{layer=\"fs\",mount=\"/mnt\",op=\"READ\"} 11");
    expect_line("osprof_op_calls_in_flight{layer=\"fs\",mount=\"/mnt\",op=\"READ\"} 1");
    expect_line("osprof_op_oldest_call_seconds{layer=\"fs\",mount=\"/mnt\",op=\"READ\"} 2.5");
    expect_nowhere("4711");
    ck_assert_str_eq(text + strlen(text) - strlen("\n# EOF\n"), "\n# EOF\n");
}

/* The bounds of READ, one behind the other. Owner: the caller frees them */
static char *bounds_of(const char *profile_text) {
    const char *before = "{op=\"READ\",le=\"";
    char *bounds = calloc(1, 65536);
    ck_assert_ptr_nonnull(bounds);
    given(profile_text);
    for (const char *at = strstr(view(&view_metrics), before); at; at = strstr(at, before)) {
        at += strlen(before);
        strncat(strncat(bounds, at, strcspn(at, "\"")), " ", 2);
    }
    aggstats_profile_finish(&profile);
    return bounds;
}

static const struct {
    const char *clock;
    int resolution;
    int bounds; /* from 100 ns to 100 s, which is 29.9 powers of two */
} scales[] = {
    {"tsc 2596136191 Hz", 1, 29},
    {"tsc 2596136191 Hz", 8, 239},
    {"monotonic 1000000000 Hz", 1, 30},
    {"cntvct 24000000 Hz", 4, 119},
    {"3 Hz", 1, 8},
    {"18446744073709551615 Hz", 2, 47},
};

TEST(metrics_have_the_same_bounds_whatever_was_called, .to = (int)ARRAY_SIZE(scales)) {
    char few[256];
    char many[512];
    snprintf(few, sizeof(few), "# clock: %s\n# resolution: %d\nOP_READ 1 0\n-\n", scales[_i].clock,
             scales[_i].resolution);
    snprintf(many, sizeof(many), "%sOP_WRITE 9 9000\n 1 1 1 1 1 1 1 1 1\n", few);
    CLEANUP_FREE char *bounds_few = bounds_of(few);
    CLEANUP_FREE char *bounds_many = bounds_of(many);
    ck_assert_str_eq(bounds_few, bounds_many);
    double previous = 0;
    int count = 0;
    char *rest = bounds_few;
    for (char *bound = strsep(&rest, " "); strcmp(bound, "+Inf") != 0; bound = strsep(&rest, " ")) {
        ck_assert_double_gt(strtod(bound, NULL), previous);
        previous = strtod(bound, NULL);
        ck_assert(previous >= 1e-7 && previous <= 100);
        count++;
    }
    ck_assert_int_eq(count, scales[_i].bounds);
}

TEST(metrics_escape_what_labels_hold) {
    given("# mount: a\"b\\\\c\\012d\\134ne\xff\n# clock: 1000 Hz\nOP_READ 1 1\n 1\n");
    view(&view_metrics);
    expect_line(LATENCY "_count{mount=\"a\\\"b\\\\\\\\c\\nd\\\\ne\xef\xbf\xbd\",op=\"READ\"} 1");
}

TEST(metrics_tell_of_the_whole_profile) {
    given("# layer: fs\n# host: node1\n# lower: /l\n# mount: /m\n# clock: tsc 1000000000 Hz\n# resolution: 4\n"
          "# cache: none\n# profile: /secret\n# start: 1970-01-01T00:00:01.5Z\n# elapsed: 2500000000\n# clamped: 3\n"
          "# incomplete: yes\n");
    view(&view_metrics);
    expect_line("osprof_start_time_seconds{layer=\"fs\",host=\"node1\",mount=\"/m\"} 1.5");
    expect_line("osprof_elapsed_seconds{layer=\"fs\",host=\"node1\",mount=\"/m\"} 2.5");
    expect_line("osprof_clamped_calls{layer=\"fs\",host=\"node1\",mount=\"/m\"} 3");
    expect_line("osprof_incomplete{layer=\"fs\",host=\"node1\",mount=\"/m\"} 1");
    expect_line("osprof_info{layer=\"fs\",host=\"node1\",mount=\"/m\",lower=\"/l\",cache=\"none\",resolution=\"4\","
                "clock=\"tsc\"} 1");
    expect_nowhere("secret");
}

TEST(metrics_count_slow_calls_by_cause) {
    given("# clock: 1000 Hz\n# slow: 10\n# cause: READ calls 2 total 1500 longest 900 cause waiting\\040for\\040"
          "\"a\\033\"\n"
          "# cause: FSYNC calls 1 total 20 longest 20 cause waiting\\040for\\040\"a\\033\"\n"
          "# cause: READ calls 3 total 250 longest 90 cause waiting\\040for\\040\"a\\007\"\n"
          "OP_READ 5 1750\n 0 0 0 0 0 0 0 0 0 0 5\n");
    view(&view_metrics);
    expect_line("osprof_slow_calls_total{op=\"READ\",cause=\"waiting for \\\"a?\\\"\"} 5");
    expect_line("osprof_slow_seconds_total{op=\"READ\",cause=\"waiting for \\\"a?\\\"\"} 1.75");
    expect_line("osprof_slow_calls_total{op=\"FSYNC\",cause=\"waiting for \\\"a?\\\"\"} 1");
    expect_line("osprof_slow_seconds_total{op=\"FSYNC\",cause=\"waiting for \\\"a?\\\"\"} 0.02");
    expect_nowhere("# TYPE osprof_slow");
}

/* A recorder has no more with names of their own, so none of its series ends because of others. */
TEST(metrics_have_a_bounded_number_of_causes) {
    CLEANUP_FREE char *lines = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&lines, &size_bytes);
    fputs("# clock: 1000 Hz\n# slow: 10\n# cause: READ calls 7 total 7000 longest 1 cause_id other_causes cause_class "
          "rest "
          "cause other\\040causes\n",
          stream);
    for (int i = 0; i < 128 + 5; i++)
        fprintf(stream, "# cause: READ calls 1 total %d longest 1 cause cause\\040%d\n", 6000 - i, i);
    fputs("OP_READ 1 1\n 1\n", stream);
    fclose(stream);
    given(lines);
    int series = 0;
    for (const char *at = view(&view_metrics); (at = strstr(at, "\nosprof_slow_calls_total{")); at++)
        series++;
    ck_assert_int_eq(series, 129);
    expect_line("osprof_slow_calls_total{op=\"READ\",cause=\"cause 127\"} 1");
    expect_line("osprof_slow_calls_total{op=\"READ\",cause=\"other causes\"} 12");
    expect_line("osprof_slow_seconds_total{op=\"READ\",cause=\"other causes\"} 36.35");
    expect_nowhere("cause 128");
}

/* A label's name has no escapes, so what could be none is left out. */
TEST(metrics_tell_labels_of_users_in_the_info) {
    given("# clock: 1000 Hz\n# label rack: 7 \"a\" \\134\n# label b\"} 1: x\n# label UP: x\n# label rack: 8\nOP_READ 1 "
          "1\n"
          " 1\n");
    view(&view_metrics);
    expect_line("osprof_info{label_rack=\"7 \\\"a\\\" \\\\\",resolution=\"1\"} 1");
    expect_line(LATENCY "_count{op=\"READ\"} 1");
}

TEST(metrics_need_the_clocks_rate) {
    size_t size_bytes = 7;
    given("# clock: tsc\nOP_READ 1 1\n 1\n");
    ck_assert_int_eq(view_format(&view_metrics, &profile, &text, &size_bytes), -EDOM);
    ck_assert_ptr_null(text);
    ck_assert_uint_eq(size_bytes, 7);
}

/* ---- Errors ------------------------------------------------------------------------------------- */

static const struct view *const views[] = {&view_text, &view_json, &view_csv, &view_metrics, &view_protobuf};

TEST(what_is_no_profile_has_no_view, .to = (int)ARRAY_SIZE(views)) {
    size_t size_bytes;
    profile.clock.frequency_hz = 1;
    ck_assert_int_eq(view_format(views[_i], &profile, &text, &size_bytes), -EINVAL);
    ck_assert_ptr_null(text);
}

TEST(write_error_is_reported, .to = (int)ARRAY_SIZE(views)) {
    given("# clock: 1000 Hz\nOP_READ 1 1\n 1\n");
    CLEANUP_STREAM FILE *stream = fopen("/dev/full", "we");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(views[_i]->write(&profile, stream), -ENOSPC);
}

/* ---- Run ---------------------------------------------------------------------------------------- */
