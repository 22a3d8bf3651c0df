/* Finding the mount that a daemon serves. */
#ifndef FUSE_MOUNT_H
#define FUSE_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The mounts of FUSE file systems that there are. */
struct fuse_mounts {
    dev_t *devices;
    size_t count;
};

/* Errors: -ENOMEM, those of reading the table of mounts */
int fuse_mounts_read(struct fuse_mounts *ret_mounts);
void fuse_mounts_finish(struct fuse_mounts *mounts);

struct fuse_mount {
    dev_t device;
    char *path;   /* as the daemon sees it, or whoever asks */
    char *type;   /* "fuse.sshfs" */
    char *source; /* "host:/srv" */
};

/* By the descriptor of /dev/fuse through which a process serves it, whose connection the kernel tells since Linux 6.18;
 * else the newest that was not there before. before: NULL: any
 * Owner:   the caller finishes *ret_mount
 * Errors:  -ENOENT there is none yet, -ENOMEM */
int fuse_mount_find(pid_t process, int fd, const struct fuse_mounts *before, struct fuse_mount *ret_mount);

/* The mount that a directory is in, of the namespace of this process.
 * Errors:  -ENODEV none of FUSE, -ENOMEM, those of asking for its device; *ret_mount then has nothing to be finished */
int fuse_mount_at(const char *directory, struct fuse_mount *ret_mount);

/* Whether it is still there: the next one may be given its device number, but hardly its place. */
bool fuse_mount_is_there(const struct fuse_mount *mount);

void fuse_mount_finish(struct fuse_mount *mount);

#endif
