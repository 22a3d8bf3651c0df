/* Peaks: the execution paths that a latency histogram shows (thesis §3.1). */
#ifndef PEAKS_H
#define PEAKS_H

#include <stddef.h>
#include <stdint.h>

/* A run of buckets around a local maximum, up to the valleys beside it. */
struct peak {
    unsigned first; /* bucket */
    unsigned last;
    unsigned mode; /* the bucket with most calls */
    uint64_t calls;
};

/* Finds the peaks of a histogram, in order; together they hold all calls. Two maxima are two peaks if a bucket between
 * them has less than a quarter of the calls of the lower one, which is two steps of a curve drawn by powers of two.
 * The lowest bucket between two peaks belongs to the second.
 * Shape:   ret_peaks[bucket_count]
 * Returns how many there are */
size_t peaks_find(const uint64_t *buckets, unsigned bucket_count, struct peak *ret_peaks);

#endif
