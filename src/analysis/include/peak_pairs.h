/* Which peaks of two profiles correspond: phase two of a comparison (thesis §3.2.2). */
#ifndef PEAK_PAIRS_H
#define PEAK_PAIRS_H

#include "peaks.h"

#define PEAK_PAIRS_MAX (2 * PEAKS_MAX)

#define PEAK_PAIRS_MOVED_OCTAVES 0.5 /* a peak that moved less has stayed */
#define PEAK_PAIRS_APART_OCTAVES 3.0 /* peaks farther apart do not correspond */

enum peak_change {
    PEAK_STAYED,
    PEAK_MOVED,
    PEAK_APPEARED, /* only b has it */
    PEAK_VANISHED, /* only a has it */
};

struct peak_pair {
    enum peak_change change;
    struct peak a; /* 0 calls: none */
    struct peak b;
    double moved_octaves; /* from a to b: above 0 is slower. 0 unless both have calls */
};

/* Pairs the peaks of a and b, in order of latency, so that the sum of their distances is minimal; a distance of 3
 * octaves costs as much as one peak vanishing and another appearing. If a peak has no counterpart, but the other
 * histogram has at least half as large a share of its calls in that place, then it has not appeared: a valley was just
 * deep enough in one histogram and not in the other. Such a pair has stayed, and the calls in that place no longer
 * count for the neighbour that they were part of.
 * Shape:   ret_pairs[PEAK_PAIRS_MAX]
 * Returns how many pairs there are, in order of latency, a's if there is one */
size_t peak_pairs_match(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned resolution,
                        struct peak_pair *ret_pairs);

#endif
