/* Directories in which each run of a comparison has a profile of its own: a-01.osprof, b-01.osprof and so on, for
 * 'osprof compare DIR'. */
#ifndef RUN_SETS_H
#define RUN_SETS_H

#include "aggstats.h"

struct run_sets {
    const char *given; /* NULL: nothing is kept */
    size_t count;      /* of profiled directories; if there are several, DIR.1, DIR.2 and so on */
    int parent_fd;
    char **names; /* [count] below the parent */
    int *fds;     /* [count] -1: not open */
};

/* Makes the directories, before anything is mounted over them; an existing one must be empty.
 * Owner:   the caller finishes *ret_sets, also after an error
 * Errors:  reported to the user */
int run_sets_open(struct run_sets *ret_sets, const char *given, size_t count);

/* Removes directories without a profile. */
void run_sets_finish(struct run_sets *sets);

/* Saves the profile of a run. side: 0 is A, 1 is B; run: from 1. If it cannot be written it is printed on standard
 * error.
 * Errors:  reported to the user */
int run_sets_save(const struct run_sets *sets, size_t directory, size_t side, size_t run,
                  const struct aggstats_profile *profile);

#endif
