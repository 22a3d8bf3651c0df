/* The tree of control groups, version 2. */
#ifndef CGROUP_TREE_H
#define CGROUP_TREE_H

/* Where it is mounted.
 * Owner:   the caller frees *ret_root
 * Errors:  -ENOENT only those of version 1 are mounted, or none; -ENOMEM; those of reading the table of mounts */
int cgroup_tree_find(char **ret_root);

/* path: of a group, below the root: "/system.slice/cron.service" */
typedef void (*cgroup_tree_visit_fn)(void *context, const char *directory, const char *path);

/* Visits all groups except the root. Errors: those of fts_open(3) */
int cgroup_tree_walk(const char *root, cgroup_tree_visit_fn visit, void *context);

#endif
