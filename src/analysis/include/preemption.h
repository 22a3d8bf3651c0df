/* How many calls were preempted by the scheduler, and in which buckets they are (thesis §3.3.1).
 *
 * A thread that uses the CPU without waiting is preempted after each quantum Q of CPU time. The probability that this
 * happens in a given call is t_cpu / Q, where t_cpu is the CPU time of the call; less if threads sometimes wait, of
 * their own accord, before Q is over. A preempted call takes (P - 1) Q longer if P threads take turns on its CPU. */
#ifndef PREEMPTION_H
#define PREEMPTION_H

#include "aggstats.h"

struct preemption_terms {
    double quantum_cycles; /* Q */
    unsigned threads;      /* P, at least 2 */
    double yield;          /* Y: the share of calls in which the thread waits; 0: unknown, or never */
    double period_cycles;  /* t_period: CPU time from one call of the thread to the next; unused if Y is 0 */
};

/* The probability that a call which uses the CPU for that long is preempted: t_cpu / Q * (1 - Y)^(Q / t_period).
 * Source:  thesis eq. 3.5 (differs: Q in place of t_period in the first factor. The thesis gives the probability of one
 *          quantum that was not given up, of which there is one in Q / t_period calls; with Y = 0 it has t_cpu / Q as
 *          well) */
double preemption_probability(const struct preemption_terms *terms, double cpu_cycles);

/* A number of calls, and the range it may lie in because a latency is known only by its bucket. */
struct preemption_calls {
    double lower;
    double expected;
    double upper;
};

struct preemption_estimate {
    struct preemption_calls calls;         /* in all */
    double arriving[AGGSTATS_BUCKETS_MAX]; /* the expected preempted calls in each bucket */
};

/* What one op's calls lose to preemption, and in which buckets. The CPU time of a bucket's calls is its mean latency,
 * or that of the joint profile of the op with the CPU time. Buckets whose mean is Q or more lose none: their calls have
 * waited, or were preempted themselves.
 * Source:  thesis eq. 3.6, of which these are the second and third terms */
void preemption_estimate(const struct preemption_terms *terms, const struct aggstats_profile *profile,
                         const struct aggstats_op_profile *op, struct preemption_estimate *ret_estimate);

/* The terms for a profile. Y is the share of calls that are known, by joint profiles with the number of waits, to have
 * waited: a lower bound. t_period is the time from one call to the next in the whole profile, as if one CPU had made
 *   them all; without an elapsed time Y is not used. So both err towards more preemption. */
struct preemption_terms preemption_terms_of(const struct aggstats_profile *profile, double quantum_cycles,
                                            unsigned threads);

#endif
