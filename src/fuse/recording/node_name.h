/* Paths of inodes (nodes) of the mount, for profiles by file. */
#ifndef NODE_NAME_H
#define NODE_NAME_H

#include "aggstats.h"
#include "pass.h"

struct node_names {
    struct pass *pass;  /* borrowed; set before any op is called. It keeps names */
    unsigned depth_max; /* components of a directory's path; 0: any number */
    unsigned asking;    /* atomic: threads that ask the lower file system */
    bool is_ended;      /* atomic */
};

/* The node's path below the mount, "/" for the mount itself. It is cut at the front if it is too long, and ends with "
 * (deleted)" if the node is deleted. If the node is held or open, the kernel gives its path. Otherwise, if we may wait,
 * the lower file system gives a name that it has in memory. Otherwise the path is the name looked up last. If there are
 * several hard links, any of them. Returns false if the name may be outdated, or is a reason in parentheses. An
 * aggstats_name_fn; context: a struct node_names.
 * Threads: any */
bool node_name(void *context, uint64_t node, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]);

/* The directory in which the node was last looked up, or the node itself if it is a directory; 0: unknown. An
 * aggstats_place_fn; context: a struct node_names.
 * Threads: any */
uint64_t node_directory(void *context, uint64_t node);

/* From now on the lower file system is not asked. Returns false if it has not answered for a second, and may never */
bool node_names_end(struct node_names *names);

#endif
