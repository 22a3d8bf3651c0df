/* Private: the facts of a profile beside its operations' latencies, a row each: how its line of the header is read and
 * written, and what becomes of it in sums, in differences, and with another clock.
 *
 * Keys are reserved: no label has one of them. */
#ifndef FACTS_H
#define FACTS_H

#include "aggstats.h"

struct parser;

struct fact {
    const char *key; /* of the line; NULL: end of the table */
    bool repeats;    /* a profile may have several lines */

    /* value: the text behind the key; is changed. Errors: as parser_fail(), -ENOMEM */
    int (*parse)(struct parser *parser, char *value);

    /* Writes its lines, if it is known. NULL: slow calls, which are written together (text_slow.c) */
    void (*write)(const struct aggstats_profile *profile, FILE *stream);

    /* Adds the other profile's, or subtracts it. NULL: it belongs to operations or calls, and changes with them
     * (profile_sum.c).
     * Errors:  any, if the sum is too large, or the difference below 0 */
    int (*add)(struct aggstats_profile *sum, const struct aggstats_profile *other);
    int (*subtract)(struct aggstats_profile *difference, const struct aggstats_profile *other);

    /* Converts cycles from one clock rate to another. NULL: it has none, or as above (profile_scale.c).
     * Errors:  -EOVERFLOW */
    int (*rescale)(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz);
};

/* In the order in which they are written. */
extern const struct fact facts[];

#define FACTS_BEFORE_LABELS 2 /* rows; behind them labels are written */

/* The row of a key; NULL if there is none. */
const struct fact *fact_of(const char *key);

/* round(value * to / from). Errors: -EOVERFLOW */
int cycles_rescale(uint64_t *cycles, uint64_t from_hz, uint64_t to_hz);

#endif
