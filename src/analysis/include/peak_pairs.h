/* Which peak of one profile is which peak of another: phase two of a comparison (thesis §3.2.2). */
#ifndef PEAK_PAIRS_H
#define PEAK_PAIRS_H

#include "peaks.h"

#define PEAK_PAIRS_MAX (2 * PEAKS_MAX)

#define PEAK_PAIRS_MOVED_OCTAVES 0.5 /* nearer than this a peak has stayed */
#define PEAK_PAIRS_APART_OCTAVES 3.0 /* farther than this it is another one */

enum peak_change {
    PEAK_STAYED,
    PEAK_MOVED,
    PEAK_APPEARED, /* only b has it */
    PEAK_VANISHED, /* only a has it */
};

struct peak_pair {
    enum peak_change change;
    struct peak a; /* calls 0: none */
    struct peak b;
    double moved_octaves; /* from a to b: above 0 is slower. 0 unless both have calls */
};

/* Pairs the peaks of a and b, in order of latency, so that the sum of their ways is least; a way of 3 octaves is as
 * long as one peak vanishing and another appearing. A peak for which the other has none, but in its place at least half
 * as large a share of its calls, has not appeared: that is a matter of a valley just deep enough here and not there.
 * Such a pair has stayed, and what the other has in that place no longer counts for the neighbour it was part of.
 * Shape:   ret_pairs[PEAK_PAIRS_MAX]
 * Returns how many pairs there are, in order of latency, a's where it has one */
size_t peak_pairs_match(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned resolution,
                        struct peak_pair *ret_pairs);

#endif
