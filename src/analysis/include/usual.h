/* The usual latency of an op: a figure that rare slow calls do not move. It is Huber's location of the logarithm of
 * latency: the mean in which a call counts for at most USUAL_CLIP_OCTAVES more, or less, than the result, and where
 * calls lie farther from their mean on average, for at most that. So one slow call of a hundred moves it by 1.1 % at
 * most, however long it takes, while two peaks of the same size have it between them, whichever of them has a call more.
 *
 * Calls are taken to lie in the middle of their bucket. Where they are spread over some buckets, the errors of that
 * cancel; calls in a bucket with nearly empty neighbours may lie anywhere in it.
 * Source:  P. J. Huber, Robust Estimation of a Location Parameter, Ann. Math. Statist. 35 (1964) */
#ifndef USUAL_H
#define USUAL_H

#include "aggstats.h"

#define USUAL_CLIP_OCTAVES 1.5

struct usual {
    double log2_cycles;
    double variance; /* the square of its sampling error, in octaves */
    double isolated; /* share of the calls in buckets with nearly empty neighbours */
};

/* All members are 0 if no call has ended. */
struct usual usual_of(const struct aggstats_op_profile *op, unsigned resolution);

/* The same, more exact: the op's total, which is exact, says where in their buckets calls lie, as far as few slow calls
 * do not hide it. isolated is less by as much. */
struct usual usual_by_total(const struct aggstats_op_profile *op, unsigned resolution);

#endif
