/* What the kernel says of the connection of a FUSE mount, in /sys/fs/fuse/connections (fusectl). It is the kernel that
 * is asked, not the daemon, so that nothing can hang. */
#ifndef FUSE_CONNECTION_H
#define FUSE_CONNECTION_H

#include <stdint.h>
#include <sys/types.h>

/* How many requests the daemon has not answered: those that it has taken, and those that wait to be taken.
 * device:  of the mount's file system
 * Errors:  -ENOENT there is no such mount, or fusectl is not mounted; -EACCES it is another user's; -EBADMSG */
int fuse_connection_waiting(dev_t device, uint64_t *ret_count);

#endif
