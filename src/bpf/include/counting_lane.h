/* Calls that were counted in the kernel, as those of a recorder. */
#ifndef COUNTING_LANE_H
#define COUNTING_LANE_H

#include "aggstats/caches.h"
#include "aggstats/lane.h"
#include "collected.h"

/* Where calls are added. The recorder's clock is the monotonic one, and counts ns. */
struct counting_lane {
    struct aggstats_recorder *recorder; /* borrowed; NULL: nowhere */
    struct aggstats_block *lane;
};

/* Errors: -ENOMEM */
int counting_lane_open(struct counting_lane *ret_lane, struct aggstats_recorder *recorder);

/* As recorders have them. */
struct aggstats_cache counting_lane_cache(const struct collected_reads *reads);

/* seen_ns: all of them had ended by then. Threads: one at a time */
void counting_lane_add(const struct counting_lane *lane, unsigned op, const struct collected *collected,
                       uint64_t seen_ns);

#endif
