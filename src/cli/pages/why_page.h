/* What slow calls have waited for, as people read it. */
#ifndef WHY_PAGE_H
#define WHY_PAGE_H

#include <stdbool.h>

#include "aggstats.h"
#include "option_list.h"
#include "screen.h"

/* Whether anybody has looked for slow calls. */
bool why_page_has_any(const struct aggstats_profile *profile);

/* Prints a table of causes of the ops that were chosen, by their total time; the calls in flight; and the last slow
 * calls. */
void why_page_print(const struct aggstats_profile *profile, const struct option_list *ops, const struct screen *screen);

#endif
