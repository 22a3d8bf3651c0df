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

#endif
