/* Whose the last slow calls of a profile were, and what they waited for. */
#ifndef WHY_BY_H
#define WHY_BY_H

#include "option_list.h"
#include "screen.h"
#include "units.h"

#include "aggstats.h"

/* Prints a row for each process, program or user, operation and cause, those that took the most time first. by: as in
 * why_page.h */
void why_by_print(const struct aggstats_profile *profile, const struct option_list *ops, const char *by,
                  const struct units *units, const struct screen *screen);

#endif
