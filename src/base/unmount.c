/* umount2(2), and the set-user-id helper of libfuse. */
#include "unmount.h"

#include <spawn.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"

static int run_fusermount(const char *path, int flags) {
    const char *arguments[] = {"fusermount3", flags & MNT_DETACH ? "-uqz" : "-uq", "--", path, NULL};
    pid_t helper;
    int status;
    int err = posix_spawnp(&helper, arguments[0], NULL, NULL, (char **)(uintptr_t)arguments, environ);
    if (err != 0)
        return -err;
    if (waitpid(helper, &status, 0) != helper)
        return negative_errno();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

int unmount_path(const char *path, int flags) {
    if (umount2(path, UMOUNT_NOFOLLOW | flags) == 0)
        return 0;
    return errno == EPERM ? run_fusermount(path, flags) : negative_errno();
}
