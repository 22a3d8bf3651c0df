/* A mount is found in a table of mounts, the daemon's or our own: by the number of its FUSE connection, which the
 * descriptor of the device has, or as the newest mount that was not there before. */
#include "fuse_mount.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "mounts.h"
#include "path.h"

#define CONNECTION "fuse_connection:"

/* ---- All of them -------------------------------------------------------------------------------- */

int fuse_mounts_read(struct fuse_mounts *ret_mounts) {
    struct fuse_mounts mounts = {0};
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    int error = mounts_open(&table);
    while (error == 0 && mounts_next(&table, &entry)) {
        if (!mounts_is_fuse(&entry))
            continue;
        dev_t *grown = reallocarray(mounts.devices, mounts.count + 1, sizeof(*grown));
        if (grown) {
            mounts.devices = grown;
            mounts.devices[mounts.count++] = entry.device;
        }
        error = grown ? 0 : -ENOMEM;
    }
    if (error)
        fuse_mounts_finish(&mounts);
    else
        *ret_mounts = mounts;
    return error;
}

void fuse_mounts_finish(struct fuse_mounts *mounts) {
    free(mounts->devices);
    *mounts = (struct fuse_mounts){0};
}

/* ---- One ---------------------------------------------------------------------------------------- */

/* The number of a connection is that of the file system's device. */
static void find_connection(pid_t process, int fd, dev_t *ret_device) {
    char path[64];
    char text[1024];
    char *end;
    snprintf(path, sizeof(path), "/proc/%ld/fdinfo/%d", (long)process, fd);
    if (process <= 0 || !read_beginning(AT_FDCWD, path, text, sizeof(text)))
        return;
    const char *line = strstr(text, CONNECTION);
    if (!line)
        return;
    const unsigned long number = strtoul(line + strlen(CONNECTION), &end, 10);
    if (end > line + strlen(CONNECTION))
        *ret_device = mounts_device_of_kernel((uint32_t)number);
}

static int copy_entry(const struct mounts_entry *entry, struct fuse_mount *ret_mount) {
    struct fuse_mount mount = {.device = entry->device,
                               .path = strdup(entry->path),
                               .type = strdup(entry->type),
                               .source = strdup(entry->source)};
    if (!mount.path || !mount.type || !mount.source) {
        fuse_mount_finish(&mount);
        return -ENOMEM;
    }
    *ret_mount = mount;
    return 0;
}

/* The last one, which is the newest. device: 0: unknown */
static int find_in(struct mounts_table *table, dev_t device, const struct fuse_mounts *before,
                   struct fuse_mount *ret_mount) {
    struct mounts_entry entry;
    int error = 0;
    while (error == 0 && mounts_next(table, &entry)) {
        bool is_other = device != 0 && entry.device != device;
        for (size_t i = 0; device == 0 && before && i < before->count; i++)
            is_other = is_other || before->devices[i] == entry.device;
        if (!mounts_is_fuse(&entry) || is_other)
            continue;
        fuse_mount_finish(ret_mount);
        error = copy_entry(&entry, ret_mount);
    }
    return error;
}

int fuse_mount_find(pid_t process, int fd, const struct fuse_mounts *before, struct fuse_mount *ret_mount) {
    CLEANUP_MOUNTS struct mounts_table theirs = {0};
    CLEANUP_MOUNTS struct mounts_table ours = {0};
    struct fuse_mount found = {.path = NULL};
    dev_t device = 0;
    find_connection(process, fd, &device);
    int error = mounts_open_of(process, &theirs) == 0 ? find_in(&theirs, device, before, &found) : 0;
    if (error == 0 && !found.path) /* the process may have changed its root directory since, or have ended */
        error = mounts_open(&ours);
    if (error == 0 && !found.path)
        error = find_in(&ours, device, before, &found);
    if (error == 0 && !found.path)
        error = -ENOENT;
    if (error)
        fuse_mount_finish(&found);
    else
        *ret_mount = found;
    return error;
}

int fuse_mount_at(const char *directory, struct fuse_mount *ret_mount) {
    CLEANUP_FREE char *path = realpath(directory, NULL);
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    int error = path ? mounts_open(&table) : negative_errno();
    if (error == 0 && (!mounts_of_path(&table, path, &entry) || !mounts_is_fuse(&entry)))
        error = -ENODEV;
    return error ? error : copy_entry(&entry, ret_mount);
}

bool fuse_mount_is_there(const struct fuse_mount *mount) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    bool found = false;
    mounts_open(&table);
    while (!found && mounts_next(&table, &entry))
        found = entry.device == mount->device && strcmp(entry.path, mount->path) == 0;
    return found;
}

void fuse_mount_finish(struct fuse_mount *mount) {
    free(mount->path);
    free(mount->type);
    free(mount->source);
    free(mount->root);
    *mount = (struct fuse_mount){.path = NULL};
}
