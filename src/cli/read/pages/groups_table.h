/* A table of groups: which of them take the time. */
#ifndef GROUPS_TABLE_H
#define GROUPS_TABLE_H

#include "aggstats.h"
#include "sheet.h"

#define GROUPS_NAME_COLUMNS 16
#define GROUPS_ID_COLUMNS 9
#define GROUPS_MAIN_OPS_COLUMNS 12 /* at least */
#define GROUPS_MAIN_OPS_SIZE 192

/* "READ 61 %, OPEN 20 %". The profile's ops are sorted by total. */
void groups_table_format_main_ops(const struct aggstats_profile *profile, double total_cycles,
                                  char ret_text[GROUPS_MAIN_OPS_SIZE]);

/* Puts "Other: 12 % of the time ...": a line about calls of no group, if they take more than 5 % of the time. */
void groups_table_put_other(struct sheet *sheet, const struct aggstats_profile *profile,
                            enum aggstats_grouping grouping);

/* Puts that line, and a row for each group of a grouping: calls, share, total, mean, and the operations that take most of
 * its time, or its path.
 * rows_max: 0: all; how: to see those that are left out */
void groups_table_put(struct sheet *sheet, const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                      size_t rows_max, const char *how);

#endif
