#include "observed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/busy.h"
#include "aggstats/caller_groups.h"
#include "aggstats/joint_profiles.h"
#include "aggstats/slow.h"
#include "base.h"
#include "mount_labels.h"
#include "path.h"
#include "process.h"

/* ---- Joint profiles ----------------------------------------------------------------------------- */

static const char *change_joint(struct session *session, enum wire_op op, unsigned kept, unsigned added) {
    pthread_mutex_lock(&session->lock);
    const unsigned values = (session->requests.joint[op] & kept) | added;
    const int error = aggstats_recorder_set_joint(session->recorder, op, values);
    if (error == 0)
        __atomic_store_n(&session->requests.joint[op], values, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&session->lock);
    return error ? strerror(-error) : NULL;
}

static const char *end_all_joints(struct session *session) {
    const char *why = NULL;
    for (unsigned op = 0; op < WIRE_OP_COUNT && !why; op++)
        why = change_joint(session, (enum wire_op)op, 0, 0);
    return why;
}

/* "OP VALUE", "OP off" or "off"; a control_joint_fn. */
static const char *set_joint(void *context, const char *argument, bool apply) {
    struct session *session = context;
    struct control_joint joint;
    enum wire_op op = WIRE_OP_COUNT;
    enum aggstats_value value = AGGSTATS_ERROR;
    const char *why = control_parse_joint(argument, &joint);
    if (!why && joint.ends_all)
        return apply ? end_all_joints(session) : NULL;
    if (!why)
        why = requests_find_joint(joint.op, joint.value, &op, &value);
    if (why || !apply)
        return why;
    return joint.ends ? change_joint(session, op, 0, 0) : change_joint(session, op, ~0U, 1U << value);
}

/* With a colon, as in options. */
static const char *set_joint_option(struct session *session, const char *option, bool apply) {
    CLEANUP_FREE char *argument = strdup(option);
    char *colon = argument ? strchr(argument, ':') : NULL;
    if (!colon)
        return argument ? "must be OP:VALUE, such as read:size" : strerror(ENOMEM);
    *colon = ' ';
    return set_joint(session, argument, apply);
}

const char *session_check_joint(const char *argument) {
    return set_joint_option(NULL, argument, false);
}

/* ---- Slow calls --------------------------------------------------------------------------------- */

static char *path_of(void *context, uint64_t object) {
    struct session *session = context;
    return nodes_path(&session->requests.nodes, object);
}

/* A control_slow_fn. */
static int set_slow(void *context, uint64_t ns) {
    struct session *session = context;
    const struct aggstats_slow_options wanted = {
        .threshold_ns = ns,
        .find_cause = daemon_cause,
        .context = &session->causes,
        .wants_holders = true,
        .path_of = path_of,
        .path_context = session,
        .identify = seen_callers_identify_first,
        .identify_context = &session->requests.callers,
    };
    pthread_mutex_lock(&session->lock);
    const int error = aggstats_recorder_set_slow(session->recorder, &wanted);
    const uint64_t cycles = aggstats_recorder_slow_cycles(session->recorder);
    __atomic_store_n(&session->requests.slow_cycles, cycles > 0 ? cycles : UINT64_MAX, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&session->lock);
    return error;
}

/* ---- Groups ------------------------------------------------------------------------------------- */

/* An aggstats_name_fn. */
static bool name_node(void *context, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    (void)may_wait;
    CLEANUP_FREE char *path = path_of(context, object);
    path_copy_end(path ? path : "(not looked up)", ret_name, AGGSTATS_GROUP_NAME_SIZE);
    return path;
}

/* An aggstats_place_fn. */
static uint64_t directory_of(void *context, uint64_t object) {
    struct session *session = context;
    return nodes_directory(&session->requests.nodes, object);
}

static int start_grouping(struct session *session, enum aggstats_grouping grouping) {
    const bool has_objects = aggstats_grouping_has_objects(grouping);
    const aggstats_identify_fn identify = process_identify_by(grouping);
    const struct aggstats_grouping_options options = {
        .grouping = grouping,
        .groups_max = session->options->groups_max,
        .identify = identify,
        .identify_first = identify == process_identify ? seen_callers_identify_first : NULL,
        .name_object = has_objects ? name_node : NULL,
        .place_of = grouping == AGGSTATS_BY_DIRECTORY ? directory_of : NULL,
        .context = has_objects ? (void *)session : &session->requests.callers,
    };
    session->requests.is_grouped = true;
    return aggstats_recorder_group(session->recorder, &options);
}

