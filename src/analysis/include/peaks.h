/* Peaks: the execution paths that a latency histogram shows (thesis §3.1). */
#ifndef PEAKS_H
#define PEAKS_H

#include <stddef.h>

#include "aggstats.h"

#define PEAKS_MAX 64U /* two peaks are more than an octave apart */

/* A range of buckets around a local maximum, up to the valleys beside it. */
struct peak {
    unsigned first; /* bucket, not empty */
    unsigned last;  /* likewise */
    unsigned mode;  /* the bucket with most calls */
    uint64_t calls;
    double mode_cycles;   /* middle of that bucket */
    double p50_cycles;    /* half of its calls took at most this long; of two the shorter */
    double centre;        /* the mean of log2(latency in cycles), that is, in buckets at resolution 1: for pairing */
    double latency_share; /* of the op's latency, from 0 to 1, estimated from the middles of the buckets */
};

/* Finds the peaks of an op's histogram, from left to right; together they hold all finished calls. Two maxima are two
 * peaks if an octave in the valley between them holds less than a quarter of the calls that the fullest octave of the
 * lower one holds, and if that is not by chance. The test for chance: if the lower one were only the tail of the other,
 * the valley would have to hold as many calls per octave; finding so few must have a probability of less than one in a
 * thousand (with r buckets per octave, which show r times as many valleys, one in 1000 r). Since whole octaves are
 * compared, noise between fine buckets makes no peaks, and a profile has about the same peaks at any resolution. Half
 * of the valley's octave belongs to either side; at resolution 1 it belongs to the right one.
 * Shape:   ret_peaks[PEAKS_MAX]
 * Returns how many there are; 0 if no call has ended
 * Source:  thesis §3.2.2, §5.7.2 (differ: "derivatives", without a measure for noise) */
size_t peaks_find(const struct aggstats_op_profile *op, unsigned resolution, struct peak *ret_peaks);

/* The contents of the buckets [first, end), described as a peak; 0 calls: empty. */
struct peak peaks_between(const struct aggstats_op_profile *op, unsigned resolution, unsigned first, unsigned end);

/* ---- Peaks of two histograms, paired ------------------------------------------------------------ */

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
