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

#endif
