/* Processes that do not see a mount over a directory, because they use the directory already. */
#ifndef MOUNTPOINT_USERS_H
#define MOUNTPOINT_USERS_H

#include <stdbool.h>
#include <sys/types.h>

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
