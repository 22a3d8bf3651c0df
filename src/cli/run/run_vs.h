/* osprof run --vs: two commands run in turn, and what differs between their profiles.
 *
 * Each run has mounts of its own, with empty caches: were both mounted at once, one would go on showing names and
 * attributes that the other has just changed. The profiles of several runs are compared as two sets. */
#ifndef RUN_VS_H
#define RUN_VS_H

#include "versus.h"

/* Runs both in turn, saves the profiles if they have a place, and prints a comparison for each directory on standard
 * error. A round that a signal has cut short does not count.
 * Returns an exit status: that of B's first run that failed; else of what ended the runs early */
int run_vs(const struct run_vs *vs);

#endif
