/* Private: what is said of all ops together. */
#ifndef VERDICT_TOGETHER_H
#define VERDICT_TOGETHER_H

#include "verdict_runs.h"

/* The effect on the common factor, if there is one; it is judged with the others. */
void verdict_compare_common(struct verdict_runs *runs);

/* How long the runs took, if all tell it. */
void verdict_compare_elapsed(const struct verdict_runs *runs);

/* Whether the common factor moves with time, after it was compared. */
void verdict_find_trend(const struct verdict_runs *runs);

#endif
