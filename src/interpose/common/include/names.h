/* Whether calls that take names count, decided by the text of the name. A name through a symbolic link counts by where
 * the link is, not by where it leads. All functions keep errno. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>

#include "preload.h"

/* path: relative to dir_fd, or AT_FDCWD; "": dir_fd itself. A name that cannot be read, such as NULL, does not count.
 * If it counts, the live file has been joined. */
bool names_count(int dir_fd, const char *path, const struct preload_ops *ops);

/* Some of this process's memory is unmapped, or becomes unreadable. A child without a thread area may call this
 * (wrapper.h). */
void names_memory_changed(void);

#endif
