/* The disk of a file system, and whether a control group limits what its processes may do there. */
#ifndef DISK_H
#define DISK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "place.h"

struct disk {
    char name[64];   /* "vda", of the whole disk; that of device mapper */
    char number[32]; /* "254:0", of the whole disk; "": unknown */
    bool has_in_flight;
    uint64_t in_flight;     /* requests that it has not completed */
    char backing[PATH_MAX]; /* the file of a loop device; "": it is none */
};

/* Returns false if the file system is on no block device. */
bool disk_find(const struct place *place, struct disk *ret_disk);

/* The sum of "READS WRITES". Returns false if it is something else. A pure function */
bool disk_parse_in_flight(const char *text, uint64_t *ret_count);

/* Finds the group: of version 2 that of the thread or one above it, whose io.max has the disk; of version 1 that of the
 * thread, whose blkio.throttle has. Groups are looked for where systems mount them, at /sys/fs/cgroup. disk: "7:0"
 * Returns false if there is none, or if it cannot be seen */
bool disk_limit_find(uint64_t thread, const char *disk, char *ret_group, size_t size_bytes);

/* True if a line of the text begins with the disk and says something else than "max" or 0. A pure function */
bool disk_limit_is_set(const char *text, const char *disk);

#endif
