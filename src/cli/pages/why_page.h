/* What slow calls have waited for, as people read it. */
#ifndef WHY_PAGE_H
#define WHY_PAGE_H

#include <stdbool.h>

#include "aggstats.h"
#include "option_list.h"
#include "screen.h"
#include "units.h"

struct why_page_options {
    struct option_list ops; /* whose slow calls are told */
    const char *by;         /* "process", "program" or "uid": by whose the last ones were; NULL: no */
    bool stacks;            /* where in the kernel each call waited */
};

/* Whether anybody has looked for slow calls. */
bool why_page_has_any(const struct aggstats_profile *profile);

/* Prints a table of causes by their total time; the calls in flight; and the last slow calls. Or how the last ones were
 * spread over processes, programs or users. */
void why_page_print(const struct aggstats_profile *profile, const struct why_page_options *options,
                    const struct screen *screen);

/* Prints whose the last slow calls were, and what they waited for: a row for each process, program or user, operation
 * and cause, those that took the most time first. */
void why_by_print(const struct aggstats_profile *profile, const struct option_list *ops, const char *by,
                  const struct units *units, const struct screen *screen);

#endif
