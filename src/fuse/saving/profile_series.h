/* A series of profiles in a directory: NAME-20261125T101500.123Z.osprof, named by the time at which each was saved, in
 * the order of these names whatever the clock does. Only files are looked at that have such a name, belong to this
 * process's user, and say in their header that they are of the same mount. */
#ifndef PROFILE_SERIES_H
#define PROFILE_SERIES_H

#include <limits.h>
#include <stdint.h>

#include "control.h"

#define PROFILE_SERIES_SUFFIX_MAX 40 /* bytes of a name behind NAME */

struct profile_series {
    int dir_fd;                      /* borrowed, as the rest */
    const char *name;                /* at most NAME_MAX - PROFILE_SERIES_SUFFIX_MAX bytes long */
    const struct control_text *text; /* the next of them: its header tells which mount they are of */
};

/* A name for a profile saved at that time: a later one than those of all others there, and than after_ms, which becomes
 * its own, in milliseconds since 1970.
 * Errors:  those of reading the directory, -EOVERFLOW after the year 9999 */
int profile_series_next(const struct profile_series *series, int64_t now_ns, int64_t *after_ms,
                        char ret_name[NAME_MAX + 1]);

/* Removes the oldest, so that at most keep are left. Errors: what failed first; others were removed nonetheless */
int profile_series_prune(const struct profile_series *series, unsigned keep);

#endif
