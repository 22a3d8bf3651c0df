/* Which of many profiles differ from their peers, and in what. Peers are profiles of one layer and, if wanted, of one
 * value of a label.
 *
 * For each operation of each profile a few numbers are kept: its calls, the logarithms of its mean and its typical
 * latency, how much its latencies vary, and its calls by octave; so memory does not depend on how large profiles are.
 * The number of calls of an operation is not compared. What all operations of a profile have in common, such as a busy
 * machine, is estimated, reported separately, and subtracted.
 *
 * Source:  J. W. Tukey, Exploratory Data Analysis (1977), chapter 11: median polish; P. J. Huber, Robust Estimation of
 *          a Location Parameter, Ann. Math. Statist. 35 (1964): typical latency; F. R. Hampel, The Influence Curve and
 *          its Role in Robust Estimation, JASA 69 (1974): median and MAD */
#ifndef OUTLIERS_H
#define OUTLIERS_H

#include "aggstats.h"

#define OUTLIERS_PROFILES_MIN 3 /* profiles that must have an operation for it to be judged */

enum outliers_kind {
    OUTLIERS_SLOWER,     /* the whole operation */
    OUTLIERS_FASTER,     /* likewise */
    OUTLIERS_SLOW_CALLS, /* more of its calls are slow */
    OUTLIERS_FAST_GONE,  /* its fast calls are missing */
};

/* An operation of a profile that differs from that of its peers. */
struct outlier {
    const char *profile; /* these four: borrowed from struct outliers */
    const char *layer;   /* "": unknown */
    const char *value;   /* of the label that peers share */
    const char *op;
    enum outliers_kind kind;
    double distance; /* from the median of its peers, in standard deviations */
    double chance;   /* probability of such a distance for an operation of a profile */
    uint64_t calls;
    size_t peer_count;
    bool is_typical;       /* factor and seconds are of the typical latency, which rare slow calls do not change */
    double factor;         /* its mean latency divided by theirs, without the common factor */
    double common_factor;  /* of all operations of the profile */
    double seconds;        /* mean latency */
    double peers_seconds;  /* median of theirs */
    double place_seconds;  /* set for the last two kinds: slow calls are above it, fast ones below; */
    double around_seconds; /* where most of these calls are, */
    double share;          /* their share of the calls, from 0 to 1, */
    double peers_share;    /* and the peers' share, median */
};

/* A profile in which all operations are slower, or faster, than in its peers: no outlier by itself. */
struct outliers_busy {
    const char *profile; /* borrowed */
    double common_factor;
};

struct outliers_result {
    struct outlier *found; /* the least probable first */
    size_t found_count;
    struct outliers_busy *busy; /* the largest factor first */
    size_t busy_count;
    size_t profile_count;
    size_t group_count;
    size_t judged_profile_count; /* profiles that have an operation with enough peers */
    uint64_t judged_count;       /* operations of profiles that were judged */
    double least_factor; /* smaller differences of a latency cannot be found in any operation, so few are the profiles,
                          * or so different; at least factor_min */
};

struct outliers; /* the profiles so far */

/* NULL: no memory */
struct outliers *outliers_create(void);
void outliers_destroy(struct outliers *outliers);

/* Adds a profile. value: of the label that peers share
 * Errors:  -EDOM its clock's rate is unknown, -E2BIG more different operations than a profile can have, -ENOMEM. After
 *          -ENOMEM only outliers_destroy() may be called */
int outliers_add(struct outliers *outliers, const char *name, const char *value,
                 const struct aggstats_profile *profile);

/* Judges the profiles that were added. factor_min: smaller differences do not matter; above 1
 * Owner:   the caller finishes *ret_result before outliers
 * Errors:  -ENOMEM; *ret_result untouched */
int outliers_find(const struct outliers *outliers, double factor_min, struct outliers_result *ret_result);
void outliers_result_finish(struct outliers_result *result);

#endif
