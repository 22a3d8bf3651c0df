/* Joint profiles, groups and slow calls, requested on the command line and in the control file. */
#include "daemon_recording.h"

#include <errno.h>
#include <string.h>

#include "aggstats/slow.h"
#include "control.h"
#include "log.h"
#include "process.h"
#include "recorder_start.h"

/* Keeps those of the op's values that are in kept, and adds some. */
static const char *change_joint(struct recording *recording, unsigned op, unsigned kept, unsigned added) {
    pthread_mutex_lock(&recording->lock);
    unsigned before = recording->prof->wanted[op] & PROF_VALUES;
    unsigned values = (before & kept) | added;
    int err = values != before ? prof_set_joint(recording->prof, (enum fs_op)op, values) : 0;
    pthread_mutex_unlock(&recording->lock);
    return err < 0 ? strerror(-err) : NULL;
}

static const char *end_all_joints(struct recording *recording) {
    const char *why = NULL;
    for (unsigned op = 0; op < FS_OP_COUNT && !why; op++)
        why = change_joint(recording, op, 0, 0);
    return why;
}

const char *recording_set_joint(void *context, const char *argument, bool apply) {
    struct recording *recording = context;
    struct control_joint joint;
    enum fs_op op = FS_OP_COUNT;
    enum aggstats_value value = AGGSTATS_ERROR; /* which every op has */
    if (!recording->is_recorded)
        return "nothing is recorded here (timing)";
    const char *why = control_parse_joint(argument, &joint);
    if (!why && joint.ends_all)
        return apply ? end_all_joints(recording) : NULL;
    if (!why)
        why = prof_find_joint(joint.op, joint.value, &op, &value);
    if (why || !apply)
        return why;
    return joint.ends ? change_joint(recording, op, 0, 0) : change_joint(recording, op, ~0U, 1U << value);
}

/* Files and directories need their names. */
static int keep_names(struct recording *recording, unsigned groupings) {
    return pass_keep_names(recording->names->pass, recording_needs_names(recording->options, groupings));
}

static int begin_groups(struct recording *recording, const struct control_groups *wanted) {
    struct aggstats_grouping_options groupings[AGGSTATS_GROUPINGS];
    const unsigned count = recorder_groupings(recording->options, wanted->groupings, recording->names, groupings);
    int err = keep_names(recording, wanted->groupings);
    if (err < 0)
        return err;
    recording->names->depth_max = wanted->directory_depth;
    err = aggstats_recorder_begin_groups(recording->recorder, groupings, count);
    if (err < 0) {
        (void)keep_names(recording, 0);
        return err;
    }
    recording->groupings = wanted->groupings;
    prof_set_grouped(recording->prof, true);
    return 0;
}

static void end_groups(struct recording *recording) {
    prof_set_grouped(recording->prof, false);
    aggstats_recorder_end_groups(recording->recorder);
    recording->groupings = 0;
    (void)keep_names(recording, 0);
}

static int change_groups(struct recording *recording, const struct control_groups *wanted) {
    if (wanted->groupings == 0) {
        end_groups(recording);
        return 0;
    }
    if (recording->groupings == 0)
        return begin_groups(recording, wanted);
    return recording->groupings == wanted->groupings && recording->names->depth_max == wanted->directory_depth ? 0
                                                                                                               : -EBUSY;
}

int recording_set_groups(void *context, const struct control_groups *wanted) {
    struct recording *recording = context;
    if (!recording->is_recorded)
        return -EOPNOTSUPP;
    pthread_mutex_lock(&recording->lock);
    int err = change_groups(recording, wanted);
    pthread_mutex_unlock(&recording->lock);
    return err;
}

bool recording_needs_names(const struct options *options, unsigned groupings) {
    return options->events_names || groupings & (1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY);
}

int recording_set_slow(void *context, uint64_t ns) {
    struct recording *recording = context;
    const struct aggstats_slow_options wanted = {
        .threshold_ns = ns,
        .find_cause = slow_holders_look,
        .context = &recording->holders,
        .wants_holders = true,
        .path_of = recording->path_of,
        .path_context = recording->path_context,
        .identify = process_identify_first,
        .report = recording->slow_log ? slow_log_take : NULL,
        .report_context = recording->slow_log,
    };
    if (!recording->is_recorded)
        return -EOPNOTSUPP;
    pthread_mutex_lock(&recording->lock);
    int err = aggstats_recorder_set_slow(recording->recorder, &wanted);
    if (err == 0)
        prof_set_slow(recording->prof);
    pthread_mutex_unlock(&recording->lock);
    return err;
}

void recording_set_events(struct recording *recording, struct events_recorder *events) {
    pthread_mutex_lock(&recording->lock);
    prof_set_events(recording->prof, events);
    pthread_mutex_unlock(&recording->lock);
}

int recording_start(struct recording *recording) {
    const struct options *options = recording->options;
    int err = 0;
    recording->groupings = options->groups.groupings;
    if (recording->groupings != 0)
        prof_set_grouped(recording->prof, true);
    for (unsigned op = 0; op < FS_OP_COUNT && err == 0; op++)
        if (options->joint[op])
            err = prof_set_joint(recording->prof, (enum fs_op)op, options->joint[op]);
    if (err < 0) {
        log_message("cannot relate latencies to values: %s", strerror(-err));
        return err;
    }
    err = options->slow_ns > 0 ? recording_set_slow(recording, options->slow_ns) : 0;
    if (err < 0)
        log_message("cannot look for slow calls: %s", strerror(-err));
    return err;
}
