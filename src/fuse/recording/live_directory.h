/* Where the live file of this process is kept. */
#ifndef LIVE_DIRECTORY_H
#define LIVE_DIRECTORY_H

/* Makes the directory if needed, and a path for this process's live file in it. directory: as given by the user, NULL
 * for the default (live_dirs.h).
 * Owner:   the caller frees *ret_path
 * Errors:  -EPERM the directory belongs to another user, and those of mkdir(2) */
int live_directory_path(const char *directory, unsigned attempt, char **ret_path);

#endif
