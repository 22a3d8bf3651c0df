/* Imported histograms as a profile. */
#ifndef IMPORTED_PROFILE_H
#define IMPORTED_PROFILE_H

#include "imported.h"

struct imported_options {
    const char *map;    /* with or without "@"; NULL: the only one */
    const char *unit;   /* "ns", "us", "ms"; NULL: by the map's name or the table's heading */
    const char *layer;  /* NULL: not said */
    const char *source; /* for the header line; NULL: the name of the map */
    bool may_be_empty;  /* a map that is named and has no histograms is a profile without calls, in ns; else an error */
};

/* True for a unit of time that can be imported. */
bool imported_profile_unit_valid(const char *unit);

/* The histograms of one map as a profile, each as an operation. A total comes from the map "<name>_total" or
 * "<name>_stats", if there is one that is possible for the histogram. Else it is estimated from the middles of the
 * buckets, and the profile gets the label "approximate".
 * Owner:   the caller finishes *ret_profile
 * Errors:  as imported_parse() */
int imported_profile(const struct imported *imported, const struct imported_options *options,
                     struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error);

#endif
