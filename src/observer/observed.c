#include "observed.h"

#include <stdlib.h>

#include "aggstats/busy.h"
#include "aggstats/joint_profiles.h"
#include "base.h"
#include "path.h"

/* ---- For the session ---------------------------------------------------------------------------- */

static int set_joint(void *context, unsigned op, unsigned values) {
    struct observed *observed = context;
    const int error = aggstats_recorder_set_joint(observed->session.recorder, op, values);
    if (error == 0)
        __atomic_store_n(&observed->requests.joint[op], values, __ATOMIC_RELAXED);
    return error;
}

static void slow_is_set(void *context) {
    struct observed *observed = context;
    const uint64_t cycles = aggstats_recorder_slow_cycles(observed->session.recorder);
    __atomic_store_n(&observed->requests.slow_cycles, cycles > 0 ? cycles : UINT64_MAX, __ATOMIC_RELAXED);
}

static char *path_of(void *context, uint64_t object) {
    struct observed *observed = context;
    return nodes_path(&observed->requests.nodes, object);
}

/* An aggstats_name_fn. */
static bool name_node(void *context, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    (void)may_wait;
    CLEANUP_FREE char *path = path_of(context, object);
    path_copy_end(path ? path : "(not looked up)", ret_name, AGGSTATS_GROUP_NAME_SIZE);
    return path;
}

/* An aggstats_place_fn. */
static uint64_t directory_of(void *context, uint64_t object) {
    struct observed *observed = context;
    return nodes_directory(&observed->requests.nodes, object);
}

/* ---- Life cycle --------------------------------------------------------------------------------- */

/* If the mount cannot be found, nothing is known of it. */
static void fill_source(struct observed *observed, const struct session_options *options,
                        struct session_source *source) {
    const struct fuse_mount *mount = &observed->mount;
    source->name = mount->path ? mount->path : "the mount";
    source->op_names = wire_op_names;
    source->op_count = WIRE_OP_COUNT;
    source->header = (struct session_header){.layer = "daemon",
                                             .lower = mount->source,
                                             .mount = mount->path,
                                             .filesystem = mount->type,
                                             .profile = options->profile};
    source->has_socket = true;
    source->device = mount->device;
    source->slow = (struct aggstats_slow_options){.find_cause = daemon_cause,
                                                  .context = &observed->causes,
                                                  .wants_holders = true,
                                                  .path_of = path_of,
                                                  .path_context = observed,
                                                  .identify = seen_callers_identify_first,
                                                  .identify_context = &observed->requests.callers};
    source->find_joint = requests_find_joint;
    source->set_joint = set_joint;
    source->slow_is_set = slow_is_set;
    source->set_context = observed;
    source->handed_over = &observed->requests.handed_over;
    session_group_by_threads(
        source,
        &(struct aggstats_grouping_options){.identify_first = seen_callers_identify_first,
                                            .context = &observed->requests.callers},
        &(struct aggstats_grouping_options){.name_object = name_node, .place_of = directory_of, .context = observed});
}

int observed_start(struct observed *observed, const struct session_options *options, const struct thread_causes *causes,
                   struct fuse_mount *mount, const struct session_source *around, pid_t process) {
    struct session_source source = *around;
    *observed = (struct observed){.mount = *mount,
                                  .causes = {.holders = {.causes = causes},
                                             .process = process,
                                             .catch_up = around->catch_up,
                                             .catch_up_context = around->context}};
    *mount = (struct fuse_mount){.path = NULL};
    fill_source(observed, options, &source);
    int error = session_open(&observed->session, options, &source);
    if (error == 0)
        error = requests_init(&observed->requests, observed->session.recorder);
    observed->requests.is_grouped = options->groupings != 0;
    if (error == 0)
        error = aggstats_recorder_watch(observed->session.recorder, false);
    if (error == 0)
        error = session_record(&observed->session);
    if (error)
        observed_finish(observed);
    return error;
}

void observed_finish(struct observed *observed) {
    session_finish(&observed->session); /* its recorder's threads ask for names */
    if (observed->requests.nodes.nodes)
        requests_finish(&observed->requests);
    fuse_mount_finish(&observed->mount);
}
