/* Which of many profiles are unlike their peers, and in what: profiles of one layer and, if wanted, of one value of a
 * label.
 *
 * Of each operation of each profile a few numbers are kept: its calls, the logarithms of its mean and its typical
 * latency, how much its latencies vary, and its calls by octave; so memory does not depend on how large profiles are.
 * How often an operation was called does not count. Nor does what all operations of a profile have in common, such as a
 * busy machine: it is estimated, told apart, and taken out.
 *
 * Source: J. W. Tukey, Exploratory Data Analysis (1977), chapter 11: median polish;
 *         P. J. Huber, Robust Estimation of a Location Parameter, Ann. Math. Statist. 35 (1964): typical latency;
 *         F. R. Hampel, The Influence Curve and its Role in Robust Estimation, JASA 69 (1974): median and MAD */
#ifndef OUTLIERS_H
#define OUTLIERS_H

#include "aggstats.h"

#define OUTLIERS_PROFILES_MIN 5 /* that have an operation, before it is judged */

enum outliers_kind {
    OUTLIERS_SLOWER,     /* the whole operation */
    OUTLIERS_FASTER,     /* the same */
    OUTLIERS_SLOW_CALLS, /* more of its calls are slow */
    OUTLIERS_FAST_GONE,  /* its fast calls are missing */
};

/* An operation of a profile that is unlike that of its peers. */
struct outlier {
    const char *profile; /* these four: borrowed from struct outliers */
    const char *layer;   /* "": not told */
    const char *value;   /* of the label that peers have in common */
    const char *op;
    enum outliers_kind kind;
    double distance; /* from the median of its peers, in standard deviations */
    double chance;   /* that an operation of a profile has a distance as large */
    uint64_t calls;
    size_t peer_count;
    bool is_typical;       /* factor and seconds are of the typical latency, which rare slow calls do not move */
    double factor;         /* by which its mean latency is above theirs, beside the common factor */
    double common_factor;  /* of all operations of the profile */
    double seconds;        /* mean latency */
    double peers_seconds;  /* median of theirs */
    double place_seconds;  /* meaningful for the last two kinds: what is slow is beyond it, what is fast below; */
    double around_seconds; /* where most of it lies, */
    double share;          /* how many of the calls that is, from 0 to 1, */
    double peers_share;    /* and of those of the peers, median */
};

/* A profile all of whose operations are slower, or faster, than those of its peers: no outlier by itself. */
struct outliers_busy {
    const char *profile; /* borrowed */
    double common_factor;
};

struct outliers_result {
    struct outlier *found; /* the least likely first */
    size_t found_count;
    struct outliers_busy *busy; /* the largest factor first */
    size_t busy_count;
    size_t profile_count;
    size_t group_count;
    size_t judged_profile_count; /* that have an operation with enough peers */
    uint64_t judged_count;       /* operations of profiles that were judged */
};

struct outliers; /* the profiles so far */

/* NULL: no memory */
struct outliers *outliers_create(void);
void outliers_destroy(struct outliers *outliers);

/* Adds a profile. value: of the label that peers have in common
 * Errors:  -EDOM its clock's rate is not known, -E2BIG more different operations than a profile can have, -ENOMEM.
 *          After -ENOMEM outliers is fit for outliers_destroy() only */
int outliers_add(struct outliers *outliers, const char *name, const char *value,
                 const struct aggstats_profile *profile);

/* Judges the profiles that were added. factor_min: below which a difference does not matter, above 1
 * Owner:   the caller finishes *ret_result before outliers
 * Errors:  -ENOMEM; *ret_result untouched */
int outliers_find(const struct outliers *outliers, double factor_min, struct outliers_result *ret_result);
void outliers_result_finish(struct outliers_result *result);

#endif
