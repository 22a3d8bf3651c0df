/* What osprof show prints for the eye. */
#ifndef SHOW_H
#define SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "input.h"
#include "option_list.h"

struct show_options {
    struct option_list ops; /* to show */
    bool ascii;
    bool buckets; /* a row per bucket instead of columns */
    bool joint;   /* also the joint profiles */
    bool no_labels;
    unsigned width; /* columns; 0: as screen_of() finds them */
    FILE *stream;
};

/* Prints the page. Errors: -ENOMEM */
int show_page(const struct input *input, const struct show_options *options);

/* Prints its heading and a table of the groups of each of those groupings, which are bits (1 << AGGSTATS_BY_PROCESS).
 */
void show_groups(const struct input *input, unsigned groupings, const struct show_options *options);

/* Prints the page with all operations, the joint profiles that there are, and a table of each grouping. Errors: -ENOMEM
 */
int show_all(const struct input *input, FILE *stream);

#endif
