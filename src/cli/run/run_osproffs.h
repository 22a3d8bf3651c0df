/* How the daemons of osprof run are started. */
#ifndef RUN_OSPROFFS_H
#define RUN_OSPROFFS_H

/* What all daemons of a run share. */
struct run_osproffs {
    const char *given;  /* for -o; NULL: none */
    const char *labels; /* the same, with the labels of --label */
    char *program;      /* path of osproffs, or a name for PATH */
    char *control_name; /* of control files */
    int live_dir_fd;    /* where live files are; -1: there are none */
};

/* given, labels: must stay; NULL: none
 * Owner:   the caller finishes *ret_options, which is zeroed but for live_dir_fd = -1 before
 * Errors:  told to the user */
int run_osproffs_init(struct run_osproffs *ret_options, const char *given, const char *labels);
void run_osproffs_finish(struct run_osproffs *options);

#endif
