/* The table of mounts, proc_pid_mountinfo(5). No file system is asked, so that nothing can hang. */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Reads the table line by line. */
struct mounts_table {
    FILE *stream; /* NULL: an empty table */
    char *line;   /* the latest */
    size_t line_bytes;
};

/* Opens the table of this process. Errors: those of open(2); *ret_table is empty then, and may be read */
int mounts_open(struct mounts_table *ret_table);

/* The same of another process, which may have mounts of its own. */
int mounts_open_of(pid_t process, struct mounts_table *ret_table);
void mounts_close(struct mounts_table *table);

#define CLEANUP_MOUNTS __attribute__((cleanup(mounts_close)))

/* A mount. Owner: the table, until the next one is read */
struct mounts_entry {
    dev_t device; /* of the file system */
    const char *path;
    char *options;      /* of the mount, "rw,nosuid"; the caller may change them */
    const char *type;   /* "ext4", "fuse.osproffs" */
    const char *source; /* what is mounted */
    char *fs_options;   /* of the file system, "rw,allow_other"; the caller may change them */
};

/* The next mount, in the order in which they were made. Returns false at the end */
bool mounts_next(struct mounts_table *table, struct mounts_entry *ret_entry);

/* True if a list of options ("rw,nosuid") has that one. */
bool mounts_has_option(const char *options, const char *option);

/* What all mounts of a device forbid, those that the table has: ST_NOSUID, ST_NODEV. Reads the table to its end */
unsigned long mounts_forbidden(struct mounts_table *table, dev_t device);

/* The device of the file system that a path leads to. No daemon or server is asked. Errors: those of statx(2) */
int mounts_device_at(const char *path, dev_t *ret_device);

/* A device as calibrations name it: what is mounted, "/dev/sda1" or "server:/export"; where that is only a word
 * ("overlay"), with the mount point, "overlay on /". */
struct mounts_device {
    char *name;
    bool is_local;    /* a file below /dev */
    bool is_profiled; /* a mount of osproffs */
};

/* The device of the file system in which a path lies.
 * path:    normalised
 * through: look through mounts of osproffs, at what they hide: latencies are those below
 * Owner:   the caller frees ret_device->name
 * Errors:  -ENOENT no mount holds it, -ENOMEM */
int mounts_find_device(struct mounts_table *table, const char *path, bool through, struct mounts_device *ret_device);

/* True for the type of a mount that any FUSE daemon serves. */
bool mounts_is_fuse(const struct mounts_entry *entry);

/* True for the type of a mount of osproffs. */
bool mounts_is_profiled(const struct mounts_entry *entry);

#endif
