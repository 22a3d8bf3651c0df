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

/* The effect of a share of an op's calls. Its logits in each run are in runs->scratch, NAN where it is not known.
 * sums: of the share over the runs of each side. ret_a_share, ret_b_share: its means */
struct effect verdict_effect_of_shares(const struct verdict_runs *runs, const struct verdict_op *op,
                                       const double sums[2], double *ret_a_share, double *ret_b_share);

/* Called often enough on both sides. */
bool verdict_op_is_judged(const struct verdict_op *op);

/* The ratio of a logarithm, within bounds. */
double verdict_ratio_of(double logarithm);

/* The ratio and its interval, of its effect. */
void verdict_ratio_conclude(struct verdict_ratio *ratio);

#endif
