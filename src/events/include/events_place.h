/* Creates the file of a recording. Only its owner may read the file, since it contains names, and the actions of users.
 * No other file is overwritten. */
#ifndef EVENTS_PLACE_H
#define EVENTS_PLACE_H

/* Finds the directory of a file, which may be there already if it is a regular file.
 * Owner:   the caller closes *ret_dir_fd, and frees *ret_name, also after an error
 * Errors:  -EPERM another user may have put the file there, -EISDIR it is a directory, -ENOTSUP it is another thing or a
 *          symbolic link, -ENAMETOOLONG, -ENOMEM, and those of open(2) */
int events_place_find(const char *file, int *ret_dir_fd, char **ret_name);

/* Makes a new file. Returns a descriptor, or -errno */
int events_place_create_new(int dir_fd, const char *name);

/* The same; an existing file is kept as NAME.old. */
int events_place_create(int dir_fd, const char *name);

#endif
