/* Whether calls that take names count: by where the name is, as text. A name through a symbolic link counts where the
 * link is, not where it leads to. All functions keep errno. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>

#include "preload.h"

/* path: relative to dir_fd, or AT_FDCWD; ""; dir_fd itself. What is not there, such as NULL, does not count. If it
 * counts, the live file has been joined. */
bool names_count(int dir_fd, const char *path, const struct preload_ops *ops);

/* The current directory has changed, by a call of this process's. */
void names_directory_changed(void);

/* Some of this process's memory goes away, or may no longer be read. */
void names_memory_changed(void);

#endif
