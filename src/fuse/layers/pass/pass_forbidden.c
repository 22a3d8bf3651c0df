/* What lower mounts forbid: set-id bits (nosuid), devices (nodev), execution (noexec).
 *
 * To the kernel all our files are on one mount, ours, with one set of flags. If a lower mount forbids more than ours,
 * the kernel must not see what it would act on: set-id bits, capabilities of files, numbers of devices. A device whose
 * number is hidden is another inode than with its number, and its name is never cached, since the kernel opens devices
 * without asking us. Flags may change at any time, also those of our own mount, so they are read for each use, all of
 * which are rare: files with such bits, devices, and programs opened for execution. */
#include <poll.h>
#include <string.h>

#include "mounts.h"
#include "pass_private.h"

/* As of statvfs(3), of the mount that fd is on. All are set if that fails. */
static unsigned long lower_flags_of(int fd) {
    struct statvfs fs;
    return fstatvfs(fd, &fs) == 0 ? fs.f_flag : ST_NOSUID | ST_NODEV | ST_NOEXEC;
}

/* Call under the lock. poll reports each change of the table once. */
static void look_at_own_mount(struct pass *pass) {
    struct own_mount *own = &pass->own_mount;
    struct pollfd change = {.fd = own->table_fd, .events = POLLPRI};
    if (poll(&change, 1, 0) != 0)
        own->is_known = false;
    if (own->is_known)
        return;
    CLEANUP_MOUNTS struct mounts_table table;
    own->is_known = mounts_open(&table) == 0;
    own->flags = mounts_forbidden(&table, __atomic_load_n(&pass->own_device, __ATOMIC_RELAXED));
}

void pass_watch_own_mount(struct pass *pass) {
    pass->own_mount.table_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
}

bool pass_mount_has(struct pass *pass, unsigned long flag) {
    if (pass->own_mount.table_fd < 0)
        return false;
    pthread_mutex_lock(&pass->own_mount.lock);
    look_at_own_mount(pass);
    bool has = pass->own_mount.flags & flag;
    pthread_mutex_unlock(&pass->own_mount.lock);
    return has;
}

/* True if the lower mount has that flag, and ours has not. */
static bool is_forbidden(struct pass *pass, int fd, unsigned long flag) {
    return lower_flags_of(fd) & flag && !pass_mount_has(pass, flag);
}

/* The set-id bits that have an effect when a program is run. */
static mode_t set_id_bits(mode_t mode) {
    mode_t bits = mode & S_ISUID;
    if (mode & S_ISGID && mode & S_IXGRP)
        bits |= S_ISGID;
    return S_ISREG(mode) ? bits : 0;
}

bool pass_hides_device(struct pass *pass, int fd, mode_t mode) {
    return (S_ISCHR(mode) || S_ISBLK(mode)) && is_forbidden(pass, fd, ST_NODEV);
}

mode_t pass_shown_mode(struct pass *pass, int fd, mode_t mode) {
    mode_t bits = set_id_bits(mode);
    return bits != 0 && is_forbidden(pass, fd, ST_NOSUID) ? mode & ~bits : mode;
}

bool pass_hides_capability(struct pass *pass, int fd, const char *xattr_name) {
    return strcmp(xattr_name, "security.capability") == 0 && is_forbidden(pass, fd, ST_NOSUID);
}

bool pass_may_execute(int fd) {
    return !(lower_flags_of(fd) & ST_NOEXEC);
}
