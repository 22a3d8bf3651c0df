/* libaggstats, inside this project: facts of profiles that are numbers. */
#ifndef AGGSTATS_NUMBERS_H
#define AGGSTATS_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats/profile.h"

enum aggstats_fact_unit {
    AGGSTATS_FACT_OTHER, /* no number */
    AGGSTATS_FACT_CYCLES,
    AGGSTATS_FACT_NANOSECONDS,
    AGGSTATS_FACT_BYTES,
    AGGSTATS_FACT_CALLS,
    AGGSTATS_FACT_COUNT, /* of something else */
};

struct aggstats_fact {
    const char *name; /* in views */
    enum aggstats_fact_unit unit;
    const uint64_t *numbers;
    const char *const *words; /* names of the numbers, up to NULL; NULL: there is one number */
    bool has_zeros;           /* those that are 0 are known, too */
};

/* Returns the next known fact of a profile. *position: 0 at first. False: there are no more */
bool aggstats_profile_next_fact(const struct aggstats_profile *profile, unsigned *position,
                                struct aggstats_fact *ret_fact);

/* Copies to a profile of some of the calls what is known of the whole recording alone: what was not seen, sums that the
 * kernel has, the cost. Calls and times stay.
 * Errors:  -ENOMEM */
int aggstats_profile_describe(struct aggstats_profile *part, const struct aggstats_profile *whole);

/* Appends a copy. Errors: -ENOMEM */
int aggstats_profile_add_unseen(struct aggstats_profile *profile, const struct aggstats_unseen_program *program);

/* True if the profiles of a sum have several values of that label. */
bool aggstats_profile_has_list(const struct aggstats_profile *profile, const char *key);

/* True if some programs or calls are known not to have been seen. */
bool aggstats_profile_has_unseen(const struct aggstats_profile *profile);

/* "static", "io_uring"; as in profiles. */
const char *aggstats_unseen_name(enum aggstats_unseen kind);

#endif
