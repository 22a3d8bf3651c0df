/* The disk of a file system, from sysfs. */
#ifndef DISK_H
#define DISK_H

#include <limits.h>
#include <stdbool.h>
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

#endif
