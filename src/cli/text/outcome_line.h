/* What came of an op's calls, in a line: those that failed, and bytes. */
#ifndef OUTCOME_LINE_H
#define OUTCOME_LINE_H

#include "aggstats.h"
#include "screen.h"

/* The kind by which most calls of an op failed; AGGSTATS_FAILURES: none has. */
unsigned outcome_commonest_failure(const struct aggstats_op_profile *op);

/* "  12 failed: ENOENT 10, EACCES 2; 4.10 MiB moved of 5.00 MiB asked", the commonest error first. Nothing where there
 * is nothing to tell. */
void outcome_line_print(const struct aggstats_op_profile *op, const struct screen *screen);

#endif
