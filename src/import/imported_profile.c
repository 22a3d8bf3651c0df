/* Imported histograms as a profile. */
#include "imported_profile.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base.h"

/* ---- Units -------------------------------------------------------------------------------------- */

struct unit {
    const char *names[5]; /* the first is that of --unit */
    uint64_t frequency_hz;
};

static const struct unit units[] = {
    {{"ns", "nsec", "nsecs", "nanoseconds"}, 1000000000},
    {{"us", "usec", "usecs", "microseconds"}, 1000000},
    {{"ms", "msec", "msecs", "milliseconds"}, 1000},
};

/* The unit that a word of some length names, or NULL. */
static const struct unit *unit_of_word(const char *word, size_t length) {
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        for (const char *const *name = units[i].names; *name; name++) {
            if (strlen(*name) == length && strncasecmp(*name, word, length) == 0)
                return &units[i];
        }
    }
    return NULL;
}

bool imported_profile_unit_valid(const char *unit) {
    const struct unit *found = unit_of_word(unit, strlen(unit));
    return found && strcmp(found->names[0], unit) == 0;
}

/* The unit among the words of a map's name, as in "@read_us"; NULL for none. */
static const struct unit *unit_of_name(const char *name) {
    const struct unit *found = NULL;
    for (const char *word = name; *word && !found;) {
        size_t length = strcspn(word, "_@");
        found = unit_of_word(word, length);
        word += length + (word[length] != '\0');
    }
    return found;
}

/* Returns NULL if it is unknown, with *ret_error filled. */
static const struct unit *choose_unit(const struct imported_map *map, const struct imported_options *options,
                                      struct aggstats_parse_error *ret_error) {
    const char *word = options->unit ? options->unit : map->unit;
    const struct unit *unit = word ? unit_of_word(word, strlen(word)) : unit_of_name(map->name);
    size_t line = map->histogram_count > 0 ? map->histograms[0].line : 0;
    if (!unit && word)
        imported_fail(ret_error, line, "'%.40s' is no unit of latency known here; give --unit", word);
    else if (!unit)
        imported_fail(ret_error, line, "the unit of %.64s is not known: its name has no ns, us or usecs; give --unit",
                      map->name);
    return unit;
}

/* ---- Choosing a map ----------------------------------------------------------------------------- */

static bool is_named(const struct imported_map *map, const char *name) {
    return strcmp(map->name, name) == 0 || (map->name[0] == '@' && strcmp(map->name + 1, name) == 0);
}

/* "@ns, @usecs" */
static void list_maps(const struct imported *imported, char *ret_list, size_t size_bytes) {
    size_t length = 0;
    ret_list[0] = '\0';
    for (size_t i = 0; i < imported->map_count && length < size_bytes; i++) {
        const char *name = imported->maps[i].name;
        if (imported->maps[i].histogram_count == 0)
            continue;
        length += (size_t)snprintf(ret_list + length, size_bytes - length, "%s%s", length > 0 ? ", " : "",
                                   name[0] ? name : "tables without a name");
    }
}

/* Returns NULL if there is not exactly one to choose, with *ret_error filled. */
static const struct imported_map *choose_map(const struct imported *imported, const char *name,
                                             struct aggstats_parse_error *ret_error) {
    const struct imported_map *found = NULL;
    size_t count = 0;
    char list[80];
    for (size_t i = 0; i < imported->map_count; i++) {
        if (imported->maps[i].histogram_count == 0 || (name && !is_named(&imported->maps[i], name)))
            continue;
        found = &imported->maps[i];
        count++;
    }
    if (count == 1)
        return found;
    list_maps(imported, list, sizeof(list));
    if (name)
        imported_fail(ret_error, 0, "no histogram is named %.40s; there are: %s", name, list);
    else
        imported_fail(ret_error, 0, "several histograms, choose one with --map: %s", list);
    return NULL;
}

/* ---- Operations --------------------------------------------------------------------------------- */

/* "tracepoint:syscalls:sys_exit_read" -> "read" */
static const char *without_probe(const char *key) {
    static const char *const prefixes[] = {"sys_enter_", "sys_exit_"};
    const char *colon = strrchr(key, ':');
    const char *name = colon ? colon + 1 : key;
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return name + strlen(prefixes[i]);
    }
    return name;
}

