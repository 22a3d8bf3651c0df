/* osprof compare A... -- B..., or DIR: two sets of runs. */
#ifndef COMPARE_SETS_H
#define COMPARE_SETS_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"
#include "verdict.h"

struct compare_sets {
    struct verdict_options options;
    bool json;
    bool markdown;
    bool brief;
    bool quiet;
    bool ascii;
    unsigned width;        /* columns; 0: those of the terminal */
    unsigned fail_on;      /* what makes the exit status 1: VERDICT_ON_* */
    const char *layer;     /* of recordings; NULL: fs if there is one */
    const char *directory; /* with the runs that osprof run has kept; NULL: runs are named */
    char *const *a;        /* profiles; "@FILE": the names in a file */
    size_t a_count;
    char *const *b;
    size_t b_count;
};

/* Reads all of them, and prints what has changed. */
enum status compare_sets(const struct compare_sets *sets);

#endif
