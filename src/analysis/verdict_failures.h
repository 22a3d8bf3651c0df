/* Private: the share of calls that failed, in two sets of runs. */
#ifndef VERDICT_FAILURES_H
#define VERDICT_FAILURES_H

#include "verdict_runs.h"

/* Fills the failures of the ops that are judged, but for what effects_judge() does. Errors: -ENOMEM */
int verdict_compare_failures(struct verdict_runs *runs);

/* Surely another share, and by as much as matters: the larger is more than at_least above the smaller. */
bool verdict_failures_changed(const struct verdict_failures *failures, double at_least);

#endif
