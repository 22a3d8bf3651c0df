/* Private: the runs of both sides while they are compared, and what all parts of the comparison do with them. */
#ifndef VERDICT_RUNS_H
#define VERDICT_RUNS_H

#include "verdict.h"

/* What is known of the runs while they are compared. */
struct verdict_runs {
    struct verdict_result *result;
    const struct aggstats_profile *profiles;
    size_t a_count;
    size_t count;
    double *factors;         /* [count] common to the ops of a run, as logarithms */
    double factors_variance; /* of the difference between the sides' factors, by what ops differ from each other */
    double *values;          /* [op][figure][run] logarithms; NAN: none */
    double *scratch;         /* [count] */
    struct effect **tested;  /* what is judged together */
};

/* Of an op in each run: [count], borrowed from the runs. */
double *verdict_values(const struct verdict_runs *runs, size_t op, enum verdict_figure figure);

/* Makes the effect one of those that are judged together, if it is known. It must not move. */
void verdict_judge(struct verdict_runs *runs, struct effect *effect);

/* The same of all, after they were moderated and concluded together. Changes their variances, and sets what
 * effect_conclude() does. */
void verdict_judge_all(struct verdict_runs *runs, struct effect **effects, size_t count);

/* Called often enough on both sides. */
bool verdict_op_is_judged(const struct verdict_op *op);

/* The ratio of a logarithm, within bounds. */
double verdict_ratio_of(double logarithm);

/* The ratio and its interval, of its effect. */
void verdict_ratio_conclude(struct verdict_ratio *ratio);

#endif
