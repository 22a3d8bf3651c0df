#include "attach_profile.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/lane.h"
#include "base.h"
#include "command.h"
#include "live_dirs.h"
#include "live_files.h"
#include "mount_labels.h"
#include "quiet_thread.h"

#define NS_PER_S INT64_C(1000000000)
#define PATH_ATTEMPTS 100
#define PRINT_WAIT_S 2 /* for the next output, of which there are four a second */

/* ---- Control socket ----------------------------------------------------------------------------- */

/* Waits until an output that begins after now has been counted. For struct control_server */
static void catch_up(void *context) {
    struct attach_profile *profile = context;
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const struct timespec end = {.tv_sec = now_ns / NS_PER_S + PRINT_WAIT_S, .tv_nsec = now_ns % NS_PER_S};
    int error = 0;
    pthread_mutex_lock(&profile->lock);
    while (error == 0 && profile->counted_ns < now_ns && !profile->has_ended)
        error = pthread_cond_timedwait(&profile->has_printed, &profile->lock, &end);
    pthread_mutex_unlock(&profile->lock);
}

static void tell_who_asks(struct attach_profile *profile, bool has_ended) {
    pthread_mutex_lock(&profile->lock);
    profile->counted_ns = profile->counts.counted_ns;
    profile->has_ended = has_ended;
    pthread_cond_broadcast(&profile->has_printed);
    pthread_mutex_unlock(&profile->lock);
}

/* ---- Starting ----------------------------------------------------------------------------------- */

/* True if osproffs or another observer profiles it too, whose profile stays the visible one. */
static bool has_live_profile(const struct fuse_mount *mount) {
    struct live_files files = {.files = NULL};
    if (strcmp(mount->type, "fuse.osproffs") == 0)
        return true;
    const bool found = live_files_read(&files) == 0 && live_files_serving(&files, mount->path);
    live_files_finish(&files);
    return found;
}

/* bpftrace's clock counts in ns, and a recorder can read it too. In a hidden profile the mount point is named only as
 * the place that was profiled. */
static int create_recorder(struct attach_profile *profile) {
    const char *names[AGGSTATS_OPS_MAX];
    const struct fuse_mount *mount = &profile->mount;
    struct mount_labels labels;
    mount_labels_fill(&labels, &(struct mount_labels_of){.layer = "fuse",
                                                         .source = "bpftrace",
                                                         .lower = profile->is_hidden ? mount->path : mount->source,
                                                         .mount = profile->is_hidden ? NULL : mount->path,
                                                         .filesystem = mount->type,
                                                         .control = profile->socket_path,
                                                         .profile = profile->options->profile,
                                                         .given = &profile->options->labels});
    for (unsigned op = 0; op < profile->counts.op_count; op++)
        names[op] = profile->counts.names[op];
    const struct aggstats_recorder_options options = {
        .op_names = names,
        .op_count = profile->counts.op_count,
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S},
        .labels = labels.labels,
        .label_count = labels.count,
        .live_path = profile->live_path,
    };
    return aggstats_recorder_create(&options, &profile->recorder);
}

static void forget_paths(struct attach_profile *profile) {
    free(steal_pointer(&profile->live_path));
    free(steal_pointer(&profile->socket_path));
}

/* Chooses a free name. */
static int create_live(struct attach_profile *profile, const char *directory) {
    int error = -EEXIST;
    for (unsigned attempt = 0; attempt < PATH_ATTEMPTS && error == -EEXIST; attempt++) {
        forget_paths(profile);
        if (asprintf(&profile->live_path, "%s/%ld-%u.live", directory, (long)getpid(), attempt) < 0)
            profile->live_path = NULL;
        if (asprintf(&profile->socket_path, "%s/%ld-%u.sock", directory, (long)getpid(), attempt) < 0)
            profile->socket_path = NULL;
        if (!profile->live_path || !profile->socket_path)
            return -ENOMEM;
        if (access(profile->socket_path, F_OK) < 0) /* it was left by one that was killed */
            error = create_recorder(profile);
    }
    return error;
}

static int create_recorder_somewhere(struct attach_profile *profile) {
    struct live_dirs dirs;
    live_dirs_find(&dirs);
    const char *directory = dirs.paths[dirs.chosen];
    int error = live_dirs_make(&dirs);
    if (error == 0)
        error = create_live(profile, directory);
    if (error == 0)
        return 0;
    complain("%s has no live profile, only a final one: nothing can be made in %s: %s", profile->mount.path, directory,
             strerror(-error));
    forget_paths(profile);
    return create_recorder(profile);
}

