/* Imported histograms as a profile. */
#ifndef IMPORTED_PROFILE_H
#define IMPORTED_PROFILE_H

#include "imported.h"

struct imported_options {
    const char *map;    /* with or without "@"; NULL: the only one */
    const char *unit;   /* "ns", "us", "ms"; NULL: as the map's name or the table's heading says */
    const char *layer;  /* NULL: not said */
    const char *source; /* for the header line; NULL: the name of the map */
    bool may_be_empty;  /* a map, which is named then, without histograms is a profile without calls, of ns; else an
                         * error */
};

/* True for a unit of time that can be imported. */
bool imported_profile_unit_valid(const char *unit);

/* The histograms of one map as a profile, an operation each. A total comes from the map "<name>_total" or
 * "<name>_stats" where there is one that its histogram allows, else from the middles of the buckets, which the
 * profile's label "approximate" then says.
 * Owner:   the caller finishes *ret_profile
 * Errors:  as imported_parse() */
int imported_profile(const struct imported *imported, const struct imported_options *options,
                     struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error);

#endif
