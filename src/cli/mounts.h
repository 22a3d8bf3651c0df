/* Which device holds a path, by the table of mounts alone: no file system is asked, so that nothing can hang. */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stdbool.h>
#include <stdio.h>

/* A device as calibrations name it: what is mounted, "/dev/sda1" or "server:/export"; where that is only a word
 * ("overlay"), with the mount point, "overlay on /". */
struct mounts_device {
    char *name;
    bool is_local;    /* a file below /dev */
    bool is_profiled; /* a mount of osproffs */
};

/* The device of the file system in which a path lies.
 * table:   as /proc/self/mounts
 * path:    normalised
 * through: look through mounts of osproffs, at what they hide: latencies are those below
 * Owner:   the caller frees ret_device->name
 * Errors:  -ENOENT no mount holds it, -ENOMEM */
int mounts_find_device(FILE *table, const char *path, bool through, struct mounts_device *ret_device);

#endif
