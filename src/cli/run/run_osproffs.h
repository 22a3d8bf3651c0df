/* How the daemons of osprof run are started. */
#ifndef RUN_OSPROFFS_H
#define RUN_OSPROFFS_H

#include <stdbool.h>

/* Common to all daemons of a run. */
struct run_osproffs {
    const char *given;       /* for -o; NULL: none */
    const char *labels;      /* the same, with the labels of --label */
    bool has_groups_unasked; /* of files, directories and programs: the user has not mentioned groups */
    char *program;           /* path of osproffs, or a name for PATH */
    char *control_name;      /* of control files */
    int live_dir_fd;         /* the directory of live files; -1: none */
};

/* given, labels: must stay valid; NULL: none. wants_groups: unless the given options mention groups
 * Owner:   the caller finishes *ret_options, which must be zeroed before, except live_dir_fd = -1
 * Errors:  reported to the user */
int run_osproffs_init(struct run_osproffs *ret_options, const char *given, const char *labels, bool wants_groups);
void run_osproffs_finish(struct run_osproffs *options);

#endif
