/* Private: the facts of a profile besides the latencies of operations. Each is a row: how its header line is read and
 * written, and how it changes in sums, in differences, and with another clock.
 *
 * Keys are reserved: no label may have one of them. */
#ifndef FACTS_H
#define FACTS_H

#include <errno.h>

#include "aggstats.h"
#include "aggstats/numbers.h"

struct parser;

/* The index of a number in the live file: part of the format, so existing ones must not change. */
enum fact_place {
    FACT_NOT_LIVE,
    FACT_STOLEN,
    FACT_STOPPED,
    FACT_STORAGE_READ,
    FACT_GROUPINGS, /* bits; of no row: those that the recorder has, and the live file lacks */
    FACT_CACHE_READ,
    FACT_CACHE_MISSED,
    FACT_CACHE_UNJUDGED,
    FACT_PLACES_MAX = 29,
};

/* The result of a difference if the earlier profile has more. */
enum fact_less {
    FACT_LESS_IS_WRONG, /* an error: the earlier profile is not contained in the later one */
    FACT_LESS_IS_UNKNOWN,
    FACT_LESS_IS_ZERO,
    FACT_IS_THE_LATER_ONES, /* no difference is taken */
};

/* A fact that is one number, a uint64_t in struct aggstats_profile, or several one after the other. In sums it is the sum,
 * if both profiles know it. Each of several has a word before it in the line: "read 4096 written 0". */
struct fact_number {
    size_t offset;            /* of the number */
    const char *const *words; /* of several, up to NULL; NULL: it is one number */
    size_t known_offset;      /* of a bool that is true if it is known; 0: it is always known */
    enum aggstats_fact_unit unit;
    enum fact_less less;
    enum fact_place place; /* in the live file */
    const char *json;      /* member of JSON documents; NULL: written with something else */
    bool json_always;      /* also if it is 0 */
};

struct fact {
    const char *key; /* of the line; NULL: the end of the table */
    bool repeats;    /* a profile may have several lines */
    bool of_groups;  /* a number that groups have too */
    bool of_whole;   /* it is of the whole recording, whichever of its calls are chosen */

    struct fact_number number; /* unit other than AGGSTATS_FACT_OTHER: it is one number, the rest is NULL */

    /* value: the text after the key; may be changed. Errors: as parser_fail(), -ENOMEM */
    int (*parse)(struct parser *parser, char *value);

    /* Writes its lines, if it is known. NULL: calls and their causes, which are written together (text_calls.c) */
    void (*write)(const struct aggstats_profile *profile, FILE *stream);

    /* Add or subtract the other profile's. NULL: it belongs to operations or calls, and changes with them
     * (profile_sum.c); or it is a number that is added.
     * Errors:  -ENOMEM; any other, if the sum is too large, or the difference below 0 */
    int (*add)(struct aggstats_profile *sum, const struct aggstats_profile *other);
    int (*subtract)(struct aggstats_profile *difference, const struct aggstats_profile *other);

    /* Converts cycles from one clock's rate to another's. NULL: it has no cycles, or as above (profile_scale.c).
     * Errors:  -EOVERFLOW */
    int (*rescale)(struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz);

    /* Removes paths, which may be private. NULL: it has none */
    void (*drop_paths)(struct aggstats_profile *profile);
};

/* In the order in which they are written. */
extern const struct fact facts[];

#define FACTS_BEFORE_LABELS 2 /* rows; after them labels are written */

/* What a row's functions do, or what is done with a number.
 * profile: the parser's, or for a number that groups have a group's
 * Errors:  as the functions of struct fact */
int fact_parse(const struct fact *fact, struct parser *parser, struct aggstats_profile *profile, char *value);
void fact_write(const struct fact *fact, const struct aggstats_profile *profile, FILE *stream);
int fact_add(const struct fact *fact, struct aggstats_profile *sum, const struct aggstats_profile *other);
int fact_subtract(const struct fact *fact, struct aggstats_profile *difference, const struct aggstats_profile *other);
int fact_rescale(const struct fact *fact, struct aggstats_profile *profile, uint64_t from_hz, uint64_t to_hz);

/* Writes the numbers that groups have. Numbers that are 0 have no line. */
void facts_write_of_group(const struct aggstats_profile *group, FILE *stream);

/* Sets the numbers from a live file, by their places. known: bit i set: numbers[i] is known */
void facts_read_live(struct aggstats_profile *profile, uint64_t known, const uint64_t numbers[FACT_PLACES_MAX]);

/* The row of a key; NULL if there is none. */
const struct fact *fact_of(const char *key);

/* round(value * to / from). Errors: -EOVERFLOW */
int cycles_rescale(uint64_t *cycles, uint64_t from_hz, uint64_t to_hz);

static inline int number_add(uint64_t *sum, uint64_t number) {
    return __builtin_add_overflow(*sum, number, sum) ? -EOVERFLOW : 0;
}

static inline int number_subtract(uint64_t *from, uint64_t number) {
    return __builtin_sub_overflow(*from, number, from) ? -ERANGE : 0;
}

/* ---- Programs that were not seen (profile_unseen.c), each known by its kind and its name ---- */

#define PROFILE_UNSEEN_MAX 64 /* of one profile: sums keep those that ran longest. Their number is in not_seen */

extern const char *const unseen_words[AGGSTATS_UNSEEN_KINDS + 1]; /* the last is NULL */

/* Errors: -ENOMEM, -EOVERFLOW */
int profile_copy_unseen(const struct aggstats_profile *profile, struct aggstats_profile *copy);
int profile_add_all_unseen(struct aggstats_profile *sum, const struct aggstats_profile *other);

#endif
