/* libaggstats: the kinds of errors by which failed calls are counted. */
#ifndef AGGSTATS_FAILURE_H
#define AGGSTATS_FAILURE_H

#include "abi.h"

AGGSTATS_BEGIN_DECLARATIONS

/* The number of kinds of failures: one kind for each errno value that file systems return; the last kind is for all
 * other values. */
#define AGGSTATS_FAILURES 44U

/* The kind of an errno value; AGGSTATS_FAILURES - 1 if it has none of its own. */
unsigned aggstats_failure_of_error(int error);

/* As in profiles: "ENOENT", "other"; NULL for no such kind. */
const char *aggstats_failure_name(unsigned failure);

/* The kind of that name; -1: none. */
int aggstats_failure_of_name(const char *name);

AGGSTATS_END_DECLARATIONS

#endif
