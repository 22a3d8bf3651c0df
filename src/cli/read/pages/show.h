/* The output of osprof show for people. */
#ifndef SHOW_H
#define SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "answer_page.h"
#include "input.h"
#include "option_list.h"

/* A line of its own for such a profile. */
#define SHOW_INCOMPLETE                                                                                                \
    "Incomplete: not measured are calls for which memory or disk space ran out, or whose events were dropped."

struct show_options {
    struct option_list ops; /* to show */
    bool charts;            /* a histogram for each operation; always for chosen ones */
    bool buckets;           /* these with a row per bucket instead of columns */
    bool joint;             /* also the joint profiles */
    unsigned lines_max;     /* only the answer page and warnings, in so many lines, and charts if wanted; 0: all */
    bool no_labels;
    bool explain;               /* explain the names of peaks, or their absence */
    unsigned group_rows_max;    /* in tables of groups; 0: all */
    const char *how_all_groups; /* how to see the rest */
    FILE *stream;
    struct answer_source source; /* where the profile comes from */
    const char *warning;         /* the first lines, about a present problem; NULL: none */
};

/* Prints the page. For a whole profile it begins with the answer page; then come what was profiled, a table of the
 * operations, and the charts if wanted.
 * Errors:  -ENOMEM */
int show_page(const struct input *input, const struct show_options *options);

/* Prints its heading and a table of the groups of each of those groupings, which are bits (1 <<
 * AGGSTATS_BY_PROCESS). */
void show_groups(const struct input *input, unsigned groupings, const struct show_options *options);

/* Prints the page, all joint profiles, and a table of each grouping. Errors: -ENOMEM */
int show_all(const struct input *input, const struct show_options *options);

/* ---- Parts of the page, for pages that are put together otherwise -------------------------------- */

struct show_parts;

/* options: only ops, no_labels, explain, group_rows_max, how_all_groups, source and warning matter
 * Owner:   input, options and what they have must stay; the caller finishes *ret_parts
 * Errors:  -ENOMEM */
int show_parts_init(const struct input *input, const struct show_options *options, const struct screen *screen,
                    struct show_parts **ret_parts);
void show_parts_finish(struct show_parts *parts);

enum show_part {
    SHOW_ANSWER,    /* and what is wrong with the profile */
    SHOW_HEADING,   /* what was profiled, where and how long */
    SHOW_IN_FLIGHT, /* calls */
    SHOW_TABLE,     /* of operations */
    SHOW_JOINTS,    /* all joint profiles */
    SHOW_GROUPS,    /* a table for each grouping */
};
void show_part(struct show_parts *parts, enum show_part part);

/* What is known of an operation besides its histogram: failures, bytes, and its peaks. */
void show_part_op(struct show_parts *parts, const struct aggstats_op_profile *op);

/* Puts a table of calls in flight. */
void show_calls_in_flight(struct sheet *sheet, const struct aggstats_call *const *calls, size_t count);

/* A profile as JSON, with the advice that the page has. Errors: as view_json.write() */
int advice_json_write(const struct aggstats_profile *profile, FILE *stream);

#endif
