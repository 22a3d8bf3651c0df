/* The session of the mount, and groups that the control file switches. */
#include "daemon_recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "aggstats/busy.h"
#include "base.h"
#include "log.h"
#include "mounts.h"
#include "path.h"
#include "process.h"
#include "str.h"

#define END_WAITS_MAX 100
#define END_WAIT_NS 10000000
#define TYPES_LENGTH_MAX 100

/* ---- Names: a node's name is its lower path without that of the root ---- */

/* ret_is_known: false if it is the name last looked up. */
static char *find_path(struct node_names *names, uint64_t node, bool asks, bool *ret_is_known) {
    char *path = asks ? pass_ask_path_of(names->pass, node) : pass_path_of(names->pass, node);
    *ret_is_known = path;
    return path ? path : pass_last_path_of(names->pass, node, asks);
}

static char *path_of(struct node_names *names, uint64_t node, bool may_wait, bool *ret_is_known) {
    if (!may_wait)
        return find_path(names, node, false, ret_is_known);
    __atomic_fetch_add(&names->asking, 1, __ATOMIC_SEQ_CST);
    bool has_ended = __atomic_load_n(&names->is_ended, __ATOMIC_SEQ_CST);
    char *path = find_path(names, node, !has_ended, ret_is_known);
    __atomic_fetch_sub(&names->asking, 1, __ATOMIC_SEQ_CST);
    return path;
}

bool node_name(void *context, uint64_t node, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    struct node_names *names = context;
    bool is_known = false;
    CLEANUP_FREE char *root = pass_path_of(names->pass, FS_ROOT_INO);
    CLEANUP_FREE char *path = root ? path_of(names, node, may_wait, &is_known) : NULL;
    const char *name = path ? path_below(path, root) : NULL;
    /* If the kernel has no name for a node, it gives the root's path: only the root itself is "/". */
    if (name && (name[0] == '\0' || strcmp(name, "/") == 0))
        name = node == FS_ROOT_INO ? "/" : NULL;
    if (name)
        path_copy_end(name, ret_name, AGGSTATS_GROUP_NAME_SIZE);
    else
        snprintf(ret_name, AGGSTATS_GROUP_NAME_SIZE, may_wait ? "(name forgotten)" : "(name not asked for yet)");
    return name && is_known;
}

/* The directory in which the node was last looked up, or the node itself if it is a directory; 0: unknown. An
 * aggstats_place_fn; context: a struct node_names.
 * Threads: any */
static uint64_t node_directory(void *context, uint64_t node) {
    const struct node_names *names = context;
    return pass_directory_of(names->pass, node, names->depth_max);
}

bool node_names_end(struct node_names *names) {
    const struct timespec wait = {.tv_nsec = END_WAIT_NS};
    __atomic_store_n(&names->is_ended, true, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < END_WAITS_MAX && __atomic_load_n(&names->asking, __ATOMIC_SEQ_CST) > 0; i++)
        nanosleep(&wait, NULL);
    return __atomic_load_n(&names->asking, __ATOMIC_SEQ_CST) == 0;
}

/* ---- Opening ------------------------------------------------------------------------------------ */

/* A session_find_joint_fn. */
static const char *find_nothing(const char *op, const char *value, unsigned *ret_op, enum aggstats_value *ret_value) {
    (void)op, (void)value, (void)ret_op, (void)ret_value;
    return "nothing is recorded here (timing)";
}

static int set_joint(void *context, unsigned op, unsigned values) {
    const struct recording *recording = context;
    return prof_set_joint(recording->prof, (enum fs_op)op, values);
}

static void slow_is_set(void *context) {
    const struct recording *recording = context;
    prof_set_slow(recording->prof);
}

/* A live file that was asked for must exist; if the default one cannot be made, a message says so. */
static int open_session(struct recording *recording, struct session_source *source) {
    const char *asked = recording->options->live_directory;
    source->directory = asked;
    source->tag = asked && strcmp(asked, "none") == 0 ? NULL : "";
    int err = session_open(&recording->session, &recording->options->session, source);
    if (err < 0 && source->tag && asked) {
        log_message("cannot keep the live file in %s: %s; choose another place with -o live=DIR or -o live=none", asked,
                    strerror(-err));
        return err;
    }
    if (err < 0 && source->tag) {
        log_message("warning: no live file (%s): if osproffs is killed, the profile is lost; choose a place with "
                    "-o live=DIR",
                    strerror(-err));
        source->tag = NULL;
        err = session_open(&recording->session, &recording->options->session, source);
    }
    if (err < 0)
        log_message("cannot start the recorder: %s", strerror(-err));
    return err;
}

/* The types of the file systems at and below a directory, each once, "ext4,tmpfs"; "..." stands for more than fit.
 * Mounts that others hide count too.
 * path:    absolute
 * Owner:   the caller frees it. Returns NULL if they are unknown */
