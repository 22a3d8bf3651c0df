/* How lower files look to the kernel: numbers, modes, devices, owners. */
#include <poll.h>
#include <string.h>

#include "mounts.h"
#include "pass_private.h"

/* ---- What lower mounts forbid: set-id bits (nosuid), devices (nodev), execution (noexec) ----
 *
 * To the kernel all our files are on one mount, ours, with one set of flags. If a lower mount forbids more than ours,
 * the kernel must not see what it would act on: set-id bits, capabilities of files, numbers of devices. A device whose
 * number is hidden is another inode than with its number, and its name is never cached, since the kernel opens devices
 * without asking us. Flags may change at any time, also those of our own mount, so they are read for each use, all of
 * which are rare: files with such bits, devices, and programs opened for execution. */

/* As of statvfs(3), of the mount that fd is on. All are set if that fails. */
static unsigned long lower_flags_of(int fd) {
    struct statvfs fs;
    return fstatvfs(fd, &fs) == 0 ? fs.f_flag : ST_NOSUID | ST_NODEV | ST_NOEXEC;
}

void pass_watch_own_mount(struct pass *pass) {
    pass->own_mount.table_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
}

/* poll reports each change of the table once. */
bool pass_mount_has(struct pass *pass, unsigned long flag) {
    struct own_mount *own = &pass->own_mount;
    struct pollfd change = {.fd = own->table_fd, .events = POLLPRI};
    if (own->table_fd < 0)
        return false;
    pthread_mutex_lock(&own->lock);
    if (poll(&change, 1, 0) != 0)
        own->is_known = false;
    if (!own->is_known) {
        CLEANUP_MOUNTS struct mounts_table table;
        own->is_known = mounts_open(&table) == 0;
        own->flags = mounts_forbidden(&table, __atomic_load_n(&pass->own_device, __ATOMIC_RELAXED));
    }
    bool has = own->flags & flag;
    pthread_mutex_unlock(&own->lock);
    return has;
}

/* True if the lower mount has that flag, and ours has not. */
static bool is_forbidden(struct pass *pass, int fd, unsigned long flag) {
    return lower_flags_of(fd) & flag && !pass_mount_has(pass, flag);
}

bool pass_hides_device(struct pass *pass, int fd, mode_t mode) {
    return (S_ISCHR(mode) || S_ISBLK(mode)) && is_forbidden(pass, fd, ST_NODEV);
}

mode_t pass_shown_mode(struct pass *pass, int fd, mode_t mode) {
    mode_t bits = 0; /* the set-id bits that have an effect when a program is run */
    if (S_ISREG(mode))
        bits = mode & (mode & S_IXGRP ? S_ISUID | S_ISGID : S_ISUID);
    return bits != 0 && is_forbidden(pass, fd, ST_NOSUID) ? mode & ~bits : mode;
}

bool pass_hides_capability(struct pass *pass, int fd, const char *xattr_name) {
    return strcmp(xattr_name, "security.capability") == 0 && is_forbidden(pass, fd, ST_NOSUID);
}

bool pass_may_execute(int fd) {
    return !(lower_flags_of(fd) & ST_NOEXEC);
}

/* ---- Owners that have no number in the daemon's user namespace ----
 *
 * In the namespace of an ordinary user (osprof run) only that user and group have numbers; system calls show all others
 * as the overflow ids, usually 65534. If the kernel got these, it would find no owner for the mount's file, and let
 * nobody write to it or remove it, whatever its mode allows. So such files are shown as the daemon's own, and the lower
 * file system, which knows the real owner, decides who may do what. */

/* Looks for the id in a map, whose lines are "FIRST OUTSIDE COUNT". Without a map every id has a number. */
static bool has_number(int proc_fd, const char *map, int64_t id) {
    CLEANUP_FD int fd = openat(proc_fd, map, O_RDONLY | O_CLOEXEC);
    CLEANUP_STREAM FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    bool found = false;
    if (!stream)
        return true;
    steal_fd(&fd);
    while (!found && getline(&line, &size_bytes, stream) > 0) {
        char *rest;
        int64_t first = strtoll(line, &rest, 10);
        strtoll(rest, &rest, 10);
        int64_t count = strtoll(rest, NULL, 10);
        found = id >= first && id < first + count;
    }
    return found;
}

/* The overflow id, if the map has no such number; else -1. */
static int64_t find_overflow(int proc_fd, const char *map, const char *overflow) {
    char text[32];
    int64_t id = read_beginning(proc_fd, overflow, text, sizeof(text)) ? strtoll(text, NULL, 10) : -1;
    return id >= 0 && !has_number(proc_fd, map, id) ? id : -1;
}

void pass_find_overflow_ids(struct pass *pass) {
    pass->overflow_uid = find_overflow(pass->proc_fd, "self/uid_map", "sys/kernel/overflowuid");
    pass->overflow_gid = find_overflow(pass->proc_fd, "self/gid_map", "sys/kernel/overflowgid");
}

uid_t pass_shown_uid(const struct pass *pass, uid_t uid) {
    return (int64_t)uid == pass->overflow_uid ? geteuid() : uid;
}

gid_t pass_shown_gid(const struct pass *pass, gid_t gid) {
    return (int64_t)gid == pass->overflow_gid ? getegid() : gid;
}

/* ---- Attributes ---- */

ino_t pass_shown_number(struct pass *pass, dev_t device, ino_t number) {
    if (device == pass->root_device)
        return number;
    return number ^ ((ino_t)mount_table_device_index(&pass->mounts, device) << 48);
}

void pass_show(struct pass *pass, int fd, struct stat *attr) {
    if (pass_hides_device(pass, fd, attr->st_mode))
        attr->st_rdev = 0;
    attr->st_mode = pass_shown_mode(pass, fd, attr->st_mode);
    attr->st_ino = pass_shown_number(pass, attr->st_dev, attr->st_ino);
    attr->st_uid = pass_shown_uid(pass, attr->st_uid);
    attr->st_gid = pass_shown_gid(pass, attr->st_gid);
}

int pass_stat(struct pass *pass, int fd, struct stat *ret_attr) {
    struct stat attr;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    pass_show(pass, fd, &attr);
    *ret_attr = attr;
    return 0;
}
