/* Directories that other users cannot exchange.
 *
 * A name in the environment may be of another user (sudo -E, su): he can rename what is in his directories, and put symbolic
 * links there, at any time. So a path is opened component by component, each relative to the descriptor of the one before,
 * and what is checked is what was opened. */
#ifndef OWN_DIR_H
#define OWN_DIR_H

#include <stdbool.h>

#define OWN_DIR_MODE 0700 /* of private directories, as the XDG Base Directory Specification has it */

/* Opens a directory for reading. The last component is not followed if it is a symbolic link.
 * path:      absolute
 * made_max:  so many components at the end are made, with OWN_DIR_MODE, if they are missing; never in a directory of another
 *            user
 * is_strict: no other user may control the path: each directory and symbolic link on it belongs to this user, to root, or to
 *            the owner of the root directory, who is root under another number in a user namespace; and nobody else can rename
 *            what is in these directories. So the path leads to the same directory until this user or root changes it
 * Owner:     the caller closes *ret_fd
 * Errors:    -EPERM another user controls the path, -ELOOP the last component is a symbolic link, those of open(2) and
 *            mkdir(2) */
int own_dir_open(const char *path, unsigned made_max, bool is_strict, int *ret_fd);

/* True for errors of own_dir_open() that other users can cause, by owning the directory or by making it first. */
bool own_dir_is_foreign(int error);

#endif
