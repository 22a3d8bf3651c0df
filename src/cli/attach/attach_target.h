/* Which file system a directory is on. It need not answer: then all is taken from the name and the table of mounts. */
#ifndef ATTACH_TARGET_H
#define ATTACH_TARGET_H

#include <stdbool.h>

#include "fuse_mount.h"

struct attach_target {
    pid_t process; /* by whose root it is named, "/proc/4711/root/data": as that one sees it; 0: as this one */
    struct fuse_mount mount; /* whatever its type; its path is the directory, by which commands find it */
    char *mountpoint;        /* of the file system, which has that directory; NULL: there is no target */
    bool has_one_device;     /* stat(2) tells the file system's device of all its files */
};

/* Owner:   the caller finishes *ret_target
 * Errors:  reported to the user */
int attach_target_find(const char *directory, struct attach_target *ret_target);

/* The directory below the root of that process. Owner: target */
const char *attach_target_inner_path(const struct attach_target *target);

/* Whether it is still mounted there. */
bool attach_target_is_there(const struct attach_target *target);

void attach_target_finish(struct attach_target *target);

#endif
