/* What has changed between two sets of runs: a word for each op, and effects with their intervals (effect.h).
 *
 * A difference is a change if it is not by chance, and surely larger than the bound of what matters: the end of its
 * interval nearer to 0 must exceed the bound. If the interval contains the bound, the effect is undecided.
 *
 * A ratio is that of the figures as they are. A latency has a second one, its own change: what is left of it without
 * the common factor of each run. That is the median over ops of how far the logarithm of an op's usual latency lies from
 * its mean over all runs. A busier machine moves all ops together, and so does a change of everything; that is judged
 * once, as an effect of its own. The own change decides whether an op has changed, since it is known better; if the
 * plain ratio alone does not prove it, the word says that the op changed against the rest.
 * The factor is used if there are VERDICT_COMMON_OPS_MIN ops or more, and if effects are more exact so, including the
 * error of the factor itself, which is large where ops change by different factors. With fewer ops the median follows
 * the two or three that one change of the workload moves together, and then it is no property of the machine.
 *
 * Sampling, intervals and joint profiles are not compared. */
#ifndef VERDICT_H
#define VERDICT_H

#include "effect.h"
#include "figures.h"
#include "peaks.h"

#define VERDICT_CALLS_MIN 10U     /* mean of a run: of ops with fewer, only exact numbers of calls are judged */
#define VERDICT_RUNS_MOST 1000U   /* no more runs are recommended */
#define VERDICT_AT_LEAST 0.10     /* default: smaller changes do not matter */
#define VERDICT_ALPHA 0.05        /* default: probability of any false change */
#define VERDICT_TAIL_TIMES 16.0   /* so many times the usual latency make a call slow */
#define VERDICT_COMMON_OPS_MIN 8U /* needed for a common factor */

enum verdict_word {
    VERDICT_SLOWER, /* calls usually take longer */
    VERDICT_FASTER,
    VERDICT_SOME_SLOWER, /* the usual latency is not surely longer; but more calls are slow, or the mean is longer */
    VERDICT_SOME_FASTER,
    VERDICT_SLOWER_THAN_REST, /* ... compared with all ops of the same runs; the plain figures do not prove it */
    VERDICT_FASTER_THAN_REST,
    VERDICT_MORE_CALLS, /* ... and no change of latency is certain */
    VERDICT_FEWER_CALLS,
    VERDICT_FAILS_MORE, /* a larger share of its calls fails, and nothing else is certain */
    VERDICT_FAILS_LESS,
    VERDICT_ONLY_A, /* no run of the other side calls it, each of this one does: often, or equally often */
    VERDICT_ONLY_B,
    VERDICT_UNDECIDED,
    VERDICT_ALIKE,
    VERDICT_AS_REST, /* its own change is none, but all ops together may have changed */
    VERDICT_FEW,     /* fewer than VERDICT_CALLS_MIN calls a run, and their number is no other in all runs of a side */
    VERDICT_WORDS_OF_OPS,

    /* Of all ops together, and of elapsed times. */
    VERDICT_MORE_TIME = VERDICT_WORDS_OF_OPS,
    VERDICT_LESS_TIME,
};

static inline bool verdict_is_change(enum verdict_word word) {
    return word <= VERDICT_ONLY_B;
}

/* Figures of an op in a run; the effect of each is the ratio of B to A. */
enum verdict_figure {
    VERDICT_USUAL, /* latency that rare slow calls do not move (usual.h): decides slower and faster */
    VERDICT_MEAN,  /* latency of a call that has ended */
    VERDICT_P50,
    VERDICT_P90,
    VERDICT_P99,
    VERDICT_CALLS,
    VERDICT_TOTAL, /* latency of all calls; not judged, since it is mean times calls */
    VERDICT_FIGURE_COUNT,

    /* What else may decide. */
    VERDICT_BY_PEAK = VERDICT_FIGURE_COUNT,
    VERDICT_BY_TAIL,
};

struct verdict_ratio {
    struct effect effect; /* of logarithms */
    double a; /* the figure itself, geometric mean over the runs: cycles or calls; 0: it is 0 in all of them */
    double b;
    double ratio; /* b over a; a figure of 0 counts as half a call, or as half a cycle of all calls together */
    double low;   /* its interval */
    double high;
};

/* False if a side is 0: then the ratio says in which direction the figure changed, and not how much. */
static inline bool verdict_has_ratio(const struct verdict_ratio *ratio) {
    return ratio->effect.is_known && ratio->a > 0 && ratio->b > 0;
}

