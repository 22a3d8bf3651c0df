/* What has changed between two sets of runs: a word for each op, and effects with their intervals (effect.h).
 *
 * Latencies are compared without a common factor. That of a run is the median over ops of how far the logarithm of an
 * op's mean latency lies from its mean over all runs. A busier machine moves all ops together, and so does a change of
 * everything; that is judged once, as an effect of its own, and ops are judged by the rest. The factor is used if there
 * are five ops or more, and if it makes the runs of a side more alike.
 *
 * Sampling, intervals and joint profiles are not compared. */
#ifndef VERDICT_H
#define VERDICT_H

#include "effect.h"
#include "figures.h"
#include "peaks.h"

#define VERDICT_CALLS_MIN 10U     /* mean of a run: ops with fewer are not judged */
#define VERDICT_RUNS_MOST 1000U   /* no more runs are recommended */
#define VERDICT_AT_LEAST 0.10     /* default: smaller changes do not matter */
#define VERDICT_ALPHA 0.05        /* default: probability of any false change */
#define VERDICT_COMMON_OPS_MIN 5U /* needed for a common factor */

enum verdict_word {
    VERDICT_SLOWER, /* takes more time: by longer calls, or by more of them */
    VERDICT_FASTER,
    VERDICT_FAILS_MORE, /* a larger share of its calls fails, and nothing else is certain */
    VERDICT_FAILS_LESS,
    VERDICT_ONLY_A, /* no run of the other side calls it, each of this one does */
    VERDICT_ONLY_B,
    VERDICT_UNDECIDED,
    VERDICT_ALIKE,
    VERDICT_FEW, /* fewer than VERDICT_CALLS_MIN calls a run */
};

static inline bool verdict_is_change(enum verdict_word word) {
    return word <= VERDICT_ONLY_B;
}

/* Figures of an op in a run; the effect of each is the ratio of B to A. */
enum verdict_figure {
    VERDICT_MEAN, /* latency of a call that has ended */
    VERDICT_P50,
    VERDICT_P90,
    VERDICT_P99,
    VERDICT_CALLS,
    VERDICT_TOTAL, /* latency of all calls; not judged, since it is mean times calls */
    VERDICT_FIGURE_COUNT,
};

struct verdict_ratio {
    struct effect effect; /* of logarithms; of latencies without the common factor */
    double a;             /* the figure itself, geometric mean over the runs: cycles or calls */
    double b;
    double ratio; /* b over a, without the common factor */
    double low;   /* its interval */
    double high;
};

/* A range of latencies, the same on both sides: a peak of all runs together. */
struct verdict_peak {
    struct peak place;
    struct effect effect; /* of logits of its share of the calls */
    double a_share;       /* of the calls, mean over the runs */
    double b_share;
    double cost;     /* the change of the op's mean latency that it causes, as a fraction of A's */
    bool is_changed; /* its share has changed by as much as matters */
};

/* Calls that failed. */
struct verdict_failures {
    struct effect effect; /* of logits of their share of the calls; is_known: some failed, and it is judged */
    double a_share;       /* of the calls that have ended, mean over the runs */
    double b_share;
    bool is_changed; /* by as much as matters */
};

struct verdict_op {
    const char *name;
    enum verdict_word word;
    struct verdict_ratio ratios[VERDICT_FIGURE_COUNT];
    bool is_changed[VERDICT_FIGURE_COUNT]; /* which figures made it a change */
    struct verdict_failures failures;
    struct verdict_peak *peaks;
    size_t peak_count;
    double a_total_cycles; /* mean over the runs, including those without calls */
    double b_total_cycles;
    double a_calls; /* likewise */
    double b_calls;
    size_t more_runs; /* VERDICT_UNDECIDED: so many more on each side would decide; 0: very many */
    const struct aggstats_op_profile *a_sum; /* all runs of A; NULL: none has it. Owner: the result */
    const struct aggstats_op_profile *b_sum;
};

struct verdict_options {
    double at_least; /* smaller relative changes do not matter: 0.1 is a tenth */
    double alpha;    /* the probability of any false change */
};

struct verdict_result {
    struct verdict_options options;
    struct aggstats_profile a_sum; /* at one clock rate and resolution */
    struct aggstats_profile b_sum;
    size_t a_count; /* runs */
    size_t b_count;
    bool rescaled; /* clock rates were different: buckets are approximate */
    struct verdict_op *ops;
    size_t op_count; /* changes first, then by word; changes by how much their total has changed */
    size_t word_counts[VERDICT_FEW + 1];
    size_t tested_count; /* effects that were judged together */

    bool has_common; /* a common factor is used */
    struct verdict_ratio common;
    enum verdict_word common_word; /* slower, faster, undecided or alike */
    size_t common_more_runs;
    double common_spread; /* a run's factor differs from its side's by this ratio (standard deviation) */

    bool has_elapsed; /* the runs have elapsed times */
    struct verdict_ratio elapsed;

    bool has_trend; /* runs became slower, or faster, over time, by this ratio from one to the next */
    double trend;
};

/* Compares sets of runs. profiles: A's a_count first, then B's; each side at least one, together three.
 * Owner:   the caller finishes *ret_result, and does not move it; the profiles are changed: brought to one clock rate
 *          and resolution
 * Errors:  -EDOM some have a clock rate and others do not, -ERANGE no common rate fits, -EOVERFLOW a side's sum does
 *          not fit 64 bits, -ENOMEM; *ret_result untouched */
int verdict_compare(struct aggstats_profile *profiles, size_t a_count, size_t count,
                    const struct verdict_options *options, struct verdict_result *ret_result);

void verdict_finish(struct verdict_result *result);

/* Something has certainly changed: an op, or all of them together. */
bool verdict_has_change(const struct verdict_result *result);

/* ... and takes more time. */
bool verdict_has_slowdown(const struct verdict_result *result);

/* "slower", "only in B", as in JSON. */
const char *verdict_word_name(enum verdict_word word);

/* "mean", "p50". */
const char *verdict_figure_name(enum verdict_figure figure);

#endif
