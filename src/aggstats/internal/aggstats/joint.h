/* libaggstats, inside this project: joint profiles. */
#ifndef AGGSTATS_JOINT_H
#define AGGSTATS_JOINT_H

#include "aggstats/recorder.h"

/* Relates the latencies of op to values, a set of bits (1 << AGGSTATS_SIZE), from now on; those left out are not any
 * more. Profiles then have a joint profile for each, of the calls that were given to aggstats_joint_add().
 * Memory:  for each value that was ever asked for 32 * rows * 64 * resolution bytes, 135 KB at resolution 1
 * Errors:  -EINVAL, -ENOMEM; nothing has changed then
 * Threads: any; one at a time */
int aggstats_recorder_set_joint(struct aggstats_recorder *recorder, unsigned op, unsigned values);

/* Counts a call that has ended, whose latency aggstats_end() gave, with the value's number. Nothing if it is not asked
 * for.
 * Threads: any. Not on the hot path of those that ask for none: it takes atomic operations */
void aggstats_joint_add(struct aggstats_recorder *recorder, unsigned op, enum aggstats_value value, uint64_t number,
                        uint64_t latency_cycles);

#endif
