#include "trace_counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/lane.h"
#include "base.h"
#include "imported_parse.h"

#define CHUNK_BYTES ((size_t)65536)
#define LINE_MAX_BYTES IMPORTED_SIZE_MAX_BYTES
#define HISTOGRAMS "@ns"
#define TOTALS "@ns_total"
#define OPEN_BUCKET 31 /* bpftrace 0.17 counts all longer latencies in it */

/* ---- Operations --------------------------------------------------------------------------------- */

static struct trace_counted_op *find_op(struct trace_counts *counts, const char *name, unsigned *ret_number) {
    for (unsigned op = 0; op < counts->op_count; op++) {
        *ret_number = op;
        if (strcmp(counts->names[op], name) == 0)
            return &counts->ops[op];
    }
    return NULL;
}

int trace_counts_init(struct trace_counts *ret_counts, const char *script) {
    static const char assignment[] = "@name[";
    *ret_counts = (struct trace_counts){.op_count = 0};
    for (const char *at = script; (at = strstr(at, assignment)) != NULL; at += strlen(assignment)) {
        char name[AGGSTATS_NAME_SIZE];
        unsigned unused;
        if (sscanf(at, "@name[%*u] = \"%31[A-Z0-9_]\"", name) != 1 || find_op(ret_counts, name, &unused))
            continue;
        if (ret_counts->op_count == AGGSTATS_OPS_MAX)
            return -E2BIG;
        memcpy(ret_counts->names[ret_counts->op_count++], name, sizeof(name));
    }
    return 0;
}

void trace_counts_finish(struct trace_counts *counts) {
    free(steal_pointer(&counts->text));
    free(steal_pointer(&counts->histograms));
    free(steal_pointer(&counts->totals));
}

int trace_counts_start(struct trace_counts *counts, struct aggstats_recorder *recorder) {
    counts->recorder = recorder;
    counts->lane = aggstats_lane_create(recorder);
    return counts->lane ? 0 : -ENOMEM;
}

/* ---- Counting ----------------------------------------------------------------------------------- */

static uint64_t take_new(uint64_t *counted, uint64_t now) {
    const uint64_t more = now > *counted ? now - *counted : 0;
    *counted += more;
    return more;
}

static uint64_t to_integer(long double cycles) {
    return cycles < ldexpl(1, 64) ? (uint64_t)cycles : UINT64_MAX;
}

/* The part of a total that these calls can have taken. */
static uint64_t limit_total(const uint64_t buckets[TRACE_COUNTS_BUCKETS], uint64_t total) {
    long double least = 0;
    long double most = 0;
    for (unsigned bucket = 0; bucket < TRACE_COUNTS_BUCKETS; bucket++) {
        least += (bucket > 0 ? ldexpl(1, (int)bucket) : 0) * (long double)buckets[bucket];
        most += (ldexpl(1, (int)bucket + 1) - 1) * (long double)buckets[bucket];
    }
    if ((long double)total < least)
        return to_integer(least);
    return (long double)total > most && buckets[OPEN_BUCKET] == 0 ? to_integer(most) : total;
}

static uint64_t total_of(const struct imported *imported, const char *key) {
    for (size_t i = 0; i < imported->total_count; i++) {
        const struct imported_total *total = &imported->totals[i];
        if (strcmp(total->map, TOTALS) == 0 && total->key && strcmp(total->key, key) == 0)
            return total->total;
    }
    return 0;
}

static int count_histogram(struct trace_counts *counts, const struct imported_histogram *histogram, uint64_t total,
                           struct aggstats_parse_error *ret_why) {
    uint64_t buckets[TRACE_COUNTS_BUCKETS];
    unsigned number;
    struct trace_counted_op *op = histogram->key ? find_op(counts, histogram->key, &number) : NULL;
    if (!op || histogram->misfit_line > 0)
        return imported_fail(ret_why, 0, "the histogram %.40s is not one of an operation",
                             histogram->key ? histogram->key : "without a key");
    for (unsigned bucket = 0; bucket < TRACE_COUNTS_BUCKETS; bucket++)
        buckets[bucket] = take_new(&op->buckets[bucket], histogram->buckets[bucket]);
    const struct aggstats_counted counted = {
        .buckets = buckets,
        .clamped = take_new(&op->negative, histogram->negative),
        .total_cycles = limit_total(buckets, total > op->total ? total - op->total : 0),
        .seen_cycles = (uint64_t)read_clock_ns(CLOCK_MONOTONIC),
    };
    op->total += counted.total_cycles;
    aggstats_lane_count(counts->recorder, counts->lane, number, &counted);
    return 0;
}

