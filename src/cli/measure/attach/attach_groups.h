/* Which files calls are on, and whose they are: what the kernel has counted in windows, as groups of a recorder. Files
 * are called by their paths below what of the file system is mounted, as of when they were first seen. */
#ifndef ATTACH_GROUPS_H
#define ATTACH_GROUPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "aggstats/caller_groups.h"
#include "collector.h"

/* ---- Where file systems are mounted --------------------------------------------------------------- */

/* As this process sees it, and as the watched ones do. */
struct attach_mount {
    uint32_t device; /* of the file system, as the kernel has it */
    char *path;
    char *type;
    char *root; /* what of the file system is mounted */
};

struct attach_mounts {
    struct attach_mount *mounts;
    size_t count;
};

/* Adds the mounts that a process sees, of file systems that earlier processes have not shown; 0: this process. A process
 * that has ended sees none.
 * Errors:  -ENOMEM */
int attach_mounts_add(struct attach_mounts *mounts, pid_t process);

/* The mount that shows most of the file system, or that part of it in which the path is; of several the first. NULL: none
 * does.
 * mounts:  may be NULL
 * path:    below the root of the file system; NULL: any
 * Owner:   mounts */
const struct attach_mount *attach_mounts_find(const struct attach_mounts *mounts, uint32_t device, const char *path);

void attach_mounts_finish(struct attach_mounts *mounts);

/* ---- Groups ------------------------------------------------------------------------------------- */

struct attach_groups; /* opaque */

struct attach_groups_options {
    unsigned groupings;                 /* bits (1 << AGGSTATS_BY_FILE), not of users; 0: only names are wanted */
    const char *root;                   /* the directory of the file system below which names begin; NULL: all of it */
    const struct attach_mounts *mounts; /* borrowed; show where file systems begin; NULL: names begin at the root */
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
