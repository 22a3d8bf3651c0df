/* libaggstats, inside this project: facts of profiles that are one number. */
#ifndef AGGSTATS_NUMBERS_H
#define AGGSTATS_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats/profile.h"

enum aggstats_fact_unit {
    AGGSTATS_FACT_OTHER, /* it is no number */
    AGGSTATS_FACT_CYCLES,
    AGGSTATS_FACT_NANOSECONDS,
    AGGSTATS_FACT_CALLS, /* shown also if there are none */
};

struct aggstats_fact {
    const char *name; /* as views have it */
    enum aggstats_fact_unit unit;
    uint64_t number;
};

/* The next fact that a profile tells. *position: 0 at first. False: there are no more */
bool aggstats_profile_next_fact(const struct aggstats_profile *profile, unsigned *position,
                                struct aggstats_fact *ret_fact);

#endif
