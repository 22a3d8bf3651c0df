/* Finding the mount that a daemon serves. */
#ifndef FUSE_MOUNT_H
#define FUSE_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The existing mounts of FUSE file systems. */
struct fuse_mounts {
    dev_t *devices;
    size_t count;
};

/* Errors: -ENOMEM, those of reading the table of mounts */
int fuse_mounts_read(struct fuse_mounts *ret_mounts);
void fuse_mounts_finish(struct fuse_mounts *mounts);

struct fuse_mount {
    dev_t device;
    char *path;   /* as the daemon sees it, or this process */
    char *type;   /* "fuse.sshfs" */
    char *source; /* "host:/srv" */
    char *root;   /* what of the file system is mounted there; NULL: unknown */
};

/* Finds it by the descriptor of /dev/fuse through which a process serves it; the kernel shows the connection of that
 * since Linux 6.18. Else it is the newest mount that is not in before. before: NULL: any
 * Owner:   the caller finishes *ret_mount
 * Errors:  -ENOENT there is none yet, -ENOMEM */
int fuse_mount_find(pid_t process, int fd, const struct fuse_mounts *before, struct fuse_mount *ret_mount);

/* The mount that holds a directory, in the mount namespace of this process.
 * Errors:  -ENODEV it is not of FUSE, -ENOMEM, those of realpath(3) and of reading the table of mounts */
int fuse_mount_at(const char *directory, struct fuse_mount *ret_mount);

/* True if it still exists: the next mount may get its device number, but hardly at the same place. */
bool fuse_mount_is_there(const struct fuse_mount *mount);

void fuse_mount_finish(struct fuse_mount *mount);

#endif
