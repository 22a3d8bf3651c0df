/* What slow calls waited for, for people. */
#ifndef WHY_PAGE_H
#define WHY_PAGE_H

#include <stdbool.h>

#include "aggstats.h"
#include "option_list.h"
#include "sheet.h"

struct why_page_options {
    struct option_list ops; /* only these operations */
    const char *by;         /* "process", "program" or "uid": groups the latest calls by this; NULL: no */
    bool stacks;            /* print the kernel stack of each call */
};

/* True if slow calls were watched. */
bool why_page_has_any(const struct aggstats_profile *profile);

/* Prints a table of causes by their total time; the calls in flight; and the longest of the slow calls that are kept. Or
 * how these are distributed over processes, programs or users. */
void why_page_print(const struct aggstats_profile *profile, const struct why_page_options *options,
                    const struct screen *screen);

/* Puts the table of causes. total_cycles: of all of them; has_longest: the longest call of each is known */
void why_page_put_causes(struct sheet *sheet, const struct aggstats_profile *profile, const struct option_list *ops,
                         double total_cycles, bool has_longest);

#endif
