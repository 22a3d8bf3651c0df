/* Adding to imported histograms, within bounds. */
#include "imported.h"

#include <stdarg.h>
#include <string.h>

#include "base.h"

/* Bound what a small hostile text can make us allocate, and how long a search for equal keys takes. */
#define HISTOGRAMS_PER_MAP_MAX 4096
#define HISTOGRAMS_MAX 16384
#define TOTALS_MAX 16384

int imported_fail(struct aggstats_parse_error *ret_error, size_t line, const char *format, ...) {
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

struct imported_map *imported_get_map(struct imported *imported, const char *name) {
    for (size_t i = 0; i < imported->map_count; i++) {
        if (strcmp(imported->maps[i].name, name) == 0)
            return &imported->maps[i];
    }
    struct imported_map *grown = reallocarray(imported->maps, imported->map_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    imported->maps = grown;
    struct imported_map map = {.name = strdup(name)};
    if (!map.name)
        return NULL;
    grown[imported->map_count] = map;
    return &grown[imported->map_count++];
}

static bool same_key(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static int refuse_second(const struct imported_map *map, const char *key, size_t first_line, size_t line,
                         struct aggstats_parse_error *ret_error) {
    return imported_fail(ret_error, line,
                         "a second histogram of %.40s%s%.40s, after that in line %zu; import one printing", map->name,
                         key && map->name[0] ? " " : "", key ? key : "", first_line);
}

int imported_add_histogram(struct imported *imported, struct imported_map *map, const char *key, size_t line,
                           struct imported_histogram **ret_histogram, struct aggstats_parse_error *ret_error) {
    for (size_t i = 0; i < map->histogram_count; i++) {
        if (same_key(map->histograms[i].key, key))
            return refuse_second(map, key, map->histograms[i].line, line, ret_error);
    }
    if (map->histogram_count == HISTOGRAMS_PER_MAP_MAX || imported->histogram_count == HISTOGRAMS_MAX)
        return imported_fail(ret_error, line, "too many histograms");
    struct imported_histogram *grown = reallocarray(map->histograms, map->histogram_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    map->histograms = grown;
    struct imported_histogram histogram = {.key = key ? strdup(key) : NULL, .line = line};
    if (key && !histogram.key)
        return -ENOMEM;
    grown[map->histogram_count] = histogram;
    imported->histogram_count++;
    *ret_histogram = &grown[map->histogram_count++];
    return 0;
}

static int add_calls(struct imported_histogram *histogram, unsigned bucket, uint64_t calls, size_t line,
                     struct aggstats_parse_error *ret_error) {
    if (__builtin_add_overflow(histogram->calls, calls, &histogram->calls))
        return imported_fail(ret_error, line, "the histogram's calls do not fit 64 bits");
    histogram->buckets[bucket] += calls;
    return 0;
}

int imported_add_calls(struct imported_histogram *histogram, uint64_t min, uint64_t max, uint64_t calls, size_t line,
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

int imported_add_negative(struct imported_histogram *histogram, uint64_t calls, size_t line,
                          struct aggstats_parse_error *ret_error) {
    int error = add_calls(histogram, 0, calls, line, ret_error);
    if (!error)
        histogram->negative += calls;
    return error;
}

int imported_add_total(struct imported *imported, const char *map, const char *key, uint64_t total, size_t line,
                       struct aggstats_parse_error *ret_error) {
    if (imported->total_count == TOTALS_MAX)
        return imported_fail(ret_error, line, "too many numbers beside the histograms");
    struct imported_total *grown = reallocarray(imported->totals, imported->total_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    imported->totals = grown;
    struct imported_total *last = &grown[imported->total_count++];
    *last = (struct imported_total){.map = strdup(map), .key = key ? strdup(key) : NULL, .total = total};
    return last->map && (last->key || !key) ? 0 : -ENOMEM;
}

static void map_finish(struct imported_map *map) {
    for (size_t i = 0; i < map->histogram_count; i++)
        free(map->histograms[i].key);
    free(map->histograms);
    free(map->name);
    free(map->unit);
}

void imported_finish(struct imported *imported) {
    for (size_t i = 0; i < imported->map_count; i++)
        map_finish(&imported->maps[i]);
    for (size_t i = 0; i < imported->total_count; i++) {
        free(imported->totals[i].map);
        free(imported->totals[i].key);
    }
    free(imported->maps);
    free(imported->totals);
    *imported = (struct imported){0};
}
