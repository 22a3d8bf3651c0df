/* Profiles of processes or users: which of them the time goes to. */
#ifndef GROUPS_TABLE_H
#define GROUPS_TABLE_H

#include "screen.h"
#include "units.h"

#include "aggstats.h"

#define GROUPS_NAME_COLUMNS 16
#define GROUPS_ID_COLUMNS 9
#define GROUPS_MAIN_OPS_COLUMNS 12 /* at least */
#define GROUPS_MAIN_OPS_SIZE 192

/* Titles of the columns: "process" or "user", "pid" or "uid". */
const char *groups_name_title(enum aggstats_grouping grouping);
const char *groups_id_title(enum aggstats_grouping grouping);

/* "grep", "kernel" or "other": any bytes. Owner: the group */
const char *groups_name(const struct aggstats_group *group);

/* "4711"; "" for the kernel and others */
void groups_format_id(const struct aggstats_group *group, char ret_text[UNITS_TEXT_SIZE]);

/* "READ 61 %, OPEN 20 %": as many as fit in so many columns. The profile's ops are sorted by total. */
void groups_format_main_ops(const struct aggstats_profile *profile, double total_cycles, int columns,
                            char ret_text[GROUPS_MAIN_OPS_SIZE]);

/* Prints a row for each group: calls, share, total, mean, and the operations that take most of its time. */
void groups_table_print(const struct aggstats_profile *profile, const struct units *units, const struct screen *screen);

/* Makes the profile that of the groups that `who` names: by number, by name, "kernel" or "other"; several are added up.
 * What cannot be told of them alone is gone: intervals, joint profiles, calls in flight.
 * Errors:  -ENOENT there are none, -ENOMEM, -EOVERFLOW; *profile untouched */
int groups_select(struct aggstats_profile *profile, const char *who);

#endif
