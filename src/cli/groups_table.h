/* Profiles of processes or users: which of them the time goes to. */
#ifndef GROUPS_TABLE_H
#define GROUPS_TABLE_H

#include "screen.h"
#include "units.h"

#include "aggstats.h"

/* Prints a row for each group: calls, share, total, mean, and the operations that take most of its time. */
void groups_table_print(const struct aggstats_profile *profile, const struct units *units, const struct screen *screen);

/* Makes the profile that of the groups that `who` names: by number, by name, "kernel" or "other"; several are added up.
 * What cannot be told of them alone is gone: intervals, joint profiles, calls in flight.
 * Errors:  -ENOENT there are none, -ENOMEM, -EOVERFLOW; *profile untouched */
int groups_select(struct aggstats_profile *profile, const char *who);

#endif
