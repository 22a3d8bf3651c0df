/* bpftrace -f json: an object for each thing printed, of which these are read:
 *
 *     {"type": "hist", "data": {"@ns": {"read": [{"min": 4, "max": 7, "count": 1}, ...], ...}}}
 *     {"type": "hist", "data": {"@ns": [...]}}
 *     {"type": "map", "data": {"@ns_total": {"read": 5}}}
 *     {"type": "stats", "data": {"@ns_stats": {"read": {"count": 1, "average": 5, "total": 5}}}}
 *
 * A bucket without "min" holds negative values, one without "max" has no end. */
#include "imported_readers.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base.h"

struct reader {
    struct imported *imported;
    size_t line; /* where the current object begins */
    struct aggstats_parse_error *error;
};

/* ---- Histograms --------------------------------------------------------------------------------- */

/* An integer member. Returns false if it is missing or something else. */
static bool get_integer(const json_t *object, const char *key, json_int_t *ret_integer) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return false;
    *ret_integer = json_integer_value(value);
    return true;
}

static int read_bucket(struct reader *reader, const json_t *bucket, struct imported_histogram *histogram) {
    json_int_t min = 0;
    json_int_t max = 0;
    json_int_t count = 0;
    bool has_min = get_integer(bucket, "min", &min);
    bool has_max = get_integer(bucket, "max", &max);
    if (!get_integer(bucket, "count", &count) || count < 0 || (!has_min && !has_max))
        return imported_fail(reader->error, reader->line,
                             "expected buckets with \"min\", \"max\" and \"count\", whole numbers");
    if (!has_min && max == -1)
        return imported_add_negative(histogram, (uint64_t)count, reader->line, reader->error);
    if (min == INT32_MIN && max == 0) { /* how bpftrace 0.17 prints its last bucket */
        min = (json_int_t)1 << 31;
        max = UINT32_MAX;
    }
    if (!has_min || !has_max || min < 0 || max < min) {
        min = 0; /* no power of two holds it */
        max = INT64_MAX;
    }
    return imported_add_calls(histogram, (uint64_t)min, (uint64_t)max, (uint64_t)count, reader->line, reader->error);
}

static int read_histogram(struct reader *reader, const char *map_name, const char *key, const json_t *buckets) {
    struct imported_map *map = imported_get_map(reader->imported, map_name);
    struct imported_histogram *histogram = NULL;
    if (!map)
        return -ENOMEM;
    if (!json_is_array(buckets))
        return imported_fail(reader->error, reader->line, "expected the histogram %.40s to be a list of buckets",
                             map_name);
    int error = imported_add_histogram(reader->imported, map, key, reader->line, &histogram, reader->error);
    for (size_t i = 0; i < json_array_size(buckets) && !error; i++)
        error = read_bucket(reader, json_array_get(buckets, i), histogram);
    return error;
}

static int read_histograms(struct reader *reader, const char *map_name, json_t *value) {
    const char *key;
    json_t *buckets;
    int error = 0;
    if (!json_is_object(value))
        return read_histogram(reader, map_name, NULL, value);
    json_object_foreach(value, key, buckets) {
        error = read_histogram(reader, map_name, key, buckets);
        if (error)
            break;
    }
    return error;
}

/* ---- Totals ------------------------------------------------------------------------------------- */

/* A number is the total itself; stats have a "total". Maps of other things are ignored. */
static bool get_total(const json_t *value, uint64_t *ret_total) {
    const json_t *number = json_is_object(value) ? json_object_get(value, "total") : value;
    if (!json_is_integer(number) || json_integer_value(number) < 0)
        return false;
    *ret_total = (uint64_t)json_integer_value(number);
    return true;
}

static int read_totals(struct reader *reader, const char *map_name, json_t *value) {
    uint64_t total;
    const char *key;
    json_t *member;
    int error = 0;
    if (get_total(value, &total))
        return imported_add_total(reader->imported, map_name, NULL, total, reader->line, reader->error);
    json_object_foreach(value, key, member) {
        if (get_total(member, &total))
            error = imported_add_total(reader->imported, map_name, key, total, reader->line, reader->error);
        if (error)
            break;
    }
    return error;
}

/* ---- The whole ---------------------------------------------------------------------------------- */

static int read_object(struct reader *reader, const json_t *object) {
    const char *type = json_string_value(json_object_get(object, "type"));
    json_t *data = json_object_get(object, "data");
    bool is_histogram = type && strcmp(type, "hist") == 0;
    bool is_total = type && (strcmp(type, "map") == 0 || strcmp(type, "stats") == 0);
    const char *name;
    json_t *value;
    int error = 0;
    if (!type)
        return imported_fail(reader->error, reader->line,
                             "expected an object with \"type\", as bpftrace -f json prints");
    if ((is_histogram || is_total) && !json_is_object(data))
        return imported_fail(reader->error, reader->line, "expected \"data\" to be an object");
    if (!is_histogram && !is_total)
        return 0;
    json_object_foreach(data, name, value) {
        error = is_histogram ? read_histograms(reader, name, value) : read_totals(reader, name, value);
        if (error)
            break;
    }
    return error;
}

static size_t count_lines(const char *text, size_t size_bytes) {
    size_t count = 0;
    for (size_t i = 0; i < size_bytes; i++)
        count += text[i] == '\n';
    return count;
}

static size_t skip_blanks(const char *text, size_t size_bytes, size_t at) {
    while (at < size_bytes && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
        at++;
    return at;
}

/* Reads the value that begins at `at`; *ret_size_bytes is its length. */
static int read_value(struct reader *reader, const char *text, size_t size_bytes, size_t *ret_size_bytes) {
    json_error_t why;
    json_t *value = json_loadb(text, size_bytes, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &why);
    if (!value)
        return imported_fail(reader->error, reader->line + (why.line > 0 ? (size_t)why.line - 1 : 0), "not JSON: %s",
                             why.text);
    *ret_size_bytes = (size_t)why.position;
    int error = read_object(reader, value);
    json_decref(value);
    return error;
}

int imported_json_parse(const char *text, size_t size_bytes, struct imported *imported,
                        struct aggstats_parse_error *ret_error) {
    struct reader reader = {.imported = imported, .line = 1, .error = ret_error};
    size_t counted = 0; /* lines are counted up to here */
    for (size_t at = skip_blanks(text, size_bytes, 0); at < size_bytes; at = skip_blanks(text, size_bytes, at)) {
        size_t value_bytes = 0;
        reader.line += count_lines(text + counted, at - counted);
        counted = at;
        int error = read_value(&reader, text + at, size_bytes - at, &value_bytes);
        if (error)
            return error;
        at += value_bytes;
    }
    return 0;
}
