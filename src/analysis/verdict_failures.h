/* Private: the share of calls that failed, in two sets of runs. */
#ifndef VERDICT_FAILURES_H
#define VERDICT_FAILURES_H

#include "verdict.h"

/* Fills the op's failures, but for what effect_conclude() and effects_judge() do. profiles: A's a_count first, then
 * B's; scratch: [count]. Returns whether there is anything to judge: a call has failed, and both sides have runs
 * enough. */
bool verdict_failures_compare(const struct aggstats_profile *profiles, size_t a_count, size_t count,
                              struct verdict_op *op, double *scratch);

/* Surely another share, and by as much as matters: the larger is more than at_least above the smaller. */
bool verdict_failures_changed(const struct verdict_failures *failures, double at_least);

#endif
