/* Private: the longest call of an op. */
#ifndef LONGEST_H
#define LONGEST_H

#include <stdbool.h>

#include "aggstats.h"

/* 0: unknown. Part of the live file: change AGGSTATS_LIVE_VERSION with it. */
struct longest {
    uint64_t cycles;
    uint64_t object;
};

static inline const uint64_t *aggstats_beside_const(const struct aggstats_counters *counters, unsigned resolution) {
    return &counters->buckets[64 * (size_t)resolution];
}

/* Reads the longest call from counters that another thread may be writing. object: 0 if it does not match the cycles */
struct longest longest_read(const struct aggstats_counters *counters, unsigned resolution);

/* The same, and resets the longest call of the counters. */
struct longest longest_take(struct aggstats_counters *counters, unsigned resolution);

/* Reads and writes the longest call of counters that no other thread writes. */
struct longest longest_get(const struct aggstats_counters *counters, unsigned resolution);
void longest_put(struct aggstats_counters *counters, unsigned resolution, struct longest longest);

/* Sets *longest to `other`, if `other` is longer. */
void longest_raise(struct longest *longest, struct longest other);

/* True if longest_cycles lies in the last bucket that has calls. buckets: in memory order */
bool longest_is_possible(const uint64_t *buckets, unsigned resolution, uint64_t longest_cycles);

#endif
