/* Converts counts of the kernel to those of a recorder. The kernel's buckets are the recorder's or finer, so that
 * each of them falls into exactly one of the recorder's. */
#include "counting_lane.h"

#include <errno.h>

int counting_lane_open(struct counting_lane *ret_lane, struct aggstats_recorder *recorder) {
    struct aggstats_block *lane = aggstats_lane_create(recorder);
    if (!lane)
        return -ENOMEM;
    *ret_lane = (struct counting_lane){.recorder = recorder, .lane = lane};
    return 0;
}

struct aggstats_cache counting_lane_cache(const struct collected_reads *reads) {
    return (struct aggstats_cache){.read_bytes = reads->cached_bytes,
                                   .missed_bytes = reads->missed_bytes,
                                   .unjudged_bytes = reads->unjudged_bytes};
}

void counting_lane_add(const struct counting_lane *lane, unsigned op, const struct collected *collected,
                       uint64_t seen_ns) {
    uint64_t buckets[AGGSTATS_BUCKETS_MAX] = {0};
    uint64_t failures[AGGSTATS_FAILURES] = {0};
    if (!lane->recorder)
        return;
    const unsigned resolution = aggstats_hot(lane->recorder)->resolution;
    for (unsigned bucket = 0; bucket < COLLECTED_BUCKETS; bucket++)
        buckets[bucket * resolution / COLLECTED_RESOLUTION] += collected->buckets[bucket];
    for (unsigned error = 0; error < COLLECTED_ERRORS; error++)
        failures[aggstats_failure_of_error((int)error)] += collected->failures[error];
    const struct aggstats_counted counted = {.buckets = buckets,
                                             .total_cycles = collected->total_ns,
                                             .longest_cycles = collected->longest_ns,
                                             .asked_bytes = collected->asked_bytes,
                                             .moved_bytes = collected->moved_bytes,
                                             .failures = failures,
                                             .seen_cycles = seen_ns};
    aggstats_lane_count(lane->recorder, lane->lane, op, &counted);
    const struct aggstats_cache cache = counting_lane_cache(&collected->reads);
    aggstats_recorder_add_cache(lane->recorder, &cache);
}
