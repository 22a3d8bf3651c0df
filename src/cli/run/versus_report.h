/* What is said of the runs so far. */
#ifndef VERSUS_REPORT_H
#define VERSUS_REPORT_H

#include "verdict.h"
#include "versus.h"

/* Compares all runs of a directory. With --repeat auto, what may go wrong is divided among the looks.
 * Owner:   the caller finishes *ret_result.
 * Errors:  -errno */
int versus_judge(const struct versus *it, size_t directory, struct verdict_result *ret_result);

/* Tells that a directory's profiles cannot be compared. Returns the error. */
int versus_complain(const struct versus *it, size_t directory, int error);

/* Saves the profiles of a single round if they have a place, and prints a comparison for each directory.
 * Errors: told; the first of them */
int versus_report(const struct versus *it);

#endif
