#include "attach_mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "mounts.h"
#include "path.h"

static void finish_mount(struct attach_mount *mount) {
    free(mount->path);
    free(mount->type);
    free(mount->root);
}

static int append(struct attach_mounts *mounts, const struct mounts_entry *entry) {
    struct attach_mount mount = {.device = mounts_kernel_device(entry->device),
                                 .path = strdup(entry->path),
                                 .type = strdup(entry->type),
                                 .root = strdup(entry->root)};
    struct attach_mount *grown = reallocarray(mounts->mounts, mounts->count + 1, sizeof(*grown));
    mounts->mounts = grown ? grown : mounts->mounts;
    if (!grown || !mount.path || !mount.type || !mount.root) {
        finish_mount(&mount);
        return -ENOMEM;
    }
    mounts->mounts[mounts->count++] = mount;
    return 0;
}

static bool is_among_first(const struct attach_mounts *mounts, size_t count, dev_t device) {
    bool found = false;
    for (size_t i = 0; i < count && !found; i++)
        found = mounts->mounts[i].device == mounts_kernel_device(device);
    return found;
}

int attach_mounts_add(struct attach_mounts *mounts, pid_t process) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    const size_t known = mounts->count;
    int error = 0;
    mounts_open_of(process, &table);
    while (error == 0 && mounts_next(&table, &entry))
        if (!is_among_first(mounts, known, entry.device))
            error = append(mounts, &entry);
    return error;
}

static bool shows_more(const struct attach_mount *mount, const struct attach_mount *than) {
    return !than || strlen(mount->root) < strlen(than->root);
}

const struct attach_mount *attach_mounts_first(const struct attach_mounts *mounts, uint32_t device) {
    const struct attach_mount *best = NULL;
    for (size_t i = 0; mounts && i < mounts->count; i++)
        if (mounts->mounts[i].device == device && shows_more(&mounts->mounts[i], best))
            best = &mounts->mounts[i];
    return best;
}

const struct attach_mount *attach_mounts_find(const struct attach_mounts *mounts, uint32_t device, const char *path) {
    const struct attach_mount *best = NULL;
    for (size_t i = 0; i < mounts->count; i++) {
        const struct attach_mount *mount = &mounts->mounts[i];
        const bool has_path = mount->device == device && path_below(path, mount->root);
        if (has_path && shows_more(mount, best))
            best = mount;
    }
    return best;
}

void attach_mounts_finish(struct attach_mounts *mounts) {
    for (size_t i = 0; i < mounts->count; i++)
        finish_mount(&mounts->mounts[i]);
    free(mounts->mounts);
    *mounts = (struct attach_mounts){.mounts = NULL};
}
