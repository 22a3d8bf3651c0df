/* libaggstats, inside this project: facts of profiles that are one number. */
#ifndef AGGSTATS_NUMBERS_H
#define AGGSTATS_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats/profile.h"

enum aggstats_fact_unit {
    AGGSTATS_FACT_OTHER, /* not one number */
    AGGSTATS_FACT_CYCLES,
    AGGSTATS_FACT_NANOSECONDS,
    AGGSTATS_FACT_BYTES,
    AGGSTATS_FACT_CALLS, /* shown even if 0 */
};

struct aggstats_fact {
    const char *name; /* in views */
    enum aggstats_fact_unit unit;
    uint64_t number;
};

/* Returns the next known fact of a profile. *position: 0 at first. False: there are no more */
bool aggstats_profile_next_fact(const struct aggstats_profile *profile, unsigned *position,
                                struct aggstats_fact *ret_fact);

#endif
