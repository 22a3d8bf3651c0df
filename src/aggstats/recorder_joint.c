/* Joint profiles of a recorder. */
#include <errno.h>

#include "quiet_lock.h"
#include "recorder.h"

int aggstats_recorder_set_joint(struct aggstats_recorder *recorder, unsigned op, unsigned values) {
    if (op >= recorder->layout.op_count || values >> AGGSTATS_VALUE_COUNT)
        return -EINVAL;
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    int err = joints_set(&recorder->joints, op, values);
    quiet_unlock(&recorder->window_lock, &before);
    return err;
}

void aggstats_joint_add(struct aggstats_recorder *recorder, unsigned op, enum aggstats_value value, uint64_t number,
                        uint64_t latency_cycles) {
    joints_add(&recorder->joints, op, value, number, latency_cycles);
}
