/* Latency histograms that other tools print, and how they become a profile: those of bpftrace, as JSON or as text, and
 * those of the tools of bcc. Only histograms by powers of two can be profiles, since a profile's buckets are such; in
 * the unit of the histogram, taken as the clock's cycle, they are the same buckets exactly.
 *
 * Texts are foreign bytes: whatever they hold, an error tells the line. */
#ifndef FOREIGN_H
#define FOREIGN_H

#include "aggstats.h"

#define FOREIGN_SIZE_MAX_BYTES (16U << 20)

/* One histogram. */
struct foreign_histogram {
    char *key; /* what it is of, as the tool names it; NULL: not said */
    size_t line;
    size_t misfit_line; /* of a bucket that is not within a power of two: an lhist(); 0: none */
    uint64_t calls;
    uint64_t buckets[64]; /* [2^b, 2^(b+1)) units; 0 and 1 are in bucket 0 */
    uint64_t negative;    /* of those in bucket 0 */
    long double middles;  /* sum over the calls of the middles of their buckets: about the total */
};

/* Histograms of one name. */
struct foreign_map {
    char *name; /* "@usecs"; "" for tables, which have none */
    char *unit; /* as a table's heading says it; NULL: not said */
    struct foreign_histogram *histograms;
    size_t histogram_count;
};

/* A total that stands beside histograms, from bpftrace's sum() and stats(). */
struct foreign_total {
    char *map;
    char *key; /* NULL: none */
    uint64_t total;
};

/* What a text holds. Zeroed: nothing. */
struct foreign {
    struct foreign_map *maps;
    size_t map_count;
    size_t histogram_count; /* of all maps */
    struct foreign_total *totals;
    size_t total_count;
};

/* Reads a text of either kind.
 * Owner:   the caller finishes *ret_foreign
 * Errors:  -EBADMSG with *ret_error filled, -ENOMEM; *ret_foreign untouched */
int foreign_parse(const char *text, size_t size_bytes, struct foreign *ret_foreign,
                  struct aggstats_parse_error *ret_error);

void foreign_finish(struct foreign *foreign);

struct foreign_options {
    const char *map;   /* with or without "@"; NULL: the only one */
    const char *unit;  /* "ns", "us", "ms"; NULL: as the map's name or the table's heading says */
    const char *layer; /* NULL: not said */
};

/* True for a unit of time that can be imported. */
bool foreign_unit_valid(const char *unit);

/* The histograms of one map as a profile, an operation each. A total comes from the map "<name>_total" or
 * "<name>_stats" where there is one that its histogram allows, else from the middles of the buckets, which the
 * profile's label "approximate" then says.
 * Owner:   the caller finishes *ret_profile
 * Errors:  as foreign_parse() */
int foreign_profile(const struct foreign *foreign, const struct foreign_options *options,
                    struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error);

/* ---- For the readers of each kind of text ---- */

int foreign_parse_json(const char *text, size_t size_bytes, struct foreign *foreign,
                       struct aggstats_parse_error *ret_error);
int foreign_parse_text(const char *text, size_t size_bytes, struct foreign *foreign,
                       struct aggstats_parse_error *ret_error);

/* Fills *ret_error, with what a terminal might obey made harmless. Returns -EBADMSG */
int foreign_fail(struct aggstats_parse_error *ret_error, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The map of that name, made if it is new. Owner: foreign, until the next one is made. NULL without memory */
struct foreign_map *foreign_get_map(struct foreign *foreign, const char *name);

/* A new histogram of the map. key: NULL if not said. Owner: foreign, until the next one is made
 * Errors:  -EBADMSG there is one already, or too many; -ENOMEM */
int foreign_add_histogram(struct foreign *foreign, struct foreign_map *map, const char *key, size_t line,
                          struct foreign_histogram **ret_histogram, struct aggstats_parse_error *ret_error);

/* Calls whose latency was from min to max, both included; a range that reaches over a power of two is noted.
 * Errors:  -EBADMSG there are too many calls */
int foreign_add_calls(struct foreign_histogram *histogram, uint64_t min, uint64_t max, uint64_t calls, size_t line,
                      struct aggstats_parse_error *ret_error);

/* Calls whose latency was negative. Errors: as foreign_add_calls() */
int foreign_add_negative(struct foreign_histogram *histogram, uint64_t calls, size_t line,
                         struct aggstats_parse_error *ret_error);

/* Errors: as foreign_add_histogram() */
int foreign_add_total(struct foreign *foreign, const char *map, const char *key, uint64_t total, size_t line,
                      struct aggstats_parse_error *ret_error);

#endif
