/* The tree of control groups, version 2, and the one in it whose processes are watched, with those below it. */
#ifndef ATTACH_CGROUP_H
#define ATTACH_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "option_table.h"

/* Where it is mounted.
 * Owner:   the caller frees *ret_root
 * Errors:  -ENOENT only those of version 1 are mounted, or none; -ENOMEM; those of reading the table of mounts */
int cgroup_tree_find(char **ret_root);

/* path: of a group, below the root: "/system.slice/cron.service" */
typedef void (*cgroup_tree_visit_fn)(void *context, const char *directory, const char *path);

/* Visits all groups except the root. Errors: those of fts_open(3) */
int cgroup_tree_walk(const char *root, cgroup_tree_visit_fn visit, void *context);

struct attach_cgroup {
    char *directory; /* in the file system of control groups; absolute; NULL: all processes */
    char *path;      /* "/system.slice/cron.service" */
    uint64_t number;
    unsigned level; /* below the root */
};

/* name: "cron.service", the only one of that name; a container's name, or 12 digits of its id or more; a path below the
 *          root, "system.slice/cron.service"; or the path of its directory
 * Owner:   the caller finishes *ret_cgroup
 * Errors:  reported to the user */
int attach_cgroup_find(const char *name, struct attach_cgroup *ret_cgroup);

/* The option that takes a name. */
#define ROW_CGROUP(text, type, member)                                                                                 \
    { .name = "cgroup", .metavar = "NAME|PATH", .help = text, .completed_as = "cgroup", INTO(TEXT, type, member) }

/* Whether it has not been removed. */
bool attach_cgroup_is_there(const struct attach_cgroup *cgroup);

void attach_cgroup_finish(struct attach_cgroup *cgroup);

#endif
