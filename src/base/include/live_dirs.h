/* The directory in which osproffs keeps live files by default: $XDG_RUNTIME_DIR/osprof, else /run/osprof for root and
 * /tmp/osprof-UID for others. */
#ifndef LIVE_DIRS_H
#define LIVE_DIRS_H

#include <limits.h>

#define LIVE_DIRS_MAX 2

struct live_dirs {
    char paths[LIVE_DIRS_MAX][PATH_MAX];
    unsigned count;
    unsigned chosen; /* the one that osproffs uses if it is started from here */
};

/* All directories in which live files may be, whether or not they exist. If XDG_RUNTIME_DIR is not set here, it may
 * have been set for osproffs: so /run/user/UID/osprof is among them. */
void live_dirs_find(struct live_dirs *ret_dirs);

/* Makes the chosen one, if it is missing, accessible to this user alone.
 * Errors:  those of mkdir(2); -ENOTDIR, -EPERM another user made something of that name */
int live_dirs_make(const struct live_dirs *dirs);

/* The path of a live file's socket: FILE.sock for FILE.live.
 * Errors:  -EINVAL the live file has another name, -ENOMEM
 * Owner:   the caller frees *ret_path */
int live_socket_path(const char *live_path, char **ret_path);

#endif
