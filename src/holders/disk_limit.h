/* Whether a control group limits what its processes may do on a disk. */
#ifndef DISK_LIMIT_H
#define DISK_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the group: of version 2 that of the thread or one above it, whose io.max has the disk; of version 1 that of the
 * thread, whose blkio.throttle has. Groups are looked for where systems mount them, at /sys/fs/cgroup. disk: "7:0"
 * Returns false if there is none, or if it cannot be seen */
bool disk_limit_find(uint64_t thread, const char *disk, char *ret_group, size_t size_bytes);

/* True if a line of the text begins with the disk and says something else than "max" or 0. A pure function */
bool disk_limit_is_set(const char *text, const char *disk);

#endif
