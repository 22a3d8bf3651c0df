/* Paths as text, and those of open files: nothing here asks a file system but /proc, so that nothing can hang. */
#ifndef PATH_H
#define PATH_H

#include <limits.h>
#include <stddef.h>

/* The path made absolute, without "." and "..", doubled and trailing slashes. Symbolic links are not looked at.
 * Owner:   the caller frees the result
 * Returns NULL without memory or when there is no current directory */
char *path_normalise(const char *path);

/* dir/name. Owner: the caller frees the result. Returns NULL without memory */
char *path_join(const char *dir, const char *name);

/* What of an absolute path is below another: "/file", or "" for that itself; NULL: nothing is. Owner: the path's */
const char *path_below(const char *path, const char *root);

/* The path that an open file has now, symbolic links resolved.
 * Errors:  -errno of /proc; -ENAMETOOLONG */
int path_of_open(int fd, char ret_path[PATH_MAX]);

/* Copies a path; of one that is too long the end, which tells more, behind "...". size_bytes: above 4 */
void path_copy_end(const char *path, char *ret_copy, size_t size_bytes);

#endif
