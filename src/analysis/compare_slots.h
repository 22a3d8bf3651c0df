/* Private: two sampled profiles over time. */
#ifndef COMPARE_SLOTS_H
#define COMPARE_SLOTS_H

#include "compare.h"

/* How long the slots are and how many, so that none is shorter than an interval; none unless both are sampled. */
void compare_slots_plan(struct compare_result *result);

/* Fills op->slots. Errors: -ENOMEM */
int compare_slots_fill(const struct compare_result *result, struct compare_op *op);

#endif
