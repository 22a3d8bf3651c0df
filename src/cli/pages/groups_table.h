/* A table of groups: which of them take the time. */
#ifndef GROUPS_TABLE_H
#define GROUPS_TABLE_H

#include <stdbool.h>

#include "aggstats.h"
#include "screen.h"
#include "units.h"

#define GROUPS_NAME_COLUMNS 16
#define GROUPS_ID_COLUMNS 9
#define GROUPS_MAIN_OPS_COLUMNS 12 /* at least */
#define GROUPS_MAIN_OPS_SIZE 192

/* "READ 61 %, OPEN 20 %": as many as fit in that many columns. The profile's ops are sorted by total. */
void groups_table_format_main_ops(const struct aggstats_profile *profile, double total_cycles, int columns,
                                  char ret_text[GROUPS_MAIN_OPS_SIZE]);

#define GROUPS_OTHER_SIZE 160

/* "Other: 12 % of the time ...": a line about calls of no group, if they take more than 5 % of the time. Returns false
 * if not. */
bool groups_table_format_other(const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                               char ret_text[GROUPS_OTHER_SIZE]);

/* Prints a line about calls of no group, and a row for each group of a grouping, at most row_max: calls, share, total,
 * mean, and the operations that take most of its time, or its path; as much of it as fits. Returns how many rows are
 * left out */
size_t groups_table_print(const struct aggstats_profile *profile, enum aggstats_grouping grouping, size_t row_max,
                          const struct units *units, const struct screen *screen);

/* "And 240 more files: ", and how to see them. */
void groups_table_print_left_out(enum aggstats_grouping grouping, size_t count, const char *how,
                                 const struct screen *screen);

#endif
