#include "attach_target.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "command.h"
#include "mounts.h"
#include "path.h"
#include "pseudo_filesystems.h"

static bool is_among(const char *type, const char *const *types, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* File systems that wait for a server or a daemon. */
static bool may_hang(const struct mounts_entry *entry) {
    static const char *const types[] = {"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "lustre", "gfs2", "ocfs2"};
    return is_among(entry->type, types, ARRAY_SIZE(types)) || mounts_is_fuse(entry);
}

/* Those whose files have other devices for stat(2) than the superblock. */
static bool has_one_device(const char *type) {
    return strcmp(type, "btrfs") != 0 && strcmp(type, "overlay") != 0;
}

static bool is_pseudo(const char *type) {
#define NAME_ELEMENT(MAGIC, NAME) NAME,
    static const char *const types[] = {PSEUDO_FILESYSTEMS(NAME_ELEMENT)};
    return is_among(type, types, ARRAY_SIZE(types));
}

static int copy_entry(const struct mounts_entry *entry, const char *path, struct attach_target *ret_target) {
    struct attach_target target = {.mount = {.device = entry->device,
                                             .path = strdup(path),
                                             .type = strdup(entry->type),
                                             .source = strdup(entry->source),
                                             .root = strdup(entry->root)},
                                   .mountpoint = strdup(entry->path),
                                   .has_one_device = has_one_device(entry->type)};
    if (!target.mount.path || !target.mount.type || !target.mount.source || !target.mount.root || !target.mountpoint) {
        attach_target_finish(&target);
        return -ENOMEM;
    }
    attach_target_finish(ret_target);
    *ret_target = target;
    return 0;
}

/* The mount with the longest path above this one; of several at one place the last, which hides the others.
 * Errors:  -ENOENT there is none, -ENOMEM, those of reading the table */
static int find_above(const char *path, struct attach_target *ret_target, bool *ret_may_hang) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    size_t length = 0;
    int error = mounts_open(&table);
    while (error == 0 && mounts_next(&table, &entry)) {
        if (!path_below(path, entry.path) || strlen(entry.path) < length)
            continue;
        length = strlen(entry.path);
        *ret_may_hang = may_hang(&entry);
        error = copy_entry(&entry, path, ret_target);
    }
    return error == 0 && !ret_target->mountpoint ? -ENOENT : error;
}

/* The mount that the kernel finds there, which the one with the longest path may hide.
 * Errors:  -EXDEV it is of another mount namespace, -ENOTDIR, -ENOMEM, those of statx(2) and of reading the table */
static int find_there(const char *directory, const char *path, struct attach_target *ret_target) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    struct statx attr;
    if (statx(AT_FDCWD, directory, 0, STATX_TYPE | STATX_MNT_ID, &attr) < 0)
        return negative_errno();
    if (!S_ISDIR(attr.stx_mode))
        return -ENOTDIR;
    int error = mounts_open(&table);
    while (error == 0 && mounts_next(&table, &entry))
        if (entry.id == attr.stx_mnt_id)
            return copy_entry(&entry, path, ret_target);
    return error ? error : -EXDEV;
}

/* Symbolic links in it are resolved, unless that may hang. */
static int find(const char *directory, struct attach_target *target) {
    CLEANUP_FREE char *path = directory[0] ? path_normalise(directory) : NULL;
    bool hangs = false;
    int error = path ? find_above(path, target, &hangs) : directory[0] ? -ENOMEM : -ENOENT;
    if (error || hangs)
        return error;
    CLEANUP_FREE char *real = realpath(directory, NULL);
    if (!real)
        return negative_errno();
    error = find_above(real, target, &hangs);
    return error || hangs ? error : find_there(directory, real, target);
}

int attach_target_find(const char *directory, struct attach_target *ret_target) {
    struct attach_target target = {.mountpoint = NULL};
    int error = find(directory, &target);
    if (error == -EXDEV)
        complain(
            "cannot watch %s: it is in another mount namespace; osprof must run there, such as by nsenter -t PID -m",
            directory);
    else if (error)
        complain("cannot watch %s: %s", directory, strerror(-error));
    else if (is_pseudo(target.mount.type)) {
        complain("cannot watch %s: it is on %s, which holds no files, but tells what the kernel knows", directory,
                 target.mount.type);
        error = -EINVAL;
    }
    if (error)
        attach_target_finish(&target);
    else
        *ret_target = target;
    return error;
}

bool attach_target_is_there(const struct attach_target *target) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    bool found = false;
    mounts_open(&table);
    while (!found && mounts_next(&table, &entry))
        found = entry.device == target->mount.device;
    return found;
}

void attach_target_finish(struct attach_target *target) {
    fuse_mount_finish(&target->mount);
    free(target->mountpoint);
    *target = (struct attach_target){.mountpoint = NULL};
}
