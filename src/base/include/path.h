/* Paths as text, and the paths of open files. Nothing here asks a file system except /proc, so nothing can hang. */
#ifndef PATH_H
#define PATH_H

#include <limits.h>
#include <stddef.h>

/* The path made absolute, without ".", "..", doubled or trailing slashes. Symbolic links are not resolved.
 * Owner:   the caller frees the result
 * Returns NULL without memory or when there is no current directory */
char *path_normalise(const char *path);

/* dir/name. Owner: the caller frees the result. Returns NULL without memory */
char *path_join(const char *dir, const char *name);

/* The same in the directory of the program that runs. */
char *path_beside_program(const char *name);

/* The part of an absolute path below root: "/file", or "" for root itself. Returns NULL if path is not below root.
 * Owner:   the owner of path */
const char *path_below(const char *path, const char *root);

/* The path that an open file has now, symbolic links resolved.
 * Errors:  -errno of /proc; -ENAMETOOLONG */
int path_of_open(int fd, char ret_path[PATH_MAX]);

/* Copies a path. If it is too long, copies "..." and the end of the path, which says more. size_bytes: above 4 */
void path_copy_end(const char *path, char *ret_copy, size_t size_bytes);

#endif
