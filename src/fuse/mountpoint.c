/* Our mount among the system's. */
#include "mountpoint.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base.h"

int mountpoint_device(const char *path, dev_t *ret_device) {
    struct statx attr = {0};
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &attr) < 0)
        return negative_errno();
    *ret_device = makedev(attr.stx_dev_major, attr.stx_dev_minor);
    return 0;
}

/* The set-user-id helper of libfuse, for who is not root. */
static int run_fusermount(const char *path) {
    const char *arguments[] = {"fusermount3", "-u", "-q", "-z", "--", path, NULL};
    pid_t helper;
    int status;
    int err = posix_spawnp(&helper, arguments[0], NULL, NULL, (char **)(uintptr_t)arguments, environ);
    if (err != 0)
        return -err;
    if (waitpid(helper, &status, 0) != helper)
        return negative_errno();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

int mountpoint_unmount(const char *path, dev_t device) {
    dev_t mounted = 0;
    if (mountpoint_device(path, &mounted) < 0 || mounted != device)
        return 0;
    if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        return 0;
    return errno == EPERM ? run_fusermount(path) : negative_errno();
}
