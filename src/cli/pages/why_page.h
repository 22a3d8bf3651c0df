/* What slow calls waited for, for people. */
#ifndef WHY_PAGE_H
#define WHY_PAGE_H

#include <stdbool.h>

#include "aggstats.h"
#include "option_list.h"
#include "screen.h"
#include "units.h"

struct why_page_options {
    struct option_list ops; /* only these operations */
    const char *by;         /* "process", "program" or "uid": groups the latest calls by this; NULL: no */
    bool stacks;            /* print the kernel stack of each call */
};

/* True if slow calls were watched. */
bool why_page_has_any(const struct aggstats_profile *profile);

/* Prints a table of causes by their total time; the calls in flight; and the latest slow calls. Or how the latest ones
 * are distributed over processes, programs or users. */
void why_page_print(const struct aggstats_profile *profile, const struct why_page_options *options,
                    const struct screen *screen);

/* Prints the callers and causes of the latest slow calls: a row for each process, program or user, operation and cause,
 * those that took the most time first. */
void why_by_print(const struct aggstats_profile *profile, const struct option_list *ops, const char *by,
                  const struct units *units, const struct screen *screen);

#endif
