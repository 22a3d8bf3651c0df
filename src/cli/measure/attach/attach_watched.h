/* What osprof attach watches: a file system, or all that hold files; all processes, or some. */
#ifndef ATTACH_WATCHED_H
#define ATTACH_WATCHED_H

#include <stdbool.h>

#include "attach_processes.h"
#include "attach_profile.h"
#include "collector.h"
#include "containers.h"
#include "fuse_mount.h"

/* Which file system a directory is on. It need not answer: then all is taken from the name and the table of mounts. */
struct attach_target {
    pid_t process;           /* the path is as this process sees it, "/proc/4711/root/data"; 0: as osprof does */
    struct fuse_mount mount; /* whatever its type; its path is the directory, by which commands find it */
    char *mountpoint;        /* of the file system, which has that directory; NULL: there is no target */
    bool has_one_device;     /* stat(2) tells the file system's device of all its files */
};

struct attach_watched {
    bool is_fuse;                /* requests to the FUSE daemon of the target are watched, not calls */
    struct attach_target target; /* without a mount point: all file systems */
    struct attach_processes processes;
    struct attach_cgroup cgroup;
    struct attach_mounts mounts; /* for all file systems */
};

/* Finds what is to be watched besides watched->processes, and checks these. directory, cgroup: NULL: none was given.
 * Owner:   the caller finishes *watched, also after an error
 * Errors:  reported to the user */
int attach_watched_find(struct attach_watched *watched, const char *directory, const char *cgroup);

/* Its name, by which commands find the live profile: the directory; "/proc/4711" of processes, or the directory of the
 * control group.
 * Owner:   the caller frees the result
 * Returns NULL without memory */
char *attach_watched_path(const struct attach_watched *watched);

/* "calls of all programs on /srv (ext4)".
 * Owner:   the caller frees the result
 * Returns NULL without memory */
char *attach_watched_describe(const struct attach_watched *watched);

/* The header's line that says whose calls there are; key NULL: of all programs.
 * Owner:   the caller frees the value */
struct aggstats_label attach_watched_label(const struct attach_watched *watched);

/* Its arguments, as they can be typed: "--pid 4711,4712 /srv".
 * Owner:   the caller frees the result
 * Returns NULL without memory */
char *attach_watched_arguments(const struct attach_watched *watched);

/* Begins to count.
 * Errors:  -errno, with *ret_why filled, as collector_start_calls() */
int attach_watched_start(const struct attach_watched *watched, const struct attach_options *options,
                         struct collector **ret_collector, char ret_why[COLLECTOR_WHY_SIZE]);

/* Whether there still is anything to watch; if not, says so to the user. */
bool attach_watched_is_there(const struct attach_watched *watched, const struct collector *collector);

void attach_watched_finish(struct attach_watched *watched);

#endif
