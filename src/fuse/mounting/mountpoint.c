/* What is at the mount point before; finding and removing our mount. */
#include "mountpoint.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base.h"
#include "dir.h"
#include "log.h"
#include "mounts.h"
#include "path.h"

#define COPIES_MAX 64 /* bind mounts of ours */
#define PATIENCE_NS 200000000

/* ---- Before ------------------------------------------------------------------------------------- */

int mountpoint_check(const char *mountpoint, const char *lower_name) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    if (strncmp(lower_name, "/proc/self/fd/", 14) == 0)
        return 0;
    mounts_open(&table);
    if (!mounts_at(&table, mountpoint, &entry) || !mounts_is_profiled(&entry)) /* or another mount hides it */
        return 0;
    log_message("cannot mount on %s: it is a mount of osproffs already, of %s: unmount it ('osprof unmount %s'), or "
                "choose another directory",
                mountpoint, entry.source, mountpoint);
    return -EBUSY;
}

void mountpoint_warn_of_hidden(const char *mountpoint, const char *lower) {
    CLEANUP_DIR DIR *dir = strcmp(mountpoint, lower) != 0 ? opendir(mountpoint) : NULL;
    const struct dirent *entry;
    bool found = false;
    while (dir && !found && (entry = readdir(dir)))
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (found)
        log_message("warning: %s is not empty: what is in it is hidden until osproffs is unmounted", mountpoint);
}

/* ---- After -------------------------------------------------------------------------------------- */

/* Returns whether the device is mounted, and a path by which it can be reached, if there is one. Only paths of that
 * device are accessed: another FUSE mount may hang. Whether a mount is dead its daemon is asked; a dead mount has none.
 * Owner:   the caller frees *ret_path, which is NULL if there is none */
static bool find_mount(dev_t device, bool connected, char **ret_path) {
    const int flags = AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT;
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    struct statx attr;
    bool found = false;
    *ret_path = NULL;
    mounts_open(&table);
    while (!*ret_path && mounts_next(&table, &entry)) {
        dev_t reached = 0;
        if (entry.device != device)
            continue;
        found = true;
        if (mounts_device_at(entry.path, &reached) < 0 || reached != device)
            continue;
        if (connected || (statx(AT_FDCWD, entry.path, flags, STATX_BASIC_STATS, &attr) < 0 && errno == ENOTCONN))
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

/* ---- Processes: the links in /proc show paths without walking them ---- */

struct search {
    const char *path;
    char namespace[64]; /* ours */
    int64_t end_ns;
};

/* Errors: -errno, as when the link is hidden from us */
static int read_link(int dir_fd, const char *name, char *ret_target, size_t size) {
    ssize_t length = readlinkat(dir_fd, name, ret_target, size - 1);
    if (length < 0)
        return negative_errno();
    ret_target[length] = '\0';
    return 0;
}

static bool leads_there(const struct search *search, int dir_fd, const char *name) {
    char target[PATH_MAX];
    return read_link(dir_fd, name, target, sizeof(target)) == 0 && path_below(target, search->path);
}

/* A process in another mount namespace does not see our mount anyway. */
static bool is_user(const struct search *search, int proc_fd, const char *process) {
    char namespace[sizeof(search->namespace)];
    CLEANUP_FD int process_fd = openat(proc_fd, process, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (process_fd < 0 || read_link(process_fd, "ns/mnt", namespace, sizeof(namespace)) < 0 ||
        strcmp(namespace, search->namespace) != 0)
        return false;
    bool found = leads_there(search, process_fd, "cwd");
    CLEANUP_DIR DIR *files = found ? NULL : open_dir_at(process_fd, "fd");
    for (const struct dirent *entry;
         files && !found && read_clock_ns(CLOCK_MONOTONIC) < search->end_ns && (entry = readdir(files));)
        found = entry->d_name[0] != '.' && leads_there(search, dirfd(files), entry->d_name);
    return found;
}

void mountpoint_find_users(const char *path, struct mountpoint_users *ret_users) {
    struct search search = {.path = path, .end_ns = read_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS};
    *ret_users = (struct mountpoint_users){.count = 0};
    CLEANUP_DIR DIR *processes = opendir("/proc");
    const bool is_known = read_link(AT_FDCWD, "/proc/self/ns/mnt", search.namespace, sizeof(search.namespace)) == 0;
    for (const struct dirent *entry;
         processes && is_known && read_clock_ns(CLOCK_MONOTONIC) < search.end_ns && (entry = readdir(processes));) {
        const pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
        if (process > 0 && process != getpid() && is_user(&search, dirfd(processes), entry->d_name) &&
            ret_users->count++ == 0)
            ret_users->first = process;
    }
    ret_users->are_all = read_clock_ns(CLOCK_MONOTONIC) < search.end_ns;
}
