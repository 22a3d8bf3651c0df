/* What the runtimes call containers. */
#ifndef CONTAINER_NAMES_H
#define CONTAINER_NAMES_H

#include "container.h"

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

#endif
