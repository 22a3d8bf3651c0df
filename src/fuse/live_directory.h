/* Where live files are kept: $XDG_RUNTIME_DIR/osprof, else /run/osprof for root and /tmp/osprof-UID for others. */
#ifndef LIVE_DIRECTORY_H
#define LIVE_DIRECTORY_H

/* Makes the directory if need be and gives a path for this process's live file in it. directory: as given by the
 * user, NULL for the default.
 * Owner:   the caller frees *ret_path
 * Errors:  -EPERM the directory belongs to somebody else, and those of mkdir(2) */
int live_directory_path(const char *directory, unsigned attempt, char **ret_path);

#endif
