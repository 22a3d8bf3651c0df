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

/* ---- Figures of ops: verdict_figures.c ---------------------------------------------------------- */

/* Reads an op's figures of all runs, and its means over those of each side. index: in the result */
void verdict_read_op(const struct verdict_runs *runs, size_t index);

/* The effect on one figure of all ops, beside the common factors. Errors: -ENOMEM */
int verdict_compare_figure(struct verdict_runs *runs, enum verdict_figure figure);

/* ---- All ops together: verdict_common.c --------------------------------------------------------- */

/* Sets the factors of the runs, their variance, and whether the result has a common one, from the ops' values.
 * Errors: -ENOMEM */
int verdict_find_factors(struct verdict_runs *runs);

/* Values of the runs, less the factors: in runs->scratch. */
const double *verdict_beside_factors(const struct verdict_runs *runs, const double *values);

/* The effect on the common factor, if there is one; it is judged with the others. */
void verdict_compare_common(struct verdict_runs *runs);

/* How long the runs took, if all tell it. */
void verdict_compare_elapsed(const struct verdict_runs *runs);

/* Whether the common factor moves with time, after it was compared. */
void verdict_find_trend(const struct verdict_runs *runs);

/* ---- Shares of an op's calls: verdict_shares.c -------------------------------------------------- */

/* Finds the peaks of the ops that are judged, and compares them; after figures were compared. Errors: -ENOMEM */
int verdict_compare_peaks(struct verdict_runs *runs);

/* Fills the failures of the ops that are judged, but for what effects_judge() does. Errors: -ENOMEM */
int verdict_compare_failures(struct verdict_runs *runs);

/* ---- Words: verdict_words.c --------------------------------------------------------------------- */

/* An op's word, what made it a change, and how many more runs would decide. */
void verdict_find_word(const struct verdict_runs *runs, struct verdict_op *op);

/* The same of the common factor, if there is one. */
void verdict_find_common_word(struct verdict_runs *runs);

#endif
