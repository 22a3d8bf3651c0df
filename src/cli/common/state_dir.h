/* The directory where osprof keeps what it will want again: results of runs, and calibrations. $XDG_STATE_HOME/osprof, or
 * ~/.local/state/osprof. */
#ifndef STATE_DIR_H
#define STATE_DIR_H

#include <limits.h>
#include <stdbool.h>

/* Opens it. It belongs to the effective user and is for him alone: nobody else can have put anything there.
 * makes:   it is made if it is missing, but never in a directory of another user
 * Owner:   the caller closes *ret_fd
 * Errors:  -ENOENT it is missing; others, for state_dir_reason(). ret_path is always set */
int state_dir_open(bool makes, int *ret_fd, char ret_path[PATH_MAX]);

/* Such an error in words. */
const char *state_dir_reason(int error);

#endif