static int count_imported(struct trace_counts *counts, const struct imported *imported,
                          struct aggstats_parse_error *ret_why) {
    int error = 0;
    for (size_t i = 0; i < imported->map_count; i++) {
        const struct imported_map *map = &imported->maps[i];
        for (size_t j = 0; j < map->histogram_count && error == 0; j++) {
            const struct imported_histogram *histogram = &map->histograms[j];
            const uint64_t total = histogram->key ? total_of(imported, histogram->key) : 0;
            error = count_histogram(counts, histogram, total, ret_why);
        }
    }
    return error;
}

/* An empty map is not printed. */
static int count_print(struct trace_counts *counts, struct aggstats_parse_error *ret_why) {
    CLEANUP_FREE char *histograms = steal_pointer(&counts->histograms);
    CLEANUP_FREE char *totals = steal_pointer(&counts->totals);
    CLEANUP_FREE char *text = NULL;
    struct imported imported = {.map_count = 0};
    int error = 0;
    if (histograms && asprintf(&text, "%s\n%s\n", histograms, totals ? totals : "") < 0) {
        text = NULL;
        return -ENOMEM;
    }
    if (text)
        error = imported_parse(text, strlen(text), &imported, ret_why);
    if (text && error == 0)
        error = count_imported(counts, &imported, ret_why);
    imported_finish(&imported);
    return error;
}

/* ---- Lines -------------------------------------------------------------------------------------- */

/* If a map is printed twice before the mark, as may happen at the end, the last counts are valid. */
static int keep_line(char **kept, const char *line) {
    free(*kept);
    *kept = strdup(line);
    return *kept ? 0 : -ENOMEM;
}

/* The kernel's time is CLOCK_BOOTTIME, or CLOCK_MONOTONIC if bpftrace has nothing else: the latter is never ahead. 0:
 * the mark has no time */
static int64_t time_of_mark(int64_t mark_ns) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const int64_t age_ns = now_ns >= mark_ns ? now_ns - mark_ns : read_clock_ns(CLOCK_BOOTTIME) - mark_ns;
    return mark_ns > 0 && age_ns >= 0 ? now_ns - age_ns : 0;
}

static int take_mark(struct trace_counts *counts, const char *line, struct aggstats_parse_error *ret_why) {
    static const char key[] = "\"data\": \"";
    const char *data = strstr(line, key);
    char *end = NULL;
    const int64_t mark_ns = data ? strtoll(data + strlen(key), &end, 10) : 0;
    int error = count_print(counts, ret_why);
    if (error)
        return error;
    counts->counted_ns = time_of_mark(mark_ns);
    counts->mount_has_ended = end && strtol(end, NULL, 10) != 0;
    return 0;
}

static int take_line(struct trace_counts *counts, const char *line, struct aggstats_parse_error *ret_why) {
    if (strstr(line, "\"" HISTOGRAMS "\""))
        return keep_line(&counts->histograms, line);
    if (strstr(line, "\"" TOTALS "\""))
        return keep_line(&counts->totals, line);
    return strstr(line, "\"printf\"") ? take_mark(counts, line, ret_why) : 0;
}

/* The rest is the beginning of a line. */
static int take_lines(struct trace_counts *counts, struct aggstats_parse_error *ret_why) {
    char *line = counts->text;
    char *end;
    int error = 0;
    while (error == 0 && (end = memchr(line, '\n', counts->text_bytes - (size_t)(line - counts->text))) != NULL) {
        *end = '\0';
        error = take_line(counts, line, ret_why);
        line = end + 1;
    }
    counts->text_bytes -= (size_t)(line - counts->text);
    memmove(counts->text, line, counts->text_bytes);
    return error;
}

/* Returns how many bytes; 0: it has ended */
static ssize_t read_chunk(struct trace_counts *counts, int fd) {
    if (counts->room_bytes - counts->text_bytes < CHUNK_BYTES) {
        const size_t room_bytes = counts->text_bytes + 2 * CHUNK_BYTES;
        char *grown = room_bytes > LINE_MAX_BYTES ? NULL : realloc(counts->text, room_bytes);
        if (!grown)
            return room_bytes > LINE_MAX_BYTES ? -EFBIG : -ENOMEM;
        counts->text = grown;
        counts->room_bytes = room_bytes;
    }
    const ssize_t count = read(fd, counts->text + counts->text_bytes, CHUNK_BYTES);
    if (count < 0)
        return negative_errno();
    counts->text_bytes += (size_t)count;
    return count;
}

int trace_counts_read(struct trace_counts *counts, int fd, struct aggstats_parse_error *ret_why) {
    ssize_t count = 1;
    int error = 0;
    while (error == 0 && count > 0) {
        count = read_chunk(counts, fd);
        if (count == -EINTR)
            count = 1;
        else if (count > 0)
            error = take_lines(counts, ret_why);
    }
    if (error == 0 && count == 0)
        error = count_print(counts, ret_why);
    if (error)
        return error;
    return count == -EAGAIN ? 1 : (int)count;
}
