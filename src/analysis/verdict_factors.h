/* Private: what the ops of a run have in common, such as a busier machine (verdict.h). */
#ifndef VERDICT_FACTORS_H
#define VERDICT_FACTORS_H

#include "verdict_runs.h"

/* Sets the factors of the runs, their variance, and whether the result has a common one, from the ops' values.
 * Errors: -ENOMEM */
int verdict_find_factors(struct verdict_runs *runs);

/* Values of the runs, less the factors: in runs->scratch. */
const double *verdict_beside_factors(const struct verdict_runs *runs, const double *values);

#endif
