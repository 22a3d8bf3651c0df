/* Where file systems are mounted, as this process sees it and as those that are watched do. */
#ifndef ATTACH_MOUNTS_H
#define ATTACH_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct attach_mount {
    uint32_t device; /* of the file system, as the kernel has it */
    char *path;
    char *type;
    char *root; /* what of the file system is mounted */
};

struct attach_mounts {
    struct attach_mount *mounts;
    size_t count;
};

/* Adds those that a process sees, whose file systems are not known yet by an earlier one; 0: this process. One that has
 * ended sees none.
 * Errors:  -ENOMEM */
int attach_mounts_add(struct attach_mounts *mounts, pid_t process);

/* The mount that shows most of the file system, or that part of it in which the path is; NULL: none does.
 * path:    below the root of the file system
 * Owner:   mounts */
const struct attach_mount *attach_mounts_find(const struct attach_mounts *mounts, uint32_t device, const char *path);

/* The first mount of the file system, of those that show most of it. mounts: may be NULL. Owner: mounts */
const struct attach_mount *attach_mounts_first(const struct attach_mounts *mounts, uint32_t device);

void attach_mounts_finish(struct attach_mounts *mounts);

#endif
