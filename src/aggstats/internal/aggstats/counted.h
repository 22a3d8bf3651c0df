/* libaggstats, inside this project: builds profiles from single calls, for profiles of events; and the order of groups
 * in every profile. */
#ifndef AGGSTATS_COUNTED_H
#define AGGSTATS_COUNTED_H

#include "aggstats/profile.h"

/* A call that has ended. */
struct counted_call {
    uint64_t latency_cycles;
    uint64_t object; /* inode or other object of the call; 0: not known */
    uint64_t asked_bytes;
    uint64_t moved_bytes;
    unsigned error; /* errno value; 0: it did not fail */
};

/* Counts a call in an op. Errors: -EOVERFLOW the total does not fit 64 bits; the call is not counted then */
int counted_op_add(struct aggstats_op_profile *op, unsigned resolution, const struct counted_call *call);

/* Returns the profile's op of that name; if there is none, appends it. NULL: no memory. Owner: the profile */
struct aggstats_op_profile *counted_op_of(struct aggstats_profile *profile, const char *name);

/* Counts a call in the op of that name. Errors: -ENOMEM, -EOVERFLOW as above */
int counted_add(struct aggstats_profile *profile, const char *op, const struct counted_call *call);

/* Adds the ops of another profile of the same clock and resolution, in place.
 * Errors: -ENOMEM, -EOVERFLOW; some may have been added */
int counted_add_ops(struct aggstats_profile *sum, const struct aggstats_profile *other);

/* Sorts groups by grouping, then by total latency, largest first (then by number and name), and the ops of each;
 * `other` comes last in its grouping. */
void counted_sort_groups(struct aggstats_profile *profile);

#endif
