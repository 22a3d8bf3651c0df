/* Where osproffs keeps live files unless told otherwise: $XDG_RUNTIME_DIR/osprof, else /run/osprof for root and
 * /tmp/osprof-UID for others. */
#ifndef LIVE_DIRS_H
#define LIVE_DIRS_H

#include <limits.h>

#define LIVE_DIRS_MAX 2

struct live_dirs {
    char paths[LIVE_DIRS_MAX][PATH_MAX];
    unsigned count;
    unsigned chosen; /* which of them osproffs takes, started from here */
};

/* Where live files are looked for, whether or not the directories exist. Where XDG_RUNTIME_DIR is not set, it may have
 * been for osproffs: /run/user/UID/osprof is among them. */
void live_dirs_find(struct live_dirs *ret_dirs);

/* Makes the one that is chosen, if it is not there, for this user alone.
 * Errors: those of making it; -ENOTDIR, -EPERM somebody else was first */
int live_dirs_make(const struct live_dirs *dirs);

/* The path of the socket that belongs to a live file: FILE.sock of FILE.live.
 * Errors:  -EINVAL the live file has another name, -ENOMEM
 * Owner:   the caller frees *ret_path */
int live_socket_path(const char *live_path, char **ret_path);

#endif
