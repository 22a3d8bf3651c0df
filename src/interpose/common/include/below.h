/* Whether a path lies below a directory, by its text alone: this follows no symbolic link, copies nothing, and makes no
 * system call, so it is quick and works in a signal handler with a small stack. */
#ifndef BELOW_H
#define BELOW_H

#include <stddef.h>

enum below_place {
    BELOW_OUTSIDE,
    BELOW_ABOVE,  /* the directory is below the path */
    BELOW_INSIDE, /* the directory, or below it */
};

/* directory: absolute, without ".", ".." and doubled slashes
 * base:      absolute; what path is relative to, unless that is absolute too
 * path:      may have "." and ".."; "": base itself */
enum below_place below_place_of(const char *directory, const char *base, const char *path);

#endif
