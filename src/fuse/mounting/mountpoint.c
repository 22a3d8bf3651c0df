/* What is at the mount point before; finding and removing our mount. */
#include "mountpoint.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base.h"
#include "log.h"
#include "mounts.h"

#define COPIES_MAX 64 /* bind mounts of ours */

/* ---- Before ------------------------------------------------------------------------------------- */

/* The lower directory of the osproffs mount at a path. NULL: there is none, or another mount hides it.
 * Owner:   the caller frees it */
static char *find_ours(const char *path) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    mounts_open(&table);
    return mounts_at(&table, path, &entry) && mounts_is_profiled(&entry) ? strdup(entry.source) : NULL;
}

int mountpoint_check(const char *mountpoint, const char *lower_name) {
    CLEANUP_FREE char *lower = strncmp(lower_name, "/proc/self/fd/", 14) != 0 ? find_ours(mountpoint) : NULL;
    if (!lower)
        return 0;
    log_message("cannot mount on %s: it is a mount of osproffs already, of %s: unmount it ('osprof unmount %s'), or "
                "choose another directory",
                mountpoint, lower, mountpoint);
    return -EBUSY;
}

static bool is_empty(const char *path) {
    DIR *dir = opendir(path);
    const struct dirent *entry;
    bool found = false;
    while (dir && !found && (entry = readdir(dir)))
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return !found;
}

void mountpoint_warn_of_hidden(const char *mountpoint, const char *lower) {
    if (strcmp(mountpoint, lower) != 0 && !is_empty(mountpoint))
        log_message("warning: %s is not empty: what is in it is hidden until osproffs is unmounted", mountpoint);
}

/* ---- After -------------------------------------------------------------------------------------- */

/* Asks the mount's daemon; a dead mount has none. */
static bool is_dead(const char *path) {
    struct statx attr;
    return statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &attr) < 0 &&
           errno == ENOTCONN;
}

static bool is_ours(const char *path, dev_t device, bool connected) {
    dev_t reached = 0;
    return mounts_device_at(path, &reached) == 0 && reached == device && (connected || is_dead(path));
}

/* Returns whether the device is mounted, and a path by which it can be reached, if there is one. Only paths of that
 * device are accessed: another FUSE mount may hang.
 * Owner:   the caller frees *ret_path, which is NULL if there is none */
static bool find_mount(dev_t device, bool connected, char **ret_path) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    bool found = false;
    *ret_path = NULL;
    mounts_open(&table);
    while (!*ret_path && mounts_next(&table, &entry)) {
        if (entry.device != device)
            continue;
        found = true;
        if (is_ours(entry.path, device, connected))
            *ret_path = strdup(entry.path);
    }
    return found;
}

int mountpoint_unmount(dev_t device, bool connected, bool abort_calls) {
    for (int copies = 0; copies < COPIES_MAX; copies++) {
        CLEANUP_FREE char *path = NULL;
        bool found = find_mount(device, connected, &path);
        int err = path ? mounts_unmount(path, MNT_DETACH | (abort_calls ? MNT_FORCE : 0)) : 0;
        if (!path || err < 0)
            return err < 0 ? err : found && connected ? -EBUSY : 0;
    }
    return -EBUSY;
}
