/* Failures and bytes of an op's calls, in a line. */
#ifndef OUTCOME_LINE_H
#define OUTCOME_LINE_H

#include "aggstats.h"
#include "screen.h"

/* The most frequent kind of failure of an op; AGGSTATS_FAILURES: none has failed. */
unsigned outcome_commonest_failure(const struct aggstats_op_profile *op);

/* "  12 failed: ENOENT 10, EACCES 2; 4.10 MiB moved of 5.00 MiB asked", the most frequent error first. Prints nothing
 * if there is none. */
void outcome_line_print(const struct aggstats_op_profile *op, const struct screen *screen);

#endif
