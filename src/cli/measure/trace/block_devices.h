/* The disks below a directory: the requests of its file system go to these. */
#ifndef BLOCK_DEVICES_H
#define BLOCK_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOCK_DEVICES_MAX 8
#define BLOCK_DEVICES_NAME_SIZE 64

/* A device that takes requests: a whole disk, not a partition of it, and no device that device mapper or md make from
 * others. A loop device is one. */
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

/* Adds the disks below a path that are not there yet. Reads the table of mounts and sysfs.
 * Errors:  -ENOTBLK it is on no block device, *ret_type is the file system's (or "" if unknown); -ENOTSUP it is on one
 *          that takes no requests, *ret_type is its name; -E2BIG there are too many; -ENOENT and such: the path cannot
 *          be accessed. *devices may have some of them then */
int block_devices_add(struct block_devices *devices, const char *path, char ret_type[BLOCK_DEVICES_NAME_SIZE]);

/* The disk of a file system with that device number: its device, or if that is a partition the whole disk. A device that is
 * made of others stands for itself. Returns false if it has no block device of its own, as btrfs, FUSE and NFS */
bool block_devices_find_disk(dev_t device, struct block_device *ret_disk);

/* The number of requests since the system started, by the devices' own counters; requests that were not accounted are
 * missing. */
uint64_t block_devices_count_requests(const struct block_devices *devices);

#endif
