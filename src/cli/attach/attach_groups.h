/* Which files calls are on, and whose they are: what the kernel has counted in windows, as groups of a recorder. Files
 * are called by their paths below what of the file system is mounted, as of when they were first seen. */
#ifndef ATTACH_GROUPS_H
#define ATTACH_GROUPS_H

#include "aggstats/caller_groups.h"
#include "attach_mounts.h"
#include "collector.h"

struct attach_groups; /* opaque */

struct attach_groups_options {
    unsigned groupings; /* bits (1 << AGGSTATS_BY_FILE), not of users; 0: only names are wanted */
    const char *root;   /* the directory of the file system below which names begin; NULL: all of it */
    const struct attach_mounts
        *mounts; /* borrowed; which show where file systems begin; NULL: names begin at the root */
};

/* Call before anything is counted. ret_ways: how the recorder is to group calls
 * Owner:   the caller finishes *ret_groups before the collector, and after the recorder
 * Errors:  -ENOMEM */
int attach_groups_start(struct collector *collector, struct aggstats_recorder *recorder,
                        const struct attach_groups_options *given, struct attach_groups **ret_groups,
                        struct aggstats_grouping_options ret_ways[AGGSTATS_GROUPINGS]);

/* What an object is called, as of when it was first seen. An aggstats_path_fn; context: a struct attach_groups. */
char *attach_groups_path(void *context, uint64_t object);

/* The number of an object's inode; 0: unknown. An aggstats_number_fn; context: as above. */
uint64_t attach_groups_inode(void *context, uint64_t object);

/* NULL is fine. */
void attach_groups_finish(struct attach_groups *groups);

#endif
