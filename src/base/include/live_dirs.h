/* The directory in which osproffs keeps live files by default: $XDG_RUNTIME_DIR/osprof, else /run/osprof for root and
 * /tmp/osprof-UID for others.
 *
 * Other processes find a live file, and its socket, by the path. So no other user may be able to exchange a directory on the
 * path (own_dir.h): where XDG_RUNTIME_DIR names such a place (sudo -E, su), it is ignored. If another user has made
 * /tmp/osprof-UID first, the directory is /tmp/osprof-UID.XXXXXX, with six characters that nobody can guess. */
#ifndef LIVE_DIRS_H
#define LIVE_DIRS_H

#include <limits.h>

#define LIVE_DIRS_MAX 6
#define LIVE_DIRS_COMMON 1 /* /run/osprof or /tmp/osprof-UID: not in a directory that is for one user alone */

struct live_dirs {
    char paths[LIVE_DIRS_MAX][PATH_MAX];
    unsigned count;
    unsigned chosen; /* index of the directory that osproffs uses if started from here */
};

/* All directories in which live files may be, whether or not they exist. If XDG_RUNTIME_DIR is not set here, or is
 * ignored, it may have been set for osproffs: so /run/user/UID/osprof is among them. */
void live_dirs_find(struct live_dirs *ret_dirs);

/* Makes the chosen one, if it is missing, accessible to this user alone. May choose another one of /tmp instead.
 * Errors:  those of mkdir(2); -ENOTDIR, -EPERM another user made something of that name, or could exchange it */
int live_dirs_make(struct live_dirs *dirs);

/* Locks the directory that is chosen, and makes it if it is missing: of this user's processes one at a time looks for the live
 * files of others and makes its own. Waits, but 30 seconds at most. The kernel unlocks it when the process is killed.
 * Returns -1 if that is not possible */
int live_dirs_lock(void);

/* lock_fd: is -1 then, and may be before */
void live_dirs_unlock(int *lock_fd);

/* Makes a live file, or another file in its place, under a name that is free: calls make() with DIRECTORY/PID<tag>0.live,
 * then with 1 and so on, while it returns -EEXIST. tag: "": the names are PID.live, PID-1.live and so on
 * Errors:  those of make(), -ENOMEM */
int live_dirs_try(const char *directory, const char *tag, int (*make)(void *context, const char *path), void *context);

/* The path of a live file's socket: FILE.sock for FILE.live.
 * Errors:  -EINVAL the live file has another name, -ENOMEM
 * Owner:   the caller frees *ret_path */
int live_socket_path(const char *live_path, char **ret_path);

#endif
