/* Whether a path lies below a directory, by its text alone: symbolic links are not looked at, nothing is copied, and
 * nothing is asked of the kernel, so that it is quick and may be done in a signal handler with a small stack. */
#ifndef BELOW_H
#define BELOW_H

#include <stddef.h>

enum below_place {
    BELOW_OUTSIDE,
    BELOW_ABOVE,  /* not below it, but it is below this */
    BELOW_INSIDE, /* it, or below it */
};

/* directory: absolute, without ".", ".." and doubled slashes
 * base:      absolute; what path is relative to, unless that is absolute too
 * path:      may have "." and ".."; "": base itself */
enum below_place below_place_of(const char *directory, const char *base, const char *path);

#endif
