/* Our mount among the system's, seen without sending a request to it. */
#ifndef MOUNTPOINT_H
#define MOUNTPOINT_H

#include <stdbool.h>
#include <sys/types.h>

/* Unmounts our device wherever it is mounted and can be reached, lazily: it works while the mount is in use, was moved,
 * and after its connection was aborted. What else is mounted there by now stays.
 * connected: our connection to the kernel still exists, and so the device's number is ours. Else it may be another
 * mount's already, and only dead mounts (ENOTCONN) are removed.
 * abort_calls: who waits for an answer gets ECONNABORTED at once, if we are root
 * Errors:  -EBUSY something else is mounted over it; those of umount2(2) */
int mountpoint_unmount(dev_t device, bool connected, bool abort_calls);

#endif