static char *list_types(const char *path) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    CLEANUP_MOUNTS struct mounts_table others = {.stream = NULL};
    CLEANUP_STR struct str types = {0};
    struct mounts_entry entry;
    if (mounts_open(&table) < 0 || !mounts_of_path(&table, path, &entry) || mounts_open(&others) < 0)
        return NULL;
    str_add(&types, entry.type);
    while (mounts_next(&others, &entry)) {
        if (!path_below(entry.path, path) || mounts_has_option(str_text(&types), entry.type))
            continue;
        const bool fits = types.length + strlen(entry.type) < TYPES_LENGTH_MAX;
        str_addf(&types, ",%s", fits ? entry.type : "...");
        if (!fits)
            break;
    }
    return str_steal(&types);
}

int recording_open(struct recording *recording, const char *lower, const char *mountpoint, const char *profile) {
    const struct options *options = recording->options;
    const bool is_recorded = options->timing == TIMING_FULL;
    const char *locks = options->forward_flocks ? "flock" : NULL; /* that are forwarded */
    if (options->forward_posix_locks)
        locks = options->forward_flocks ? "record, flock" : "record";
    CLEANUP_FREE char *types = list_types(lower);
    struct session_source source = {.name = mountpoint,
                                    .op_names = fs_op_names,
                                    .op_count = FS_OP_COUNT,
                                    .header = {.layer = "fs",
                                               .lower = lower,
                                               .mount = mountpoint,
                                               .filesystem = types,
                                               .cache = cache_mode_name(options->cache),
                                               .control = options->control_name,
                                               .profile = profile,
                                               .data = options->kernel_data ? "passthrough" : NULL,
                                               .workers = options->plain_workers ? "plain" : NULL,
                                               .io_uring = options->over_ring ? "yes" : NULL,
                                               .locks = locks},
                                    .slow = {.find_cause = is_recorded ? slow_holders_look : NULL,
                                             .context = &recording->holders,
                                             .wants_holders = true,
                                             .path_of = recording->path_of,
                                             .path_context = recording->path_context,
                                             .identify = process_identify_first},
                                    .find_joint = is_recorded ? prof_find_joint : find_nothing,
                                    .set_joint = set_joint,
                                    .slow_is_set = slow_is_set,
                                    .set_context = recording};
    session_group_by_threads(&source, &(struct aggstats_grouping_options){.identify_first = process_identify_first},
                             &(struct aggstats_grouping_options){
                                 .name_object = node_name, .place_of = node_directory, .context = recording->names});
    int err = open_session(recording, &source);
    recording->session.source.header.filesystem = NULL;
    if (err < 0 || !is_recorded)
        return err;
    err = aggstats_recorder_watch(recording->session.recorder, true);
    if (err < 0)
        log_message("cannot look at calls in flight: %s", strerror(-err));
    return err;
}

int recording_start(struct recording *recording) {
    struct aggstats_slow_options *slow = &recording->session.source.slow;
    slow->report = recording->slow_log ? slow_log_take : NULL;
    slow->report_context = recording->slow_log;
    recording->groupings = recording->options->session.groupings;
    if (recording->groupings != 0)
        prof_set_grouped(recording->prof, true);
    int err = session_record(&recording->session);
    if (err < 0)
        log_message("cannot %s: %s", recording->session.failed, strerror(-err));
    return err;
}

/* ---- Changes ------------------------------------------------------------------------------------ */

/* Files and directories need their names. */
static int keep_names(struct recording *recording, unsigned groupings) {
    return pass_keep_names(recording->names->pass, recording_needs_names(recording->options, groupings));
}

static int begin_groups(struct recording *recording, const struct control_groups *wanted) {
    struct aggstats_grouping_options groupings[AGGSTATS_GROUPINGS];
    const unsigned count = session_groupings(&recording->session, wanted->groupings, groupings);
    int err = keep_names(recording, wanted->groupings);
    if (err < 0)
        return err;
    recording->names->depth_max = wanted->directory_depth;
    err = aggstats_recorder_begin_groups(recording->session.recorder, groupings, count);
    if (err < 0) {
        (void)keep_names(recording, 0);
        return err;
    }
    recording->groupings = wanted->groupings;
    prof_set_grouped(recording->prof, true);
    return 0;
}

static int change_groups(struct recording *recording, const struct control_groups *wanted) {
    if (wanted->groupings == 0) {
        prof_set_grouped(recording->prof, false);
        aggstats_recorder_end_groups(recording->session.recorder);
        recording->groupings = 0;
        (void)keep_names(recording, 0);
        return 0;
    }
    if (recording->groupings == 0)
        return begin_groups(recording, wanted);
    return recording->groupings == wanted->groupings && recording->names->depth_max == wanted->directory_depth ? 0
                                                                                                               : -EBUSY;
}

int recording_set_groups(void *context, const struct control_groups *wanted) {
    struct recording *recording = context;
    if (recording->options->timing != TIMING_FULL)
        return -EOPNOTSUPP;
    pthread_mutex_lock(&recording->session.lock);
    int err = change_groups(recording, wanted);
    pthread_mutex_unlock(&recording->session.lock);
    return err;
}

bool recording_needs_names(const struct options *options, unsigned groupings) {
    return options->events_names || groupings & (1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY);
}

void recording_set_events(struct recording *recording, struct events_recorder *events) {
    pthread_mutex_lock(&recording->session.lock);
    prof_set_events(recording->prof, events);
    pthread_mutex_unlock(&recording->session.lock);
}
