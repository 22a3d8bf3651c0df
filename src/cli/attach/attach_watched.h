/* What osprof attach watches: a file system, or all that hold files; all processes, or some. */
#ifndef ATTACH_WATCHED_H
#define ATTACH_WATCHED_H

#include <stdbool.h>

#include "attach_cgroup.h"
#include "attach_page.h"
#include "attach_processes.h"
#include "attach_target.h"
#include "collector.h"

struct attach_watched {
    struct attach_target target; /* without a mount point: all file systems */
    struct attach_processes processes;
    struct attach_cgroup cgroup;
    struct attach_mounts mounts; /* for all file systems */
};

/* directory, cgroup: NULL: none was given. processes: those that were given, or none
 * Owner:   the caller finishes *ret_watched
 * Errors:  reported to the user */
int attach_watched_find(const char *directory, const struct attach_processes *processes, const char *cgroup,
                        struct attach_watched *ret_watched);

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

/* Whose the calls by names are that are not told. */
enum aggstats_untold attach_watched_untold(const struct attach_watched *watched);

/* Begins to count.
 * Errors:  -errno, with *ret_why filled, as collector_start_calls() */
int attach_watched_start(const struct attach_watched *watched, const struct attach_options *options,
                         struct collector **ret_collector, char ret_why[COLLECTOR_WHY_SIZE]);

/* Whether there still is anything to watch; if not, says so to the user. */
bool attach_watched_is_there(const struct attach_watched *watched, const struct collector *collector);

void attach_watched_finish(struct attach_watched *watched);

#endif