static int start_groupings(struct session *session) {
    int error = 0;
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS && error == 0; grouping++)
        if (session->options->groupings & 1U << grouping)
            error = start_grouping(session, (enum aggstats_grouping)grouping);
    return error;
}

/* ---- Life cycle --------------------------------------------------------------------------------- */

/* If the mount cannot be found, nothing is known of it. */
static int create_recorder(struct session *session, const char *live_path, const char *socket_path) {
    const struct session_options *options = session->options;
    struct mount_labels labels;
    mount_labels_fill(&labels, &(struct mount_labels_of){.layer = "daemon",
                                                         .lower = session->mount.source,
                                                         .mount = session->mount.path,
                                                         .filesystem = session->mount.type,
                                                         .control = socket_path,
                                                         .profile = options->profile,
                                                         .given = &options->labels});
    const struct aggstats_recorder_options wanted = {.op_names = wire_op_names,
                                                     .op_count = WIRE_OP_COUNT,
                                                     .resolution = options->resolution,
                                                     .labels = labels.labels,
                                                     .label_count = labels.count,
                                                     .live_path = live_path};
    return aggstats_recorder_create(&wanted, &session->recorder);
}

static int start_recording(struct session *session) {
    const struct session_options *options = session->options;
    int error = aggstats_recorder_watch(session->recorder, false);
    if (error == 0)
        error = start_groupings(session);
    if (error == 0 && options->interval_ns > 0)
        error = aggstats_recorder_set_interval(session->recorder, options->interval_ns, 0);
    for (size_t i = 0; i < options->joint.count && error == 0; i++)
        error = set_joint_option(session, options->joint.texts[i], true) ? -ENOMEM : 0;
    if (error == 0 && options->slow_ns > 0)
        error = set_slow(session, options->slow_ns);
    return error;
}

int session_start(struct session *session, const struct session_options *options, struct fuse_mount *mount,
                  const char *live_path, const char *socket_path, pid_t process, void (*catch_up)(void *context),
                  void *catch_up_context) {
    *session = (struct session){.options = options,
                                .mount = *mount,
                                .causes = {.holders = {.causes = &options->causes},
                                           .process = process,
                                           .catch_up = catch_up,
                                           .catch_up_context = catch_up_context}};
    *mount = (struct fuse_mount){.path = NULL};
    pthread_mutex_init(&session->lock, NULL);
    int error = create_recorder(session, live_path, socket_path);
    if (error == 0)
        error = requests_init(&session->requests, session->recorder);
    session->control = (struct control){
        .recorder = session->recorder,
        .dump = saving_dump,
        .dump_context = &session->saving,
        .rotate = saving_rotate,
        .rotate_context = &session->saving,
        .joint = set_joint,
        .joint_context = session,
        .slow = set_slow,
        .slow_context = session,
        .path_of = path_of,
        .path_context = session,
    };
    session->saving = (struct saving){.control = &session->control,
                                      .device = session->mount.device,
                                      .profile = options->profile,
                                      .keeps_old = options->keeps_old};
    if (error == 0)
        error = start_recording(session);
    if (error) {
        session->is_saved = true; /* nothing to save */
        session_finish(session);
    }
    return error;
}

int session_save(struct session *session, char **ret_other) {
    int error = saving_save(&session->saving, ret_other);
    session->is_saved = error == 0;
    return error;
}

void session_finish(struct session *session) {
    if (session->recorder && session->is_saved)
        aggstats_recorder_unlink_live(session->recorder);
    aggstats_recorder_destroy(session->recorder); /* its threads ask for names */
    session->recorder = NULL;
    if (session->requests.nodes.nodes)
        requests_finish(&session->requests);
    fuse_mount_finish(&session->mount);
    pthread_mutex_destroy(&session->lock);
}
