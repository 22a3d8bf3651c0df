/* Latency histograms that other tools print: bpftrace, as JSON or as text, and the tools of bcc. Only histograms by
 * powers of two can become profiles, since profiles have such buckets. If the histogram's unit is taken as the clock's
 * cycle, the buckets are exactly the same. */
#ifndef IMPORTED_H
#define IMPORTED_H

#include "aggstats.h"

/* One histogram. */
struct imported_histogram {
    char *key; /* the operation, as the tool names it; NULL: not said */
    size_t line;
    size_t misfit_line; /* of a bucket that is not within a power of two, from an lhist(); 0: none */
    uint64_t calls;
    uint64_t buckets[64]; /* [2^b, 2^(b+1)) units; 0 and 1 are in bucket 0 */
    uint64_t negative;    /* of those, negative ones in bucket 0 */
    long double middles;  /* sum over the calls of the middles of their buckets: about the total */
};

/* Histograms of one name. */
struct imported_map {
    char *name; /* "@usecs"; "" for tables, which have no name */
    char *unit; /* from a table's heading; NULL: not said */
    struct imported_histogram *histograms;
    size_t histogram_count;
};

/* A total printed beside histograms, from bpftrace's sum() and stats(). */
struct imported_total {
    char *map;
    char *key; /* NULL: none */
    uint64_t total;
};

/* The contents of a text. Zeroed: empty. */
struct imported {
    struct imported_map *maps;
    size_t map_count;
    size_t histogram_count; /* of all maps */
    struct imported_total *totals;
    size_t total_count;
};

void imported_finish(struct imported *imported);

/* Fills *ret_error, with characters that a terminal obeys replaced. Returns -EBADMSG */
int imported_fail(struct aggstats_parse_error *ret_error, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The map of that name, made if it is new. Owner: imported, until the next one is made. NULL without memory */
struct imported_map *imported_get_map(struct imported *imported, const char *name);

/* A new histogram of the map. key: NULL if not said.
 * Owner:   imported, until the next one is made
 * Errors:  -EBADMSG there is one already, or too many; -ENOMEM */
int imported_add_histogram(struct imported *imported, struct imported_map *map, const char *key, size_t line,
                           struct imported_histogram **ret_histogram, struct aggstats_parse_error *ret_error);

/* Adds calls whose latency was from min to max, both included. Notes a range that crosses a power of two.
 * Errors:  -EBADMSG there are too many calls */
int imported_add_calls(struct imported_histogram *histogram, uint64_t min, uint64_t max, uint64_t calls, size_t line,
                       struct aggstats_parse_error *ret_error);

/* Adds calls whose latency was negative. Errors: as imported_add_calls() */
int imported_add_negative(struct imported_histogram *histogram, uint64_t calls, size_t line,
                          struct aggstats_parse_error *ret_error);

/* Errors: as imported_add_histogram() */
int imported_add_total(struct imported *imported, const char *map, const char *key, uint64_t total, size_t line,
                       struct aggstats_parse_error *ret_error);

#endif