static void start_answering(struct attach_profile *profile) {
    if (!profile->socket_path)
        return;
    int error = control_server_listen(&profile->socket, profile->socket_path);
    if (error == 0)
        error = control_server_start(&profile->socket, &profile->control, catch_up, profile, NULL);
    if (error)
        complain("the profile of %s cannot be controlled: no socket can be made at %s: %s", profile->mount.path,
                 profile->socket_path, strerror(-error));
    else if (profile->is_hidden)
        complain("%s has a live profile already, which is shown as before; this one is %s to 'osprof show' and others",
                 profile->mount.path, profile->socket_path);
}

int attach_profile_start(struct attach_profile *ret_profile, const struct attach_options *options,
                         struct fuse_mount *mount, const char *script) {
    struct attach_profile *profile = ret_profile;
    *profile = (struct attach_profile){
        .options = options, .mount = *mount, .is_hidden = has_live_profile(mount), .socket = CONTROL_SERVER_NONE};
    *mount = (struct fuse_mount){.path = NULL};
    pthread_mutex_init(&profile->lock, NULL);
    cond_init_monotonic(&profile->has_printed);
    int error = trace_counts_init(&profile->counts, script);
    if (error == 0)
        error = create_recorder_somewhere(profile);
    if (error == 0)
        error = trace_counts_start(&profile->counts, profile->recorder);
    if (error) {
        if (profile->recorder)
            aggstats_recorder_unlink_live(profile->recorder);
        attach_profile_finish(profile);
        return error;
    }
    profile->saving = (struct saving){.control = &profile->control,
                                      .device = profile->mount.device,
                                      .profile = options->profile,
                                      .keeps_old = options->keeps_old};
    profile->control = (struct control){.recorder = profile->recorder,
                                        .dump = saving_dump,
                                        .dump_context = &profile->saving,
                                        .rotate = saving_rotate,
                                        .rotate_context = &profile->saving};
    start_answering(profile);
    return 0;
}

/* ---- Counting ----------------------------------------------------------------------------------- */

int attach_profile_read(struct attach_profile *profile, int fd) {
    struct aggstats_parse_error why = {.message = ""};
    int result = trace_counts_read(&profile->counts, fd, &why);
    if (result < 0 && profile->error == 0)
        complain("what bpftrace prints of %s is not counted any more: %s", profile->mount.path,
                 result == -EBADMSG ? why.message : strerror(-result));
    if (result < 0) {
        aggstats_recorder_add_lost(profile->recorder, 1); /* at least */
        profile->error = result;
    }
    tell_who_asks(profile, false);
    return result;
}

/* ---- The end ------------------------------------------------------------------------------------ */

static void complain_not_saved(const struct attach_profile *profile, int error) {
    const char *why = error == -ELOOP ? "it lies in the mount itself" : strerror(-error);
    if (profile->live_path)
        complain("cannot write the profile of %s to %s: %s; it is in %s, from where 'osprof recover' takes it",
                 profile->mount.path, profile->options->profile, why, profile->live_path);
    else
        complain("cannot write the profile of %s to %s: %s", profile->mount.path, profile->options->profile, why);
}

int attach_profile_end(struct attach_profile *profile) {
    tell_who_asks(profile, true);
    while (!control_server_stop(&profile->socket))
        continue; /* its command hangs */
    CLEANUP_FREE char *other = NULL;
    int error = saving_save(&profile->saving, &other);
    if (other)
        complain("%s holds the profile of another mount, or a later one; that of %s goes to %s",
                 profile->options->profile, profile->mount.path, other);
    if (error)
        complain_not_saved(profile, error);
    else
        aggstats_recorder_unlink_live(profile->recorder);
    return error ? error : profile->error;
}

void attach_profile_finish(struct attach_profile *profile) {
    while (!control_server_stop(&profile->socket))
        continue; /* its command hangs */
    aggstats_recorder_destroy(profile->recorder);
    trace_counts_finish(&profile->counts);
    fuse_mount_finish(&profile->mount);
    forget_paths(profile);
    pthread_cond_destroy(&profile->has_printed);
    pthread_mutex_destroy(&profile->lock);
}
