/* The disks that a directory lies on: those whose requests are what its file system asks of storage. */
#ifndef BLOCK_DEVICES_H
#define BLOCK_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOCK_DEVICES_MAX 8
#define BLOCK_DEVICES_NAME_SIZE 64

/* A device that takes requests: a whole disk, no partition of it, and nothing that device mapper or md make of others.
 * A loop device is one. */
struct block_device {
    unsigned major;
    unsigned minor;
    char name[BLOCK_DEVICES_NAME_SIZE]; /* "sda" */
};

/* Zeroed: none. */
struct block_devices {
    struct block_device devices[BLOCK_DEVICES_MAX];
    size_t count;
};

/* Adds those that a path lies on, which are not there yet. Asks the table of mounts and sysfs.
 * Errors:  -ENOTBLK it lies on no block device, *ret_type is the file system's (or "" if that is not known); -ENOTSUP
 * it lies on one that takes no requests, *ret_type is its name; -E2BIG there are too many; -ENOENT and such: the path
 *          cannot be looked at. *devices may have some of them then */
int block_devices_add(struct block_devices *devices, const char *path, char ret_type[BLOCK_DEVICES_NAME_SIZE]);

/* How many requests they have done since the system started, by their own count; what was not accounted is not in it.
 */
uint64_t block_devices_count_requests(const struct block_devices *devices);

#endif
