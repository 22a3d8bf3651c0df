/* Comparing two complete profiles: which operations differ, and in what (thesis §3.2.2).
 *
 * In three phases. One looks at the totals, and leaves out operations that do not matter or have hardly changed. Two
 * looks at which peaks appeared, vanished or moved. Three rates what is left by one of the methods of distance.h. An
 * operation is different if its score is above the threshold, if its totals are far apart, or if a peak that matters is
 * another. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>

#include "distance.h"
#include "peak_pairs.h"

#define COMPARE_SLOTS_MAX 12U

/* The thresholds; percentages from 0 to 100. */
struct compare_options {
    enum distance_method method;
    double threshold;       /* score above it: different */
    double similar_percent; /* phase one: number of calls and total latency differ by less than this */
    double share_percent;   /* phase one: less than this of its profile's latency, in both */
    double calls; /* phase one: fewer calls than this in both, and no COMPARE_WEIGHTY_PERCENT of the latency */
    double apart_calls_percent;   /* phase one: numbers of calls differ by more than this */
    double apart_latency_percent; /* ... or total latencies: those differ by noise, too */
    double peak_percent;          /* phase two: a peak matters with this share of its op's calls or of its latency */
    bool score_only;              /* totals and peaks are only told of, and do not make an op different */
};

#define COMPARE_WEIGHTY_PERCENT 10.0 /* of its profile's latency: to be looked at however few calls it is */
#define COMPARE_PEAK_CALLS 0.015     /* of the op's calls: a peak of fewer may be noise */
#define COMPARE_DEAR_LATENCY 0.5     /* a new or lost peak with this share of its op's latency makes an op different */
#define COMPARE_MOVED_OCTAVES DISTANCE_NOISE_OCTAVES /* a peak that moved farther makes an op different */

/* The table of defaults. They hold for all methods but for the threshold, which is the method's. */
struct compare_options compare_defaults(enum distance_method method);

enum compare_verdict {
    COMPARE_ALIKE,   /* phases two and three found nothing */
    COMPARE_SIMILAR, /* phase one: calls and latency have hardly changed */
    COMPARE_CHEAP,   /* phase one: a small part of the latency */
    COMPARE_RARE,    /* phase one: few calls, of not much latency */

    /* from here on: different */
    COMPARE_SCORE,     /* by the score, and maybe by more */
    COMPARE_TOTALS,    /* by the number of calls or the total latency, not by the score */
    COMPARE_PEAKS,     /* by the peaks alone */
    COMPARE_ONE_SIDED, /* only one of them has calls that have ended */
};

static inline bool compare_is_different(enum compare_verdict verdict) {
    return verdict >= COMPARE_SCORE;
}

/* A part of the time that two sampled profiles took: what ended in it, intervals across a border in proportion. */
struct compare_slot {
    double a_calls;
    double b_calls;
    double a_latency_cycles; /* as the buckets estimate it */
    double b_latency_cycles;
    double score; /* EARTHMOVER: 0 where neither has calls, 64 where only one has */
};

struct compare_op {
    const char *name;
    const struct aggstats_op_profile *a; /* never NULL: an op that a profile lacks has no calls */
    const struct aggstats_op_profile *b;
    uint64_t a_finished; /* calls in its buckets: all but those in flight */
    uint64_t b_finished;
    enum compare_verdict verdict;
    double scores[DISTANCE_METHOD_COUNT];
    struct peak_pair *peaks;
    size_t peak_count;
    struct compare_slot *slots; /* [slot_count of the result] */
};

struct compare_result {
    struct compare_options options;
    struct aggstats_profile a; /* the two, at one clock rate and resolution */
    struct aggstats_profile b;
    bool rescaled;            /* their clock rates were different: buckets of one are approximate */
    double allowance_buckets; /* of EARTHMOVER, above the threshold: what rescaling alone may move */
    struct compare_op *ops;
    size_t op_count;
    size_t different_count; /* they come first, those whose total latency changed most before others */
    size_t slot_count;      /* 0: not both are sampled */
    double slot_cycles;
    struct aggstats_op_profile absent; /* of ops that one lacks */
};

/* Makes a profile comparable with others: rescales it to their clock rate, unless it has that one already (by a
 * thousandth: one rate, measured twice), and coarsens it to their resolution.
 * is_rescaled: set to true if that makes buckets approximate
 * Errors:  -EDOM its rate is not known, -EOVERFLOW its latencies do not fit, -ENOMEM; *profile untouched
 *          -EINVAL it has a coarser resolution */
int compare_bring_to(struct aggstats_profile *profile, uint64_t rate_hz, unsigned resolution, bool *is_rescaled);

/* Compares b with a.
 * Owner:   the caller finishes *ret_result with compare_finish(), and does not move it; a and b are copied
 * Errors:  -EDOM one tells its clock's rate and the other does not, though both have calls, -EOVERFLOW no common clock
 *          rate fits both, -ENOMEM; *ret_result untouched */
int compare_profiles(const struct aggstats_profile *a, const struct aggstats_profile *b,
                     const struct compare_options *options, struct compare_result *ret_result);

void compare_finish(struct compare_result *result);

/* Whether a pair of an op makes it different. */
bool compare_peak_matters(const struct compare_result *result, const struct compare_op *op,
                          const struct peak_pair *pair);

#endif
