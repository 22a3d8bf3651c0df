/* Groups of the profiles that are added up: by name, or of users by number. Bounded: of each kind those with most
 * latency are kept, and all others are one group. */
#ifndef MERGING_GROUPS_H
#define MERGING_GROUPS_H

#include "aggstats.h"

#define MERGING_GROUPS_MAX 1024 /* of a kind, beside the kernel and the others */

struct merging_group {
    struct aggstats_group group;
    uint64_t hash;               /* of its name */
    uint64_t profile_number;     /* of the last profile that had it */
    uint64_t others_seen_cycles; /* latency of the others in profiles that had it */
    uint64_t carried_cycles;     /* at most so much latency of its calls was given to the others before it came in */
};

/* Those of one kind. */
struct merging_kind {
    struct merging_group *rows;
    size_t count;
    uint64_t others_cycles;      /* latency of the others in all profiles, and of all calls of those without groups */
    uint64_t evicted_cycles_max; /* of any group that was given to the others */
    bool has_remainder;          /* some profiles had no such groups: their calls are the others' */
};

/* Zeroed: of no profiles. */
struct merging_groups {
    struct merging_kind kinds[AGGSTATS_GROUPINGS];
    uint64_t profile_count;
    uint64_t total_cycles; /* latency of all profiles so far; UINT64_MAX: more */
};

/* Adds those of a profile. Processes of different runs have nothing but their names in common, so they are programs.
 * Errors: -EOVERFLOW, -ENOMEM: fit for merging_groups_finish() only */
int merging_groups_add(struct merging_groups *groups, const struct aggstats_profile *profile);

/* Gives them to the sum of these profiles, which has no groups yet.
 * Errors: -ENOMEM, and others of adding up; *sum has no groups then */
int merging_groups_give(const struct merging_groups *groups, struct aggstats_profile *sum);

/* Frees those of a profile. */
void merging_groups_drop(struct aggstats_profile *profile);

void merging_groups_finish(struct merging_groups *groups);

#endif
