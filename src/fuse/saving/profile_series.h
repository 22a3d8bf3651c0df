/* A series of profiles in a directory: NAME-20261125T101500.123Z.osprof, named by the time at which each was saved. The
 * names sort in the order of saving, whatever the clock does. Other files are ignored: those without such a name, of
 * another user, or whose header names another mount. */
#ifndef PROFILE_SERIES_H
#define PROFILE_SERIES_H

#include <limits.h>
#include <stdint.h>

#include "control.h"

#define PROFILE_SERIES_SUFFIX_MAX 40 /* bytes of a name behind NAME */

struct profile_series {
    int dir_fd;                      /* borrowed, like the rest */
    const char *name;                /* at most NAME_MAX - PROFILE_SERIES_SUFFIX_MAX bytes long */
    const struct control_text *text; /* the next profile of the series: its header names the mount */
};

/* A name for a profile saved at that time. Its time, in milliseconds since 1970, is later than those of all others
 * there, and than *after_ms, which is set to it.
 * Errors:  those of reading the directory, -EOVERFLOW after the year 9999 */
int profile_series_next(const struct profile_series *series, int64_t now_ns, int64_t *after_ms,
                        char ret_name[NAME_MAX + 1]);

/* Removes the oldest, so that at most keep are left. Errors: the first failure; others were removed nonetheless */
int profile_series_prune(const struct profile_series *series, unsigned keep);

#endif
