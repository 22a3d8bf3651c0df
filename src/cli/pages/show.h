/* What osprof show prints for the eye. */
#ifndef SHOW_H
#define SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "answer_page.h"
#include "input.h"
#include "option_list.h"

/* Of a profile that is so, in a line of its own. */
#define SHOW_INCOMPLETE "Incomplete: some calls are missing, as memory or disk space ran out, or events were lost."

struct show_options {
    struct option_list ops; /* to show */
    bool ascii;
    bool charts;  /* a histogram for each operation; if some were chosen there always is */
    bool buckets; /* these with a row per bucket instead of columns */
    bool joint;   /* also the joint profiles */
    bool no_labels;
    bool explain;               /* why peaks have the names that they have, or none */
    unsigned group_rows_max;    /* of a table of groups; 0: all */
    const char *how_all_groups; /* how one can see those beyond */
    unsigned width;             /* columns; 0: as screen_of() finds them */
    FILE *stream;
    struct answer_source source; /* where the profile comes from */
    const char *warning;         /* the first lines, of what is wrong at the moment; NULL: nothing is */
};

/* Prints the page: of a whole profile it begins with the page that answers; then come what was profiled, a table of the
 * operations, and the charts that are asked for.
 * Errors:  -ENOMEM */
int show_page(const struct input *input, const struct show_options *options);

/* Prints its heading and a table of the groups of each of those groupings, which are bits (1 << AGGSTATS_BY_PROCESS).
 */
void show_groups(const struct input *input, unsigned groupings, const struct show_options *options);

/* Prints the page, the joint profiles that there are, and a table of each grouping. Errors: -ENOMEM */
int show_all(const struct input *input, const struct show_options *options);

#endif
