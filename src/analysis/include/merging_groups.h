/* Groups of profiles that are added up: by name; users by number. Bounded: of each kind those with most latency are
 * kept, and all others are one group. */
#ifndef MERGING_GROUPS_H
#define MERGING_GROUPS_H

#include "aggstats.h"

#define MERGING_GROUPS_MAX 1024 /* of a kind, besides "kernel" and "other" */

struct merging_group {
    struct aggstats_group group;
    uint64_t hash;               /* of its name */
    unsigned next;               /* number of the next row whose hash has the same end, from 1; 0: there is none */
    uint64_t profile_number;     /* of the last profile that had it */
    uint64_t others_seen_cycles; /* latency of `other` in profiles with this group */
    uint64_t carried_cycles;     /* at most this much latency of its calls was added to `other` before it was kept */
};

struct merging_index; /* opaque */

/* The groups of one kind. */
struct merging_kind {
    struct merging_group *rows; /* a row keeps its place */
    struct merging_index *index;
    size_t count;
    size_t named_count;          /* of those, all but "kernel" and "other" */
    uint64_t others_cycles;      /* latency of `other` in all profiles, and of all calls in profiles without groups */
    uint64_t evicted_cycles_max; /* of any group that was added to `other` */
    bool has_remainder;          /* some profiles had no such groups: their calls are in `other` */
};

/* Zeroed: of no profiles. */
struct merging_groups {
    struct merging_kind kinds[AGGSTATS_GROUPINGS];
    uint64_t profile_count;
    uint64_t total_cycles; /* latency of all profiles so far; UINT64_MAX: more */
};

/* Adds those of a profile. Processes of different runs have nothing but their names in common, so they become programs.
 * Errors:  -EOVERFLOW, -ENOMEM: only merging_groups_finish() may be called then */
int merging_groups_add(struct merging_groups *groups, const struct aggstats_profile *profile);

/* Moves them into the sum of these profiles, which has no groups yet.
 * Errors:  -ENOMEM, and others of adding up; *sum has no groups then */
int merging_groups_give(const struct merging_groups *groups, struct aggstats_profile *sum);

/* Frees those of a profile. */
void merging_groups_drop(struct aggstats_profile *profile);

void merging_groups_finish(struct merging_groups *groups);

#endif
