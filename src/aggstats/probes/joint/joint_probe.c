/* Joint profiles of a recorder. */
#include <errno.h>

#include "aggstats/joint_profiles.h"
#include "joint.h"
#include "places.h"
#include "quiet_lock.h"
#include "recorder_state.h"
#include "snapshot.h"

static struct joints *to_joints(struct probe *probe) {
    _Static_assert(offsetof(struct joints, probe) == 0, "a probe's address is its joint profiles'");
    return (struct joints *)probe;
}

/* ---- As a probe ---- */

static void read_tables(struct probe *probe) {
    joints_read(to_joints(probe));
}

static void reset(struct probe *probe) {
    joints_reset(to_joints(probe));
}

static void freeze(struct probe *probe) {
    joints_pause(to_joints(probe));
}

static void thaw(struct probe *probe) {
    joints_resume(to_joints(probe));
}

static int show(struct probe *probe, const struct snapshot_source *source, struct aggstats_profile *profile) {
    return joints_show(to_joints(probe), source->op_names, profile);
}

static void mark(struct probe *probe) {
    joints_mark(to_joints(probe));
}

static void end_mark(struct probe *probe, const struct aggstats_profile *taken) {
    if (taken)
        joints_take(to_joints(probe), (const char(*)[AGGSTATS_NAME_SIZE])probe->recorder->op_names, taken);
}

static void leave(struct probe *probe) {
    joints_end(to_joints(probe));
}

static void destroy(struct probe *probe) {
    joints_destroy(to_joints(probe));
}

static const struct probe_ops ops = {
    .read = read_tables,
    .reset = reset,
    .pause = freeze,
    .resume = thaw,
    .show = show,
    .mark = mark,
    .end_mark = end_mark,
    .leave = leave,
    .destroy = destroy,
};

/* ---- The interface ---- */

/* Call under the lock of probes. NULL: no memory */
static struct joints *find(struct aggstats_recorder *recorder) {
    struct probe *probe = recorder_probe(recorder, PROBE_JOINTS);
    if (probe)
        return to_joints(probe);
    struct joints *joints = joints_create(&recorder->layout);
    if (!joints)
        return NULL;
    joints->probe = (struct probe){.ops = &ops, .recorder = recorder};
    recorder_attach(recorder, PROBE_JOINTS, &joints->probe);
    return joints;
}

int aggstats_recorder_set_joint(struct aggstats_recorder *recorder, unsigned op, unsigned values) {
    if (op >= recorder->layout.op_count || values >> AGGSTATS_VALUE_COUNT)
        return -EINVAL;
    sigset_t before;
    quiet_lock(&recorder->probes_lock, &before);
    struct joints *joints = find(recorder);
    int err = joints ? 0 : -ENOMEM;
    if (err == 0) {
        sigset_t unused;
        quiet_lock(&recorder->window_lock, &unused);
        err = joints_set(joints, op, values);
        quiet_unlock(&recorder->window_lock, &unused);
    }
    quiet_unlock(&recorder->probes_lock, &before);
    return err;
}

void aggstats_joint_add(struct aggstats_recorder *recorder, unsigned op, enum aggstats_value value, uint64_t number,
                        uint64_t latency_cycles) {
    struct probe *probe = __atomic_load_n(&recorder->probes[PROBE_JOINTS], __ATOMIC_ACQUIRE);
    if (probe)
        joints_add(to_joints(probe), op, value, number, latency_cycles);
}
