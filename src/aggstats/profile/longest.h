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

/* Reads it from counters that a thread writes. */
struct longest longest_read(const struct aggstats_counters *counters, unsigned resolution);

/* The same, and resets the thread's. */
struct longest longest_take(struct aggstats_counters *counters, unsigned resolution);

/* Reads it from counters that nobody else writes. */
struct longest longest_get(const struct aggstats_counters *counters, unsigned resolution);
void longest_put(struct aggstats_counters *counters, unsigned resolution, struct longest longest);

/* Sets it to the other, if that is longer. */
void longest_raise(struct longest *longest, struct longest other);

/* True if it lies in the last bucket that has calls. buckets: in memory order */
bool longest_is_possible(const uint64_t *buckets, unsigned resolution, uint64_t longest_cycles);

#endif
