/* What nodes of the mount are called, for profiles by file. */
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

/* The node's path below the mount, "/" for the mount itself, cut at the front if it is too long, with " (deleted)"
 * behind it if it is: as the kernel tells it of what is held or open or, if that is not known and we may wait, of what
 * the lower file system has in memory; else as it was last looked up. Of several hard links it is one. False: the name
 * may be an old one, or is the reason why there is none, in parentheses. An aggstats_name_fn; context: a struct
 * node_names.
 * Threads: any */
bool node_name(void *context, uint64_t node, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]);

/* The directory whose call it is: the one that the node was last looked up in, or is itself. 0: not known. An
 * aggstats_place_fn; context: a struct node_names.
 * Threads: any */
uint64_t node_directory(void *context, uint64_t node);

/* From now on the lower file system is asked no more. False: it has not answered for a second, and may never */
bool node_names_end(struct node_names *names);

#endif
