/* The directory of kept results. */
#ifndef KEPT_PLACE_H
#define KEPT_PLACE_H

#include <stdbool.h>

#include "kept.h"

/* Opens it. It belongs to the effective user and is for him alone: nobody else can have put anything there.
 * makes:   it is made if it is missing, but only inside of directories that belong to the effective user
 * Owner:   the caller closes *ret_fd
 * Errors:  -ENOENT it is missing; others, for kept_place_reason(). ret_path is always set */
int kept_place_open(bool makes, int *ret_fd, char ret_path[PATH_MAX]);

/* Such an error in words. */
const char *kept_place_reason(int error);

#endif
