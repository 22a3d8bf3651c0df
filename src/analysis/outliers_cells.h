/* Private: what is kept of the profiles that are compared with their peers. */
#ifndef OUTLIERS_CELLS_H
#define OUTLIERS_CELLS_H

#include "outliers.h"

#define LOG_2 0.69314718055994531

/* An operation of a profile. */
struct outliers_cell {
    uint32_t member;       /* index in the group */
    uint32_t tails;        /* where its part of the column's tails begins: calls from octave first_octave + i on, */
    uint8_t tail_count;    /* as many as this, then 0 */
    uint8_t first_octave;  /* of cycles */
    float log_centre;      /* typical logarithm of latency in seconds, estimated from the buckets, */
    float centre_variance; /* the square of its sampling error, */
    float centre_rounding; /* and of the error that the width of buckets causes */
    float log_mean;        /* natural logarithm of the mean latency in seconds */
    float variation;       /* square of the coefficient of variation of its latencies */
    double calls;          /* those that have ended */
};

/* An operation in all members of a group that have it. */
struct outliers_column {
    char op[AGGSTATS_NAME_SIZE];
    struct outliers_cell *cells; /* by member */
    size_t cell_count;
    size_t cell_capacity;
    float *tails;
    size_t tail_count;
    size_t tail_capacity;
};

/* A profile. */
struct outliers_member {
    char *name;
    double log_cycle; /* natural logarithm of a cycle in seconds */
};

/* Profiles that are peers. */
struct outliers_group {
    char *layer;
    char *value;
    struct outliers_column *columns;
    size_t column_count;
    struct outliers_member *members;
    size_t member_count;
    size_t member_capacity;
};

struct outliers {
    struct outliers_group *groups;
    size_t group_count;
    size_t group_capacity;
};

/* The share of a cell's calls that took longer than a time. The calls of a bucket are taken to be spread evenly over
 * the logarithm of latency. */
double outliers_share_beyond(const struct outliers_column *column, const struct outliers_cell *cell, double log_cycle,
                             double log_seconds);

/* ---- The spread of many values, robustly estimated; and how far from them is too far ------------ */

#define FALSE_SHARE 0.01 /* of what is reported, at most, if peers are normally distributed */

#define SPREAD_VALUES_MIN 5 /* of fewer, one that is odd makes half of the spread */
#define POOLED_FREEDOM 4.0  /* if deviations of operations differ by a factor of 1.5, it is worth so much */

/* The spread of values, below and above the median separately, since latencies have a tail on one side. */
struct outliers_spread {
    double median;
    double below; /* standard deviations */
    double above;
    double pooled;  /* standard deviation of all operations together; 0: not taken into account */
    double freedom; /* degrees of freedom of below and above, without pooled */
};

/* scratch: room for as many */
struct outliers_spread outliers_spread_of(const double *values, size_t count, double *scratch);

/* The spread for judging values[index]. If there are few values, the spread of the other values. */
struct outliers_spread outliers_spread_beside(const struct outliers_spread *spread, const double *values, size_t count,
                                              size_t index);

/* The standard deviation of values around the medians that were subtracted from them. Reorders the values. */
double outliers_pooled(double *rests, size_t count);

/* Degrees of freedom of distances. */
double outliers_freedom(const struct outliers_spread *spread);

/* The distance of a value from the median, in standard deviations. These consist of the spread of the peers, without
 * their typical sampling error, towards the pooled one, and of the value's own sampling error. */
double outliers_distance(double value, double variance, const struct outliers_spread *spread, double typical_variance,
                         double deviation_min);

/* The probability that chance makes such a distance. */
double outliers_chance(double distance, double freedom);

/* The distance that no more than FALSE_SHARE of so many trials exceed by chance. */
double outliers_distance_min(double freedom, double trials);

#endif
