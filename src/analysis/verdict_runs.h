/* Private: the runs of both sides during a comparison, and functions that all parts of it use. */
#ifndef VERDICT_RUNS_H
#define VERDICT_RUNS_H

#include "verdict.h"

#define VERDICT_HALF_CYCLE 0.5 /* replaces 0 cycles of all calls together, for a logarithm */

/* Effects that are judged together. Each family has a share of the probability of any false change. */
enum verdict_family {
    VERDICT_FAMILY_USUAL, /* usual latencies: the main question, so they have the largest share */
    VERDICT_FAMILY_TAIL,  /* shares of slow calls */
    VERDICT_FAMILY_REST,
    VERDICT_FAMILY_COUNT,
};

/* The state of a comparison. */
struct verdict_runs {
    struct verdict_result *result;
    const struct aggstats_profile *profiles;
    size_t a_count;
    size_t count;
    double *factors;         /* [count] factor common to the ops of a run, as logarithms */
    double factors_variance; /* of the difference between the sides' factors, from the differences among ops */
    double *values;          /* [op][figure][run] logarithms; NAN: none */
    double *scratch;         /* [count] */
    struct effect **tested[VERDICT_FAMILY_COUNT];
    size_t tested_counts[VERDICT_FAMILY_COUNT];
};

/* Of an op in each run: [count], borrowed from the runs. */
double *verdict_values(const struct verdict_runs *runs, size_t op, enum verdict_figure figure);

/* True if the op's calls of that run took 0 cycles together: no factor makes that more or less. */
bool verdict_is_zero(const struct verdict_runs *runs, size_t op, size_t run);

/* Adds the effect to those of the family, if it is known. It must not move. */
void verdict_judge(struct verdict_runs *runs, enum verdict_family family, struct effect *effect);

/* The share of wrong verdicts that all effects of a family may have together. */
double verdict_alpha_of_all(const struct verdict_runs *runs, enum verdict_family family);

/* The probability of a false change that one of the effects of a family may have. */
double verdict_alpha_of_one(const struct verdict_runs *runs, enum verdict_family family);

/* The same for many, after they were moderated and concluded together. Changes their variances, and sets what
 * effect_conclude() does. */
void verdict_judge_all(struct verdict_runs *runs, enum verdict_family family, struct effect **effects, size_t count);

/* Compares one thing of each op that is judged, and judges its effect. compare: returns that, NULL if there is nothing to
 * judge
 * Errors:  -ENOMEM */
int verdict_compare_each(struct verdict_runs *runs, enum verdict_family family,
                         struct effect *(*compare)(const struct verdict_runs *runs, struct verdict_op *op));

/* True if it was called often enough on both sides. */
bool verdict_op_is_judged(const struct verdict_op *op);

/* The ratio of a logarithm, within bounds. */
double verdict_ratio_of(double logarithm);

/* Sets the ratio and its interval from its effect. */
void verdict_ratio_conclude(struct verdict_ratio *ratio);

/* ---- Figures of ops: verdict_figures.c ---------------------------------------------------------- */

/* Reads an op's figures of all runs, and its means over the runs of each side. index: in the result */
void verdict_read_op(const struct verdict_runs *runs, size_t index);

/* Sets the effect on one figure of all ops, with and without the common factors; the latter is judged.
 * Errors:  -ENOMEM */
int verdict_compare_figure(struct verdict_runs *runs, enum verdict_figure figure);

/* Judges ops whose calls are too few for a t test, if their numbers are exact; call it after families were judged. */
void verdict_judge_rare_calls(struct verdict_runs *runs);

/* ---- All ops together: verdict.c ---------------------------------------------------------------- */

/* A latency of an op in each run, without the factors: in runs->scratch. */
const double *verdict_without_factors(const struct verdict_runs *runs, size_t op, enum verdict_figure figure);

/* Compares the share of slow calls of the ops that are judged; call it after figures were compared.
 * Errors:  -ENOMEM */
int verdict_compare_tails(struct verdict_runs *runs);

/* Finds the peaks of the ops that are judged, and compares them; call it after figures were compared.
 * Errors:  -ENOMEM */
int verdict_compare_peaks(struct verdict_runs *runs);

/* Fills in the failures of the ops that are judged, except for what effects_judge() sets. Errors: -ENOMEM */
int verdict_compare_failures(struct verdict_runs *runs);

/* Finds out whether failures that are new make the mean shorter; call it after the words were found:
 * - a larger share of the calls fails, and the mean is shorter;
 * - about as many more calls of a run are short as have failed more, and short is less than A's mean;
 * - neither the typical latency nor the mean of the other calls is surely or maybe shorter by as much as matters. */
void verdict_find_dilution(const struct verdict_runs *runs, struct verdict_op *op);

/* ---- Words: verdict_words.c --------------------------------------------------------------------- */

/* Sets an op's words, what made it a change, and how many more runs would decide. */
void verdict_find_word(const struct verdict_runs *runs, struct verdict_op *op);

/* The same for the common factor and for times. Call it first. */
void verdict_find_words_of_all(const struct verdict_runs *runs);

#endif
