#include "run_outside.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mount.h>

#include "base.h"
#include "mounts.h"
#include "path.h"
#include "run_daemon.h"

static bool has_device(const struct run_outside *outside, dev_t device) {
    for (size_t i = 0; i < outside->count; i++)
        if (outside->devices[i] == device)
            return true;
    return false;
}

/* Reads which are mounted now. */
static int read_devices(int table_fd, struct run_outside *ret_outside) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    int error = mounts_open_at(table_fd, &table);
    *ret_outside = (struct run_outside){.table_fd = table_fd};
    while (error == 0 && mounts_next(&table, &entry)) {
        if (!mounts_is_profiled(&entry) || has_device(ret_outside, entry.device))
            continue;
        error = grow_array(&ret_outside->devices, ret_outside->count, sizeof(*ret_outside->devices));
        if (error == 0)
            ret_outside->devices[ret_outside->count++] = entry.device;
    }
    return error;
}

void run_outside_open(struct run_outside *ret_outside) {
    struct run_outside outside = {.count = 0};
    CLEANUP_FD int table_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    if (table_fd >= 0 && read_devices(table_fd, &outside) == 0 && outside.count > 0) {
        steal_fd(&table_fd);
        *ret_outside = outside;
        return;
    }
    free(outside.devices);
    *ret_outside = (struct run_outside){.count = 0};
}

void run_outside_finish(struct run_outside *outside) {
    if (outside->count > 0)
        close_fd(&outside->table_fd);
    free(outside->devices);
    *outside = (struct run_outside){.count = 0};
}

/* ---- What is gone ------------------------------------------------------------------------------- */

/* Whether a mount of the run is at the path, above it or below it. */
static bool is_of_run(const struct run_daemon *own, size_t own_count, const char *path) {
    for (size_t i = 0; i < own_count; i++)
        if (path_below(path, own[i].path) || path_below(own[i].path, path))
            return true;
    return false;
}

/* To look up what is below a mount that hangs would hang. */
static bool may_hang(const char *path) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    bool found = mounts_open(&table) < 0;
    while (!found && mounts_next(&table, &entry)) {
        const char *below = path_below(path, entry.path);
        found = below && below[0] && mounts_may_hang(&entry);
    }
    return found;
}

/* Copies that can be reached: others are in use by what covers them. The number of a device that is gone everywhere may
 * be that of another file system by now. */
static void unmount(const struct run_daemon *own, size_t own_count, dev_t device) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    mounts_open(&table);
    while (mounts_next(&table, &entry)) {
        dev_t there;
        if (entry.device == device && mounts_is_profiled(&entry) && !is_of_run(own, own_count, entry.path) &&
            !may_hang(entry.path) && mounts_device_at(entry.path, &there) == 0 && there == device)
            umount2(entry.path, MNT_DETACH | UMOUNT_NOFOLLOW);
    }
}

static void follow(struct run_outside *outside, const struct run_daemon *own, size_t own_count) {
    struct run_outside now;
    size_t kept = 0;
    if (read_devices(outside->table_fd, &now) == 0) {
        for (size_t i = 0; i < outside->count; i++) {
            if (has_device(&now, outside->devices[i]))
                outside->devices[kept++] = outside->devices[i];
            else
                unmount(own, own_count, outside->devices[i]);
        }
        if (kept == 0)
            run_outside_finish(outside);
        outside->count = kept;
    }
    free(now.devices);
}

void run_outside_wait(struct run_outside *outside, const struct run_daemon *own, size_t own_count, int fd,
                      int timeout_ms) {
    struct pollfd events[] = {{.fd = fd, .events = POLLIN},
                              {.fd = outside->count > 0 ? outside->table_fd : -1, .events = POLLPRI}};
    if (poll(events, ARRAY_SIZE(events), timeout_ms) > 0 && events[1].revents)
        follow(outside, own, own_count);
}
