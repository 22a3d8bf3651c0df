/* An effect: by how much a figure differs between two sets of runs, and how certain that is.
 *
 * The unit is a run. Calls within a run share its noise, so their number says nothing about how much a figure may vary;
 * the spread between the runs of a side does. The model is a two-sample t test with one variance for both sides, on
 * values that add up: logarithms of latencies and counts, logits of shares.
 * Source:  Student's t test; variances moderated after G. K. Smyth, Linear models and empirical Bayes methods, Stat.
 *          Appl. Genet. Mol. Biol. 3(1), 2004, section 6; S. Holm, A simple sequentially rejective multiple test
 *          procedure, Scand. J. Stat. 6, 1979 */
#ifndef EFFECT_H
#define EFFECT_H

#include <stdbool.h>
#include <stddef.h>

#define EFFECT_CONFIDENCE 0.95 /* of intervals, each by itself */

struct effect {
    bool is_known;     /* both sides have values, and together at least three */
    size_t a_count;    /* number of A's values */
    size_t b_count;    /* number of B's */
    double a;          /* mean of A's values */
    double b;          /* mean of B's */
    double difference; /* b - a */
    double variance;   /* of a value, within its side */
    double freedom;    /* degrees of freedom of the variance; more after effects_moderate() */
    double shared;     /* variance of the part of the difference that all runs of a side share */
    double tolerance;  /* possible error of the difference that all runs share, as of values read from buckets */
    double low;        /* the interval of the difference */
    double high;
    double p;       /* probability that chance and tolerance cause a difference at least as large */
    bool is_beyond; /* set by effects_judge(): not by chance */
};

/* values: A's a_count first, then B's; NAN: no value. Members from low to p are set by effect_conclude(), shared and
 * tolerance by the caller. */
struct effect effect_of(const double *values, size_t a_count, size_t count);

/* Moves the variances of one kind of figure, of several ops, towards each other: the less they differ among ops, the
 * more weight their common value gets. With three runs on a side an op's own variance is hardly known. */
void effects_moderate(struct effect *const *effects, size_t count);

/* Sets low, high and p. */
void effect_conclude(struct effect *effect);

/* The end of the interval that is nearer to 0: the difference is surely as large, in this direction. 0: the interval holds
 * 0, or nothing is known. */
double effect_sure_difference(const struct effect *effect);

/* Marks the effects that are not by chance. The probability that any is marked wrongly is at most alpha (Holm). Sorts
 * effects. */
void effects_judge(struct effect **effects, size_t count, double alpha);

/* The number of runs a side that would decide whether the difference is surely beyond or within `bound`, if difference
 * and variance are as estimated. alpha: of the test. Returns 0 if more than `most` */
size_t effect_runs_needed(const struct effect *effect, double bound, double alpha, size_t most);

/* True if the slope of a line is not by chance. variance: of the slope */
bool effect_line_is_sure(double slope, double variance, double freedom, double alpha);

#endif