/* A ratio and its word. */
struct verdict_change {
    bool is_there; /* all runs have the figure */
    struct verdict_ratio ratio;
    enum verdict_word word;
    size_t more_runs; /* VERDICT_UNDECIDED: so many more on each side would decide; 0: very many */
};

/* A range of latencies, the same on both sides: a peak of all runs together. */
struct verdict_peak {
    struct peak place;
    struct effect effect; /* of logits of its share of the calls */
    double a_share;       /* of the calls, mean over the runs */
    double b_share;
    double cost_of_all; /* if all of A's calls were in it, as a fraction of A's mean latency */
    double cost;        /* the change of the op's mean latency that it causes, likewise */
    double sure_cost;   /* so much of it is sure */
    bool is_changed;    /* its share has changed by as much as matters */
};

/* Slow calls: those that take about VERDICT_TAIL_TIMES the usual latency of the slower side, or more. */
struct verdict_tail {
    struct effect effect; /* of the arcsines of the roots of their share of the calls; is_known: it is judged */
    unsigned first;       /* bucket of slow calls */
    double a_share;       /* of the calls that have ended, mean over the runs */
    double b_share;
    double times;     /* how many times A's usual latency slow calls take, in the middle, on the side that has more */
    double cost;      /* the change of the op's mean latency that they cause, as a fraction of A's */
    double sure_cost; /* so much of it is sure */
    bool is_changed;  /* their share has changed by as much as matters */
};

/* Calls that failed. */
struct verdict_failures {
    struct effect effect; /* of logits of their share of the calls; is_known: some failed, and it is judged */
    double a_share;       /* of the calls that have ended, mean over the runs */
    double b_share;
    double sure_times; /* the larger share is surely so many times the smaller; 1: nothing is sure */
    bool is_changed;   /* by as much as matters */
};

/* Short calls that make the mean shorter although no call has become faster, as many as failures that are new: cheap
 * failures, as far as a histogram can show that. Numbers are of a run, in B more than in A. */
struct verdict_dilution {
    bool is_there;
    double failed;      /* calls that failed */
    double short_calls; /* calls shorter than the next */
    double most_cycles; /* at most A's mean */
};

struct verdict_op {
    const char *name;
    enum verdict_word word;
    enum verdict_word calls_word; /* more calls, fewer calls, alike or undecided; few: not judged */
    bool has_exact_calls;         /* it is called rarely, equally often in all runs of a side, and not in the other's */
    struct verdict_ratio ratios[VERDICT_FIGURE_COUNT];
    struct verdict_ratio own[VERDICT_FIGURE_COUNT]; /* without the common factor of each run; a, b: as they are. These
                                                     * are judged */
    bool is_changed[VERDICT_FIGURE_COUNT];          /* the figures that have changed */
    enum verdict_figure decided_by; /* the figure that decided on a change; VERDICT_UNDECIDED: that did not decide */
    struct verdict_tail tail;
    struct verdict_failures failures;
    struct verdict_dilution dilution;
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
    size_t word_counts[VERDICT_WORDS_OF_OPS];
    size_t calls_counts[VERDICT_WORDS_OF_OPS]; /* of calls_word */
    size_t tested_count;                       /* effects that were judged together */

    struct verdict_change common; /* slower, faster, undecided or alike; not there: no common factor is used */
    double common_spread;         /* a run's factor differs from its side's by this ratio (standard deviation) */

    struct verdict_change total;   /* latency of all calls of a run: more time, less time, undecided or alike */
    struct verdict_change elapsed; /* likewise */

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

/* Questions about a result; bits. */
enum verdict_question {
    VERDICT_ON_CHANGE = 1 << 0, /* an op has changed, or all of them together */
    VERDICT_ON_SLOWER =
        1 << 1, /* an op, or some of its calls, or all together; slower than the rest: its mean must have grown */
    VERDICT_ON_CALLS = 1 << 2,   /* an op has more calls, or only B has it */
    VERDICT_ON_TOTAL = 1 << 3,   /* the calls of a run take more time */
    VERDICT_ON_ELAPSED = 1 << 4, /* a run takes more time */
};

/* True if the answer to one of the questions is: yes, certainly. */
bool verdict_is_so(const struct verdict_result *result, unsigned questions);

/* "slower", "only in B", as in JSON. */
const char *verdict_word_name(enum verdict_word word);

/* "mean", "p50". */
const char *verdict_figure_name(enum verdict_figure figure);

#endif
