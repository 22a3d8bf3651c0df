/* The recorder: its labels and live file, then what it records besides latencies. */
#include "recorder_start.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "aggstats/busy.h"
#include "aggstats/caller_groups.h"
#include "aggstats/user_label.h"
#include "base.h"
#include "live_dirs.h"
#include "log.h"
#include "process.h"

#define LIVE_PATH_ATTEMPTS 100
#define DAEMON_LABELS 11 /* labels that the daemon gives by itself, at most */

/* A path for this process's live file. */
static int live_path_of(const char *directory, unsigned attempt, char **ret_path) {
    char *path;
    int length = attempt == 0 ? asprintf(&path, "%s/%ld.live", directory, (long)getpid())
                              : asprintf(&path, "%s/%ld-%u.live", directory, (long)getpid(), attempt);
    if (length < 0)
        return -ENOMEM;
    *ret_path = path;
    return 0;
}

/* Makes the directory if needed, unless the user has given one.
 * Errors: -EPERM the directory belongs to another user, and those of mkdir(2) */
static int try_live_path(const struct options *options, struct aggstats_recorder_options *wanted,
                         struct aggstats_recorder **ret_recorder) {
    struct live_dirs dirs;
    const char *directory = options->live_directory;
    if (!directory) {
        live_dirs_find(&dirs);
        const int error = live_dirs_make(&dirs);
        if (error < 0)
            return error;
        directory = dirs.paths[dirs.chosen];
    }
    int err = -EEXIST;
    for (unsigned attempt = 0; err == -EEXIST && attempt < LIVE_PATH_ATTEMPTS; attempt++) {
        CLEANUP_FREE char *path = NULL;
        err = live_path_of(directory, attempt, &path);
        wanted->live_path = path;
        if (err == 0)
            err = aggstats_recorder_create(wanted, ret_recorder);
        wanted->live_path = NULL;
    }
    return err;
}

static int create_in_memory(const struct aggstats_recorder_options *wanted, struct aggstats_recorder **ret_recorder) {
    int err = aggstats_recorder_create(wanted, ret_recorder);
    if (err < 0)
        log_message("cannot start the recorder: %s", strerror(-err));
    return err;
}

/* A live file that was asked for must exist; if the default one cannot be made, a message says so. */
static int create_live(const struct options *options, struct aggstats_recorder_options *wanted,
                       struct aggstats_recorder **ret_recorder) {
    const char *asked = options->live_directory;
    if (asked && strcmp(asked, "none") == 0)
        return create_in_memory(wanted, ret_recorder);
    int err = try_live_path(options, wanted, ret_recorder);
    if (err == 0)
        return 0;
    if (asked) {
        log_message("cannot keep the live file in %s: %s; choose another place with -o live=DIR or -o live=none", asked,
                    strerror(-err));
        return err;
    }
    log_message("warning: no live file (%s): if osproffs is killed, the profile is lost; choose a place with "
                "-o live=DIR",
                strerror(-err));
    return create_in_memory(wanted, ret_recorder);
}

unsigned recorder_groupings(const struct options *options, unsigned wanted, struct node_names *names,
                            struct aggstats_grouping_options ret_groupings[AGGSTATS_GROUPINGS]) {
    unsigned count = 0;
    for (unsigned kind = AGGSTATS_UNGROUPED + 1; kind < AGGSTATS_GROUPINGS; kind++) {
        const enum aggstats_grouping grouping = (enum aggstats_grouping)kind;
        const aggstats_identify_fn identify = process_identify_by(grouping);
        const bool has_objects = aggstats_grouping_has_objects(grouping);
        if (!(wanted & 1U << kind))
            continue;
        ret_groupings[count++] = (struct aggstats_grouping_options){
            .grouping = grouping,
            .groups_max = options->groups_max,
            .identify = identify,
            .identify_first = identify == process_identify ? process_identify_first : NULL,
            .name_object = has_objects ? node_name : NULL,
            .place_of = grouping == AGGSTATS_BY_DIRECTORY ? node_directory : NULL,
            .context = has_objects ? names : NULL,
        };
    }
    return count;
}

static int start_sampling(const struct options *options, struct aggstats_recorder *recorder) {
    if (options->interval_ns == 0)
        return 0;
    int err = aggstats_recorder_set_interval(recorder, options->interval_ns, options->intervals_max);
    if (err < 0)
        log_message("cannot sample the profile: %s", strerror(-err));
    return err;
}

