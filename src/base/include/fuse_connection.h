/* What the kernel says of the connection of a FUSE mount, in /sys/fs/fuse/connections (fusectl). This asks the kernel,
 * not the daemon, so it cannot hang. */
#ifndef FUSE_CONNECTION_H
#define FUSE_CONNECTION_H

#include <stdint.h>
#include <sys/types.h>

/* The number of requests without an answer: those the daemon is serving, and those that wait in the kernel's queue.
 * device:  of the mount's file system
 * Errors:  -ENOENT there is no such mount, or fusectl is not mounted; -EACCES it is another user's; -EBADMSG */
int fuse_connection_waiting(dev_t device, uint64_t *ret_count);

#endif
