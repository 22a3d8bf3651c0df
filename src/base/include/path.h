/* Paths as text: nothing here asks a file system, so that nothing can hang. */
#ifndef PATH_H
#define PATH_H

/* The path made absolute, without "." and "..", doubled and trailing slashes. Symbolic links are not looked at.
 * Owner:   the caller frees the result
 * Returns NULL without memory or when there is no current directory */
char *path_normalise(const char *path);

/* dir/name. Owner: the caller frees the result. Returns NULL without memory */
char *path_join(const char *dir, const char *name);

#endif
