/* The subjects of calls, for profiles of files, directories and mounts (aggstats/shared_groups.h). Subjects are looked
 * up only if the run has such groups. All functions keep errno. */
#ifndef SUBJECTS_H
#define SUBJECTS_H

#include <linux/stat.h>

#include "aggstats/shared_groups.h"
#include "preload.h"

/* True if calls have subjects. */
static inline bool subjects_are_wanted(void) {
    return __builtin_expect(preload.groupings & PRELOAD_OBJECT_GROUPINGS, 0);
}

/* Of a name, by its text. path: readable; relative to dir_fd, or AT_FDCWD; "": dir_fd itself */
aggstats_subject subjects_of_name(int dir_fd, const char *path);

/* Of a descriptor, by the kernel's path, or by the name that it was just opened with; NULL: that is unknown.
 * attributes: of the descriptor, with its type and mount; NULL: unknown */
aggstats_subject subjects_of_fd(int fd, int dir_fd, const char *path, const struct statx *attributes);

/* Asks the kernel for the mount. */
aggstats_subject subjects_find_mount(aggstats_subject subject);

/* The same subject with its mount, if that can be found out: call it after the call, which may have been the first in
 * that directory. */
static inline aggstats_subject subjects_with_mount(aggstats_subject subject) {
    const bool is_wanted =
        subject != 0 && !aggstats_subject_has_mount(subject) && preload.groupings & 1U << AGGSTATS_BY_FILESYSTEM;
    return __builtin_expect(is_wanted, 0) ? subjects_find_mount(subject) : subject;
}

#endif
