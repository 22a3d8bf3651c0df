#include "run_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "mounts.h"

void run_groups_finish(struct run_groups *groups) {
    for (size_t i = 0; i < groups->mount_count; i++) {
        free((char *)(uintptr_t)groups->mounts[i].path);
        free((char *)(uintptr_t)groups->mounts[i].name);
    }
    free(groups->mounts);
    *groups = (struct run_groups){0};
}

/* Returns false without memory. */
static bool add(struct run_groups *groups, const struct mounts_entry *entry) {
    struct aggstats_shared_mount *grown = reallocarray(groups->mounts, groups->mount_count + 1, sizeof(*grown));
    char *name = NULL;
    if (!grown)
        return false;
    groups->mounts = grown;
    char *path = strdup(entry->path);
    if (!path || asprintf(&name, "%s %s", path, entry->type) < 0) {
        free(path);
        return false;
    }
    grown[groups->mount_count++] =
        (struct aggstats_shared_mount){.id = entry->id, .device = entry->device, .path = path, .name = name};
    return true;
}

const struct aggstats_shared_mount *run_groups_mounts(void *context, size_t *ret_count) {
    struct run_groups *groups = context;
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    run_groups_finish(groups);
    if (mounts_open(&table) == 0)
        while (mounts_next(&table, &entry) && add(groups, &entry))
            ;
    *ret_count = groups->mount_count;
    return groups->mounts;
}
