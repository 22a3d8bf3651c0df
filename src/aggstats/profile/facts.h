/* Private: the facts of a profile beside its operations' latencies, a row each: how its line of the header is read and
 * written, and what becomes of it in sums, in differences, and with another clock.
 *
 * Keys are reserved: no label has one of them. */
#ifndef FACTS_H
#define FACTS_H

#include "aggstats.h"
#include "aggstats/numbers.h"

struct parser;

/* Where the live file has a number: part of the format, so that none changes its place. */
enum fact_place {
    FACT_NOT_LIVE,
    FACT_STOLEN,
    FACT_STOPPED,
    FACT_PLACES_MAX = 31,
};

/* What a difference has where the earlier profile has more. */
enum fact_less {
    FACT_LESS_IS_WRONG, /* then the earlier profile is not contained in the other */
    FACT_LESS_IS_UNKNOWN,
    FACT_LESS_IS_NONE,
};

/* A fact that is one number, of type uint64_t, in struct aggstats_profile. Sums have the sum, if both profiles know it. */
struct fact_number {
    size_t offset;       /* of the number */
    size_t known_offset; /* of a bool that says whether it is known; 0: it is always known */
    enum aggstats_fact_unit unit;
    enum fact_less less;
    enum fact_place place; /* in the live file */
    const char *json;      /* member of JSON documents; NULL: it is written with something else */
};

struct fact {
    const char *key; /* of the line; NULL: behind the last row */
    bool repeats;    /* a profile may have several lines */

    struct fact_number number; /* its unit is not AGGSTATS_FACT_OTHER: the fact is one number; the rest is NULL then */

    /* value: the text behind the key; is changed. Errors: as parser_fail(), -ENOMEM */
    int (*parse)(struct parser *parser, char *value);

    /* Its lines, if it is known. NULL: slow calls, which are written together (text_slow.c) */
    void (*write)(const struct aggstats_profile *profile, FILE *stream);

    /* Adds the other profile's, or takes it away. NULL: it belongs to operations or calls, and changes with them
     * (profile_sum.c).
     * Errors: any, if the sum is too large, or the difference below 0 */
    int (*add)(struct aggstats_profile *sum, const struct aggstats_profile *other);
    int (*subtract)(struct aggstats_profile *difference, const struct aggstats_profile *other);

    /* Turns cycles of a clock of one rate into those of another. NULL: it has none, or as above (profile_scale.c).
     * Errors: -EOVERFLOW */
    int (*rescale)(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz);

    /* Takes paths out, which may be nobody else's business. NULL: it has none */
    void (*drop_paths)(struct aggstats_profile *profile);
};

/* In the order in which they are written. */
extern const struct fact facts[];

#define FACTS_BEFORE_LABELS 2 /* rows; behind them labels are written */

/* The numbers that a live file has, by their places. known: bit i is set: numbers[i] is known */
void facts_read_live(struct aggstats_profile *profile, uint64_t known, const uint64_t numbers[FACT_PLACES_MAX]);

/* The row of a key; NULL if there is none. */
const struct fact *fact_of(const char *key);

/* round(value * to / from). Errors: -EOVERFLOW */
int cycles_rescale(uint64_t *cycles, uint64_t from_hz, uint64_t to_hz);

#endif