/* The operation of an unkeyed histogram: its map's name, unless that only names the unit. */
static const char *key_of(const struct imported_map *map, const struct imported_histogram *histogram) {
    const char *name = map->name[0] == '@' ? map->name + 1 : map->name;
    if (histogram->key)
        return without_probe(histogram->key);
    return name[0] && !unit_of_word(name, strlen(name)) ? name : "ALL";
}

/* Keeps capitals, digits, '-' and '.', and replaces all between them by one '_': keys of several parts are written
 * "a,b" in JSON and "a, b" in text. */
static int name_op(const struct imported_map *map, const struct imported_histogram *histogram,
                   char ret_name[AGGSTATS_NAME_SIZE], struct aggstats_parse_error *ret_error) {
    size_t length = 0;
    bool gap = false;
    const char *key = key_of(map, histogram);
    for (const char *c = key; *c; c++) {
        bool allowed = ((unsigned char)*c < 0x80 && isalnum((unsigned char)*c)) || *c == '-' || *c == '.';
        if (!allowed) {
            gap = length > 0;
            continue;
        }
        if (length + gap + 1 >= AGGSTATS_NAME_SIZE)
            return imported_fail(ret_error, histogram->line, "'%.60s' is too long for the name of an operation", key);
        if (gap)
            ret_name[length++] = '_';
        gap = false;
        ret_name[length++] = (char)toupper((unsigned char)*c);
    }
    ret_name[length] = '\0';
    if (length == 0)
        return imported_fail(ret_error, histogram->line, "'%.40s' does not name an operation", key);
    return 0;
}

static bool find_total(const struct imported *imported, const struct imported_map *map,
                       const struct imported_histogram *histogram, uint64_t *ret_total) {
    static const char *const suffixes[] = {"_total", "_stats"};
    size_t length = strlen(map->name);
    for (size_t i = 0; i < imported->total_count; i++) {
        const struct imported_total *total = &imported->totals[i];
        bool same =
            total->key && histogram->key ? strcmp(total->key, histogram->key) == 0 : total->key == histogram->key;
        for (size_t j = 0; j < ARRAY_SIZE(suffixes) && same; j++) {
            if (strncmp(total->map, map->name, length) != 0 || strcmp(total->map + length, suffixes[j]) != 0)
                continue;
            *ret_total = total->total;
            return true;
        }
    }
    return false;
}

/* A total that the buckets contradict is of something else. bpftrace 0.17 counts all from 2^31 on in one bucket; then
 * only the total shows how long those took. */
static bool total_fits(const struct imported_histogram *histogram, uint64_t total) {
    long double lower = 0;
    long double upper = 0;
    for (unsigned bucket = 0; bucket < ARRAY_SIZE(histogram->buckets); bucket++) {
        lower += (bucket > 0 ? ldexpl(1, (int)bucket) : 0) * (long double)histogram->buckets[bucket];
        upper += ldexpl(1, (int)bucket + 1) * (long double)histogram->buckets[bucket];
    }
    return (long double)total >= lower && ((long double)total <= upper || histogram->buckets[31] > 0);
}

/* One histogram that becomes an operation. */
struct conversion {
    const struct imported *imported;
    const struct imported_map *map;
    struct aggstats_profile *profile;
    size_t estimated_count; /* operations whose total is estimated */
    struct aggstats_parse_error *error;
};

static int find_or_estimate_total(struct conversion *conversion, const struct imported_histogram *histogram,
                                  uint64_t *ret_total) {
    uint64_t total = 0;
    if (!find_total(conversion->imported, conversion->map, histogram, &total) || !total_fits(histogram, total)) {
        long double estimate = roundl(histogram->middles);
        if (estimate >= ldexpl(1, 64))
            return imported_fail(conversion->error, histogram->line, "the total latency does not fit 64 bits");
        total = (uint64_t)estimate;
        conversion->estimated_count++;
    }
    *ret_total = total;
    return 0;
}

