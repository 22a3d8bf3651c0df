/* What the readers of foreign histograms fill. */
#include "foreign.h"

#include <stdarg.h>
#include <string.h>

#include "base.h"

/* Bound what a small hostile text can make us allocate, and how long a search for equal keys takes. */
#define HISTOGRAMS_PER_MAP_MAX 4096
#define HISTOGRAMS_MAX 16384
#define TOTALS_MAX 16384

int foreign_fail(struct aggstats_parse_error *ret_error, size_t line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ret_error->line = line;
    vsnprintf(ret_error->message, sizeof(ret_error->message), format, arguments);
    va_end(arguments);
    for (char *c = ret_error->message; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    }
    return -EBADMSG;
}

/* ---- Maps and histograms ------------------------------------------------------------------------ */

struct foreign_map *foreign_get_map(struct foreign *foreign, const char *name) {
    for (size_t i = 0; i < foreign->map_count; i++) {
        if (strcmp(foreign->maps[i].name, name) == 0)
            return &foreign->maps[i];
    }
    struct foreign_map *grown = reallocarray(foreign->maps, foreign->map_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    foreign->maps = grown;
    struct foreign_map map = {.name = strdup(name)};
    if (!map.name)
        return NULL;
    grown[foreign->map_count] = map;
    return &grown[foreign->map_count++];
}

static bool same_key(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static int refuse_second(const struct foreign_map *map, const char *key, size_t first_line, size_t line,
                         struct aggstats_parse_error *ret_error) {
    return foreign_fail(ret_error, line,
                        "a second histogram of %.40s%s%.40s, after that in line %zu; import one printing", map->name,
                        key && map->name[0] ? " " : "", key ? key : "", first_line);
}

int foreign_add_histogram(struct foreign *foreign, struct foreign_map *map, const char *key, size_t line,
                          struct foreign_histogram **ret_histogram, struct aggstats_parse_error *ret_error) {
    for (size_t i = 0; i < map->histogram_count; i++) {
        if (same_key(map->histograms[i].key, key))
            return refuse_second(map, key, map->histograms[i].line, line, ret_error);
    }
    if (map->histogram_count == HISTOGRAMS_PER_MAP_MAX || foreign->histogram_count == HISTOGRAMS_MAX)
        return foreign_fail(ret_error, line, "too many histograms");
    struct foreign_histogram *grown = reallocarray(map->histograms, map->histogram_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    map->histograms = grown;
    struct foreign_histogram histogram = {.key = key ? strdup(key) : NULL, .line = line};
    if (key && !histogram.key)
        return -ENOMEM;
    grown[map->histogram_count] = histogram;
    foreign->histogram_count++;
    *ret_histogram = &grown[map->histogram_count++];
    return 0;
}

static int add_calls(struct foreign_histogram *histogram, unsigned bucket, uint64_t calls, size_t line,
                     struct aggstats_parse_error *ret_error) {
    if (__builtin_add_overflow(histogram->calls, calls, &histogram->calls))
        return foreign_fail(ret_error, line, "the histogram's calls do not fit 64 bits");
    histogram->buckets[bucket] += calls;
    return 0;
}

int foreign_add_calls(struct foreign_histogram *histogram, uint64_t min, uint64_t max, uint64_t calls, size_t line,
                      struct aggstats_parse_error *ret_error) {
    unsigned bucket = aggstats_bucket_of(min, 1);
    if (max < min || aggstats_bucket_of(max, 1) != bucket) {
        if (histogram->misfit_line == 0)
            histogram->misfit_line = line;
        return 0;
    }
    histogram->middles += ((long double)min + (long double)max + 1) / 2 * (long double)calls;
    return add_calls(histogram, bucket, calls, line, ret_error);
}

int foreign_add_negative(struct foreign_histogram *histogram, uint64_t calls, size_t line,
                         struct aggstats_parse_error *ret_error) {
    int error = add_calls(histogram, 0, calls, line, ret_error);
    if (!error)
        histogram->negative += calls;
    return error;
}

int foreign_add_total(struct foreign *foreign, const char *map, const char *key, uint64_t total, size_t line,
                      struct aggstats_parse_error *ret_error) {
    if (foreign->total_count == TOTALS_MAX)
        return foreign_fail(ret_error, line, "too many numbers beside the histograms");
    struct foreign_total *grown = reallocarray(foreign->totals, foreign->total_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    foreign->totals = grown;
    struct foreign_total *last = &grown[foreign->total_count++];
    *last = (struct foreign_total){.map = strdup(map), .key = key ? strdup(key) : NULL, .total = total};
    return last->map && (last->key || !key) ? 0 : -ENOMEM;
}

/* ---- The whole ---------------------------------------------------------------------------------- */

/* bpftrace's JSON is objects, one a line; no text that we know begins so. */
static bool is_json(const char *text, size_t size_bytes) {
    size_t i = 0;
    while (i < size_bytes && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    return i < size_bytes && text[i] == '{';
}

int foreign_parse(const char *text, size_t size_bytes, struct foreign *ret_foreign,
                  struct aggstats_parse_error *ret_error) {
    struct foreign foreign = {0};
    int error = is_json(text, size_bytes) ? foreign_parse_json(text, size_bytes, &foreign, ret_error)
                                          : foreign_parse_text(text, size_bytes, &foreign, ret_error);
    if (!error && foreign.histogram_count == 0)
        error = foreign_fail(ret_error, 0, "no histogram in it; expected those of bpftrace (text or -f json) or bcc");
    if (error) {
        foreign_finish(&foreign);
        return error;
    }
    *ret_foreign = foreign;
    return 0;
}

static void map_finish(struct foreign_map *map) {
    for (size_t i = 0; i < map->histogram_count; i++)
        free(map->histograms[i].key);
    free(map->histograms);
    free(map->name);
    free(map->unit);
}

void foreign_finish(struct foreign *foreign) {
    for (size_t i = 0; i < foreign->map_count; i++)
        map_finish(&foreign->maps[i]);
    for (size_t i = 0; i < foreign->total_count; i++) {
        free(foreign->totals[i].map);
        free(foreign->totals[i].key);
    }
    free(foreign->maps);
    free(foreign->totals);
    *foreign = (struct foreign){0};
}
