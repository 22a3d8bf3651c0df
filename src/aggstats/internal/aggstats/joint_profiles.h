/* libaggstats, inside this project: joint profiles. */
#ifndef AGGSTATS_JOINT_PROFILES_H
#define AGGSTATS_JOINT_PROFILES_H

#include "aggstats/recorder.h"

/* From now on correlates the latencies of op with values, a set of bits (1 << AGGSTATS_SIZE), and no others. Profiles
 * then have a joint profile for each, of the calls passed to aggstats_joint_add().
 * Memory:  for each value ever requested 32 * rows * 64 * resolution bytes, 135 KB at resolution 1
 * Errors:  -EINVAL, -ENOMEM; nothing has changed then
 * Threads: any; one at a time */
int aggstats_recorder_set_joint(struct aggstats_recorder *recorder, unsigned op, unsigned values);

/* Counts a call that has ended, with the number of a value; its latency is the result of aggstats_end(). Does nothing
 * if the value was not requested.
 * Threads: any. It takes atomic operations, so do not call it for ops without requested values */
void aggstats_joint_add(struct aggstats_recorder *recorder, unsigned op, enum aggstats_value value, uint64_t number,
                        uint64_t latency_cycles);

#endif
