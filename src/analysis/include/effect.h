/* An effect: by how much a figure differs between two sets of runs, and how sure that is.
 *
 * The unit is a run. Calls within a run share its noise, so their number says nothing of how much a figure may vary;
 * the spread between the runs of a side does. The model is a two-sample t test with one variance for both sides, on
 * values that add up: logarithms of latencies and counts, logits of shares.
 * Source:  Student's t test; variances moderated after G. K. Smyth, Linear models and empirical Bayes methods, Stat.
 *          Appl. Genet. Mol. Biol. 3(1), 2004, section 6; S. Holm, A simple sequentially rejective multiple test
 *          procedure, Scand. J. Stat. 6, 1979 */
#ifndef EFFECT_H
#define EFFECT_H

#include <stdbool.h>
#include <stddef.h>

#define EFFECT_CONFIDENCE 0.95 /* of intervals, each for itself */

struct effect {
    bool is_known;     /* both sides have values, and together three of them */
    size_t a_count;    /* values */
    size_t b_count;    /* the same */
    double a;          /* mean of A's values */
    double b;          /* the same of B's */
    double difference; /* b - a */
    double variance;   /* of a value, within its side */
    double freedom;    /* degrees of freedom of the variance; more after effects_moderate() */
    double shared;     /* variance of the difference that is in all runs of a side alike: more runs do not lessen it */
    double tolerance;  /* what the difference may be wrong by in all runs alike, as values read from buckets are */
    double low;        /* the interval of the difference */
    double high;
    double p;       /* so large a difference, or a larger one, comes by chance and tolerance with this probability */
    bool is_beyond; /* by effects_judge(): not by chance */
};

/* values: A's a_count first, then B's; NAN is none. low to p are left to effect_conclude(), what is shared and the
 * tolerance to the caller. */
struct effect effect_of(const double *values, size_t a_count, size_t count);

/* Draws the variances of one kind of figure, of several ops, together: each counts as much for an op as it varies among
 * them, and at most as much as its own. With three runs on a side a variance of one's own is hardly known. */
void effects_moderate(struct effect *const *effects, size_t count);

/* Fills low, high and p. */
void effect_conclude(struct effect *effect);

/* Of all effects asked about, tells which are not by chance: that any is told wrongly has at most the probability alpha
 * (Holm). Sorts effects. */
void effects_judge(struct effect **effects, size_t count, double alpha);

/* How many runs a side would decide whether the difference is beyond or within `bound`, if it and the variance are what
 * they seem. alpha: of the test. Returns 0 if more than `most` */
size_t effect_runs_needed(const struct effect *effect, double bound, double alpha, size_t most);

/* Whether the slope of a line is not by chance. variance: of the slope */
bool effect_line_is_sure(double slope, double variance, double freedom, double alpha);

#endif
