/* How the daemons of osprof run are started. */
#ifndef RUN_OSPROFFS_H
#define RUN_OSPROFFS_H

#include <stdbool.h>

/* What all daemons of a run share. */
struct run_osproffs {
    const char *given;       /* for -o; NULL: none */
    const char *labels;      /* the same, with the labels of --label */
    bool has_groups_unasked; /* of files, directories and programs: nobody has said anything of groups */
    char *program;           /* path of osproffs, or a name for PATH */
    char *control_name;      /* of control files */
    int live_dir_fd;         /* where live files are; -1: there are none */
};

/* given, labels: must stay; NULL: none. wants_groups: unless what is given says what groups there are
 * Owner:   the caller finishes *ret_options, which is zeroed but for live_dir_fd = -1 before
 * Errors:  told to the user */
int run_osproffs_init(struct run_osproffs *ret_options, const char *given, const char *labels, bool wants_groups);
void run_osproffs_finish(struct run_osproffs *options);

#endif
