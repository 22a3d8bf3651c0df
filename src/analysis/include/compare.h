/* Comparing two complete profiles: which operations differ, and in what (thesis §3.2.2).
 *
 * There are three phases. Phase one compares the totals, and drops operations that do not matter or have hardly
 * changed. Phase two finds peaks that appeared, vanished or moved. Phase three rates the rest by one of the methods of
 * distance.h. An operation is different if its score is above the threshold, if its totals are far apart, or if a peak
 * that matters has changed. All thresholds are in one table (compare_defaults(), distance.c). They were chosen by
 * labelled runs (docs/internals/compare-accuracy.md), and a test holds them to these.
 *
 * Readers get three lists: what changed, what may be noise, and what is the same. An operation with a small part of the
 * latency may be among the changed ones, but makes no profile different. */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>

#include "distance.h"
#include "peaks.h"

#define COMPARE_SLOTS_MAX 12U

/* The thresholds; percentages from 0 to 100. */
struct compare_options {
    enum distance_method method;
    double threshold;       /* score above it: different */
    double similar_percent; /* phase one: number of calls and total latency differ by less than this */
    double share_percent;   /* phase one: less than this of its profile's latency, in both */
    double calls; /* phase one: fewer calls than this in both, and less than COMPARE_WEIGHTY_PERCENT of the latency */
    double apart_calls_percent;   /* phase one: numbers of calls differ by more than this */
    double apart_latency_percent; /* ... or total latencies: these also differ by noise */
    double peak_percent;          /* phase two: a peak with this share of its op's calls or of its latency matters */
    bool score_only;              /* totals and peaks are only reported, and do not make an op different */
};

#define COMPARE_WEIGHTY_PERCENT 10.0 /* of its profile's latency: examined however few calls it has */
#define COMPARE_PEAK_CALLS 0.015     /* of the op's calls: a peak with fewer may be noise */
#define COMPARE_DEAR_LATENCY 0.5     /* a new or lost peak with this share of its op's latency makes an op different */
#define COMPARE_MOVED_OCTAVES DISTANCE_NOISE_OCTAVES /* a peak that moved farther makes an op different */

/* The table of defaults. They are the same for all methods except the threshold. */
struct compare_options compare_defaults(enum distance_method method);

enum compare_verdict {
    COMPARE_ALIKE,   /* phases two and three found nothing */
    COMPARE_SIMILAR, /* phase one: calls and latency have hardly changed */
    COMPARE_CHEAP,   /* phase one: a small part of the latency */
    COMPARE_RARE,    /* phase one: few calls, with little latency */

    /* from here on: different */
    COMPARE_SCORE,     /* by the score, and maybe by more */
    COMPARE_TOTALS,    /* by the number of calls or the total latency, not by the score */
    COMPARE_PEAKS,     /* by the peaks alone */
    COMPARE_ONE_SIDED, /* only one profile has ended calls */
};

static inline bool compare_is_different(enum compare_verdict verdict) {
    return verdict >= COMPARE_SCORE;
}

/* For readers. */
enum compare_list {
    COMPARE_CHANGED,     /* different; or with a small part of the latency, and different by the same rules else */
    COMPARE_MAYBE_NOISE, /* not different, but calls or latency have changed */
    COMPARE_SAME,        /* calls and latency have hardly changed */
};

/* A part of the duration of two sampled profiles: the calls that ended in it; intervals across a border in
 * proportion. */
struct compare_slot {
    double a_calls;
    double b_calls;
    double a_latency_cycles; /* estimated from the buckets */
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
    enum compare_list list;
    double mean_ratio;  /* latency of a call, B over A; 0: one has no calls that have ended */
    double calls_ratio; /* 0: likewise */
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
    double allowance_buckets; /* of EARTHMOVER, added to the threshold: rescaling alone may move this much */
    struct compare_op *ops;
    size_t op_count;
    size_t different_count;               /* they come first, ordered by the change of total latency, largest first */
    size_t list_counts[COMPARE_SAME + 1]; /* ops of each list; changed ops that are not different follow the others */
    bool is_identical;                    /* all calls of all ops are in the same buckets, with the same totals */
    size_t slot_count;                    /* 0: not both are sampled */
    double slot_cycles;
    struct aggstats_op_profile absent; /* stands for an op that a or b lacks */
};

/* Makes a profile comparable with others: rescales the profile to the clock rate, and coarsens it to the resolution.
 * Rates that differ by up to a thousandth count as equal: they are two measurements of one rate.
 * is_rescaled: set to true if the profile was rescaled; its buckets are approximate then
 * Errors:  -EDOM its rate is unknown, -EOVERFLOW its latencies do not fit, -ENOMEM; *profile untouched. -EINVAL it has
 *          a coarser resolution */
int compare_bring_to(struct aggstats_profile *profile, uint64_t rate_hz, unsigned resolution, bool *is_rescaled);

/* Compares b with a.
 * Owner:   the caller finishes *ret_result with compare_finish(), and does not move it; a and b are copied
 * Errors:  -EDOM one has a clock rate and the other does not, though both have calls, -EOVERFLOW no common clock rate
 *          fits both, -ENOMEM; *ret_result untouched */
int compare_profiles(const struct aggstats_profile *a, const struct aggstats_profile *b,
                     const struct compare_options *options, struct compare_result *ret_result);

void compare_finish(struct compare_result *result);

/* True if a pair of an op's peaks makes it different. */
bool compare_peak_matters(const struct compare_result *result, const struct compare_op *op,
                          const struct peak_pair *pair);

#endif