static int start_groupings(const struct recorder_wanted *wanted, struct aggstats_recorder *recorder) {
    struct aggstats_grouping_options groupings[AGGSTATS_GROUPINGS];
    const unsigned count =
        recorder_groupings(wanted->options, wanted->options->groups.groupings, wanted->names, groupings);
    int err = 0;
    for (unsigned i = 0; i < count && err == 0; i++) {
        err = aggstats_recorder_group(recorder, &groupings[i]);
        if (err < 0)
            log_message("cannot profile by %s: %s", aggstats_grouping_name(groupings[i].grouping), strerror(-err));
    }
    return err;
}

static int start_watching(const struct options *options, struct aggstats_recorder *recorder) {
    int err = options->timing == TIMING_FULL ? aggstats_recorder_watch(recorder, true) : 0;
    if (err < 0)
        log_message("cannot look at calls in flight: %s", strerror(-err));
    return err;
}

/* Returns how many are left. */
static size_t keep_labels_with_values(struct aggstats_label *labels, size_t count) {
    size_t kept = 0;
    for (size_t index = 0; index < count; index++) {
        if (labels[index].value)
            labels[kept++] = labels[index];
    }
    return kept;
}

/* Storage for keys of user labels while the recorder copies them. */
struct user_keys {
    char texts[USER_LABELS_MAX][USER_LABEL_HEADER_SIZE];
};

/* Appends the user's labels behind the first count labels. Returns their new number */
static size_t append_user_labels(const struct options *options, struct user_keys *keys, struct aggstats_label *labels,
                                 size_t count) {
    for (size_t index = 0; index < options->labels.count; index++) {
        const char *value = user_label_split(options->labels.texts[index], keys->texts[index]);
        labels[count++] = (struct aggstats_label){keys->texts[index], (char *)(uintptr_t)value};
    }
    return count;
}

/* NULL: none is */
static char *forwarded_locks(const struct options *options) {
    static char both[] = "record, flock";
    static char record[] = "record";
    static char flock[] = "flock";
    if (options->forward_posix_locks)
        return options->forward_flocks ? both : record;
    return options->forward_flocks ? flock : NULL;
}

static int create(const struct recorder_wanted *wanted, struct aggstats_recorder **ret_recorder) {
    const struct options *options = wanted->options;
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof(host) - 1);
    CLEANUP_FREE char *control_name = strdup(options->control_name);
    CLEANUP_FREE char *cache = strdup(cache_mode_name(options->cache));
    if (!control_name || !cache) {
        log_message("cannot mount: %s", strerror(ENOMEM));
        return -ENOMEM;
    }
    char layer[] = "fs";
    char data[] = "passthrough";
    char workers[] = "plain";
    char ring[] = "yes";
    struct user_keys keys;
    struct aggstats_label labels[DAEMON_LABELS + USER_LABELS_MAX] = {
        {(char[]){"layer"}, layer},
        {(char[]){"host"}, host},
        {(char[]){"lower"}, wanted->lower},
        {(char[]){"mount"}, wanted->mountpoint},
        {(char[]){"cache"}, cache},
        {(char[]){"control"}, control_name},
        {(char[]){"profile"}, wanted->profile},
        {(char[]){"data"}, options->kernel_data ? data : NULL},
        {(char[]){"workers"}, options->plain_workers ? workers : NULL},
        {(char[]){"io_uring"}, options->over_ring ? ring : NULL},
        {(char[]){"locks"}, forwarded_locks(options)},
    };
    struct aggstats_recorder_options recorder_options = {
        .op_names = fs_op_names,
        .op_count = FS_OP_COUNT,
        .resolution = options->resolution,
        .labels = labels,
    };
    recorder_options.label_count =
        append_user_labels(options, &keys, labels, keep_labels_with_values(labels, DAEMON_LABELS));
    return create_live(options, &recorder_options, ret_recorder);
}

int recorder_start(const struct recorder_wanted *wanted, struct aggstats_recorder **ret_recorder) {
    struct aggstats_recorder *recorder = NULL;
    int err = create(wanted, &recorder);
    if (err < 0)
        return err;
    err = start_sampling(wanted->options, recorder);
    if (err == 0)
        err = start_groupings(wanted, recorder);
    if (err == 0)
        err = start_watching(wanted->options, recorder);
    if (err < 0) {
        aggstats_recorder_unlink_live(recorder);
        aggstats_recorder_destroy(recorder);
        return err;
    }
    *ret_recorder = recorder;
    return 0;
}
