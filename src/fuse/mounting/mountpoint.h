/* What is at the mount point before we mount; finding and removing our mount without sending a request to it. */
#ifndef MOUNTPOINT_H
#define MOUNTPOINT_H

#include <stdbool.h>
#include <sys/types.h>

/* Refuses a directory on which osproffs is mounted already, unless that mount is the lower directory, passed as an open
 * descriptor as by osprof run. Asks no daemon, so it cannot hang.
 * mountpoint: absolute
 * lower_name: as it was given
 * Errors:  -EBUSY, which is printed */
int mountpoint_check(const char *mountpoint, const char *lower_name);

/* Warns if files will be hidden. If the mount is over the lower directory itself, they are seen through it. Both paths:
 * absolute */
void mountpoint_warn_of_hidden(const char *mountpoint, const char *lower);

/* Unmounts our device wherever it is mounted and can be reached, lazily: it works while the mount is in use, was moved,
 * and after its connection was aborted. Other mounts at the same place stay. It goes by device number, never by path
 * alone: libfuse would leave the mount of an aborted connection behind, or unmount the directory below it.
 * connected: our connection to the kernel still exists, so the device number is ours. If not, the kernel may have given
 *   the number to another mount, and only dead mounts (ENOTCONN) are removed.
 * abort_calls: callers that wait for an answer get ECONNABORTED at once, if we are root
 * Errors:  -EBUSY something else is mounted over it; those of umount2(2) */
int mountpoint_unmount(dev_t device, bool connected, bool abort_calls);

/* ---- Processes that do not see a mount over a directory, because they use the directory already ---- */

struct mountpoint_users {
    unsigned count; /* of processes */
    pid_t first;    /* one of them */
    bool are_all;   /* if false, there was no time to check all processes */
};

/* Finds the other processes, in this mount namespace, that have a directory, or something below it, as their current
 * directory or open, as far as this process may see that. Takes a fifth of a second at most, and asks the file system
 * nothing.
 * path: absolute, without symbolic links */
void mountpoint_find_users(const char *path, struct mountpoint_users *ret_users);

#endif
