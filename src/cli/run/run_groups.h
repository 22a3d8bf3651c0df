/* The groups of the layer user: the mounts of this system by name. */
#ifndef RUN_GROUPS_H
#define RUN_GROUPS_H

#include "aggstats/shared_groups.h"

struct run_groups {
    struct aggstats_shared_mount *mounts; /* as of the last look */
    size_t mount_count;
};

void run_groups_finish(struct run_groups *groups);

/* An aggstats_mounts_fn: looks again. context: struct run_groups */
const struct aggstats_shared_mount *run_groups_mounts(void *context, size_t *ret_count);

#endif