static int fill_op(struct conversion *conversion, const struct imported_histogram *histogram,
                   struct aggstats_op_profile *op) {
    if (histogram->misfit_line > 0)
        return imported_fail(conversion->error, histogram->misfit_line,
                             "a bucket of %.32s is not within a power of two; hist() can be imported, not lhist()",
                             conversion->map->name[0] ? conversion->map->name : "a table");
    int error = name_op(conversion->map, histogram, op->name, conversion->error);
    if (error)
        return error;
    if (aggstats_profile_op(conversion->profile, op->name))
        return imported_fail(conversion->error, histogram->line, "a second histogram would be operation %s", op->name);
    error = find_or_estimate_total(conversion, histogram, &op->total_cycles);
    if (error)
        return error;
    if (__builtin_add_overflow(conversion->profile->clamped, histogram->negative, &conversion->profile->clamped))
        return imported_fail(conversion->error, histogram->line, "the calls do not fit 64 bits");
    op->calls = histogram->calls;
    op->buckets = calloc(ARRAY_SIZE(histogram->buckets), sizeof(*op->buckets));
    if (!op->buckets)
        return -ENOMEM;
    memcpy(op->buckets, histogram->buckets, sizeof(histogram->buckets));
    return 0;
}

/* Histograms without calls are left out, like operations never called. */
static int add_ops(struct conversion *conversion) {
    struct aggstats_profile *profile = conversion->profile;
    const struct imported_map *map = conversion->map;
    profile->ops = calloc(map->histogram_count + 1, sizeof(*profile->ops)); /* also if there are none */
    if (!profile->ops)
        return -ENOMEM;
    for (size_t i = 0; i < map->histogram_count; i++) {
        struct aggstats_op_profile op = {0};
        if (map->histograms[i].calls == 0 && map->histograms[i].misfit_line == 0)
            continue;
        int error = fill_op(conversion, &map->histograms[i], &op);
        if (error)
            return error;
        profile->ops[profile->op_count++] = op;
    }
    aggstats_profile_sort(profile);
    return 0;
}

/* ---- Header ------------------------------------------------------------------------------------- */

static const char *source_of(const struct conversion *conversion, const struct imported_options *options) {
    if (options->source)
        return options->source;
    return conversion->map->name[0] ? conversion->map->name : "table";
}

static int add_labels(const struct conversion *conversion, const struct imported_options *options) {
    struct aggstats_profile *profile = conversion->profile;
    int error = options->layer ? aggstats_profile_add_label(profile, "layer", options->layer) : 0;
    if (!error)
        error = aggstats_profile_add_label(profile, "source", source_of(conversion, options));
    if (!error && conversion->estimated_count > 0)
        error = aggstats_profile_add_label(profile, "approximate",
                                           conversion->estimated_count == profile->op_count
                                               ? "totals are estimated from the middles of the buckets"
                                               : "some totals are estimated from the middles of the buckets");
    return error;
}

/* Used if nothing was counted: bpftrace does not print a map that is empty. */
static const struct imported_map empty_map = {.name = (char[]){"@ns"}};

static bool has_histogram(const struct imported *imported, const char *map) {
    bool has = false;
    for (size_t i = 0; i < imported->map_count; i++)
        has |= imported->maps[i].histogram_count > 0 && is_named(&imported->maps[i], map);
    return has;
}

static const struct imported_map *choose_map_or_none(const struct imported *imported,
                                                     const struct imported_options *options,
                                                     struct aggstats_parse_error *ret_error) {
    if (options->may_be_empty && !has_histogram(imported, options->map))
        return &empty_map;
    if (imported->histogram_count > 0)
        return choose_map(imported, options->map, ret_error);
    imported_fail(ret_error, 0, "no histogram in it; expected those of bpftrace (text or -f json) or bcc");
    return NULL;
}

int imported_profile(const struct imported *imported, const struct imported_options *options,
                     struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error) {
    const struct imported_map *map = choose_map_or_none(imported, options, ret_error);
    const struct unit *unit = map ? choose_unit(map, options, ret_error) : NULL;
    if (!map || !unit)
        return -EBADMSG;
    struct aggstats_profile profile = {
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = unit->frequency_hz},
    };
    struct conversion conversion = {.imported = imported, .map = map, .profile = &profile, .error = ret_error};
    int error = add_ops(&conversion);
    if (!error)
        error = add_labels(&conversion, options);
    if (error) {
        aggstats_profile_finish(&profile);
        return error;
    }
    *ret_profile = profile;
    return 0;
}
