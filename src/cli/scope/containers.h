/* Control groups of version 2: their tree, the one in it that a user names, and the containers that have them. */
#ifndef CONTAINERS_H
#define CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "option_table.h"

/* ---- Containers ------------------------------------------------------------------------------- */
#define CONTAINER_ID_DIGITS 64
#define CONTAINER_ID_SHOWN 12 /* digits, as the runtimes show them */
#define CONTAINER_NAME_SIZE 200

enum container_runtime {
    CONTAINER_DOCKER,
    CONTAINER_PODMAN,
    CONTAINER_CRIO,
    CONTAINER_CONTAINERD,
    CONTAINER_KUBERNETES, /* one of its runtimes; the control group does not tell which */
    CONTAINER_RUNTIMES,
};

struct container {
    enum container_runtime runtime;
    char id[CONTAINER_ID_DIGITS + 1];
    uid_t user;                     /* whose service manager has made the group; 0: the system's */
    bool is_inner;                  /* the group lies inside the container's group */
    size_t above_bytes;             /* of the path: of the group in which the container's is */
    char name[CONTAINER_NAME_SIZE]; /* letters, digits, "_", "-", "." and "/" only; "": not known */
};

/* The container of a control group, without its name. Of containers in containers the outermost one.
 * path:    "/system.slice/docker-<64 hexadecimal digits>.scope"; "..." in front of it: its beginning is missing
 * Returns false if it belongs to none */
bool container_parse(const char *path, struct container *ret_container);

/* "web1 (docker 3f2a9c1b2d4e)"; "docker 3f2a9c1b2d4e" without a name. */
void container_describe(const struct container *container, char *ret_text, size_t size_bytes);

/* True if a user may mean the container by that text: its name, or its id, of which 12 digits are enough. */
bool container_is_called(const struct container *container, const char *text);

/* Names that have been found. Opaque. */
struct container_names;

/* root:    where the files of the runtimes are; "": the root directory
 * groups:  where the control groups are; NULL: no group is a container's
 * Owner:   the caller destroys it; root and groups must outlive it. Returns NULL without memory */
struct container_names *container_names_create(const char *root, const char *groups);

/* The same with the name, if the runtime's files can be read. The owner of a group can make others in it, with any name:
 * so a container's group lies in one of root's, or of the user whose container it is. Names that were asked for lately are
 * remembered; others may wait for a disk, not for a server or a daemon. No number of containers of users keeps those of
 * root from having names.
 * Threads: any */
bool container_names_find(struct container_names *names, const char *path, struct container *ret_container);

/* Accepts NULL. */
void container_names_destroy(struct container_names *names);

/* Sets the name of a container to that in the files of its runtime, unless it cannot be read. root: as above */
void container_files_read_name(const char *root, struct container *container);

/* ---- The tree of control groups --------------------------------------------------------------- */

/* Where it is mounted.
 * Owner:   the caller frees *ret_root
 * Errors:  -ENOENT only those of version 1 are mounted, or none; -ENOMEM; those of reading the table of mounts */
int cgroup_tree_find(char **ret_root);

/* path: of a group, below the root: "/system.slice/cron.service" */
typedef void (*cgroup_tree_visit_fn)(void *context, const char *directory, const char *path);

/* Visits all groups except the root. Errors: those of fts_open(3) */
int cgroup_tree_walk(const char *root, cgroup_tree_visit_fn visit, void *context);

/* The group whose processes are watched, with the groups below it. */
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
