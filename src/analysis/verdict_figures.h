/* Private: the figures of ops, such as the mean latency, in each run and compared. */
#ifndef VERDICT_FIGURES_H
#define VERDICT_FIGURES_H

#include "verdict_runs.h"

/* Reads an op's figures of all runs, and its means over those of each side. index: in the result */
void verdict_read_op(const struct verdict_runs *runs, size_t index);

/* The effect on one figure of all ops, beside the common factors. Errors: -ENOMEM */
int verdict_compare_figure(struct verdict_runs *runs, enum verdict_figure figure);

#endif
