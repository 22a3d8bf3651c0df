#include "attach_profile.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "live_dirs.h"
#include "live_files.h"
#include "mount_labels.h"

#define PATH_ATTEMPTS 100
#define COUNT_MS 100 /* between additions to the profile */
#define CROWDED_MS 5
#define LOOK_NS NS_PER_S /* between checks that it is still there */

/* ---- Counting ----------------------------------------------------------------------------------- */

static void note_lost(struct attach_profile *profile) {
    const uint64_t lost = collector_lost(profile->collector);
    if (lost > profile->lost)
        aggstats_recorder_add_lost(profile->recorder, lost - profile->lost);
    profile->lost = lost;
}

void attach_profile_count(struct attach_profile *profile) {
    pthread_mutex_lock(&profile->lock);
    int error = collector_count(profile->collector, profile->lanes);
    if (error && profile->error == 0) {
        complain("not all calls to %s are counted: %s", profile->place.path, strerror(-error));
        profile->error = error;
        aggstats_recorder_add_lost(profile->recorder, 1); /* at least */
    }
    note_lost(profile);
    profile->counted_ns = read_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&profile->lock);
}

/* Who has just asked is looking at the profile now, which must not be added to in the meantime: its groups come after the whole. */
static void count_if_due(struct attach_profile *profile, int milliseconds) {
    pthread_mutex_lock(&profile->lock);
    const int64_t since_ns = read_clock_ns(CLOCK_MONOTONIC) - profile->counted_ns;
    pthread_mutex_unlock(&profile->lock);
    if (since_ns >= milliseconds * NS_PER_MS)
        attach_profile_count(profile);
}

static void look_under_way(struct attach_profile *profile) {
    if (profile->under_way)
        attach_under_way_look(profile->under_way);
}

/* For struct control_server */
static void catch_up(void *context) {
    look_under_way(context);
    attach_profile_count(context);
}

/* For struct attach_under_way_options */
static void count(void *context) {
    attach_profile_count(context);
}

bool attach_profile_follow(struct attach_profile *profile, const struct signals *signals, int64_t end_ns,
                           attach_is_there_fn *is_there, const void *context) {
    const int slow_fd = profile->under_way ? attach_under_way_fd(profile->under_way) : -1;
    struct pollfd events[] = {{.fd = signals->fd, .events = POLLIN}, {.fd = slow_fd, .events = POLLIN}};
    int64_t looked_ns = 0;
    for (int64_t now_ns = 0; now_ns < end_ns; now_ns = read_clock_ns(CLOCK_MONOTONIC)) {
        if (now_ns - looked_ns >= LOOK_NS) {
            looked_ns = now_ns;
            if (!is_there(context))
                return false;
            if (profile->options->slow_ns == 0)
                look_under_way(profile);
        }
        const int pause_ms = collector_is_crowded(profile->collector) ? CROWDED_MS : COUNT_MS;
        const int ready = poll(events, 2, pause_ms);
        if (ready > 0 && events[0].revents && signals_take_ending(signals) != 0)
            return true;
        if (ready > 0 && events[1].revents)
            attach_under_way_take(profile->under_way);
        count_if_due(profile, pause_ms);
    }
    return true;
}

/* ---- Starting ----------------------------------------------------------------------------------- */

/* True if osproffs or another observer profiles it too, whose profile stays the visible one. */
static bool has_live_profile(const struct attach_place *place) {
    CLEANUP_LIVE_FILES struct live_files files = {.files = NULL};
    if (place->type && strcmp(place->type, "fuse.osproffs") == 0)
        return true;
    return live_files_find(&files) == 0 && live_files_serving(&files, place->path);
}

/* The kernel counts ns of a clock that a recorder can read too. In a hidden profile the mount point is named only as the
 * place that was profiled. */
static int create_recorder(struct attach_profile *profile) {
    unsigned op_count;
    const char *const *ops = collector_ops(profile->collector, &op_count);
    const struct attach_place *place = &profile->place;
    struct mount_labels labels;
    mount_labels_fill(&labels, &(struct mount_labels_of){.layer = profile->options->layer,
                                                         .whose = profile->options->whose,
                                                         .lower = profile->is_hidden ? place->path : place->source,
                                                         .mount = profile->is_hidden ? NULL : place->path,
                                                         .filesystem = place->type,
                                                         .control = profile->socket_path,
                                                         .profile = profile->options->profile,
                                                         .given = &profile->options->labels});
    const struct aggstats_recorder_options options = {
        .op_names = ops,
        .op_count = op_count,
        .resolution = profile->options->resolution,
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
    int error = live_dirs_make(&dirs);
    const char *directory = dirs.paths[dirs.chosen];
    if (error == 0)
        error = create_live(profile, directory);
    if (error == 0)
        return 0;
    complain("%s has no live profile, only a final one: nothing can be made in %s: %s", profile->place.path, directory,
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
        complain("the profile of %s cannot be controlled: no socket can be made at %s: %s", profile->place.path,
                 profile->socket_path, strerror(-error));
    else if (profile->is_hidden)
        complain("%s has a live profile already, which is shown as before; this one is %s to 'osprof show' and others",
                 profile->place.path, profile->socket_path);
}

/* It is in memory alone. */
static int create_beside(struct attach_profile *profile) {
    unsigned op_count;
    const char *const *ops = collector_ops(profile->collector, &op_count);
    const struct aggstats_recorder_options options = {
        .op_names = ops,
        .op_count = op_count,
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S},
    };
    int error = aggstats_recorder_create(&options, &profile->beside);
    return error ? error : counting_lane_open(&profile->lanes[1], profile->beside);
}

static int start_under_way(struct attach_profile *profile) {
    return attach_under_way_start(profile->collector, profile->recorder,
                                  &(struct attach_under_way_options){.slow_ns = profile->options->slow_ns,
                                                                     .causes = profile->options->causes,
                                                                     .stacks = profile->options->stacks,
                                                                     .slow_log = profile->options->slow_log,
                                                                     .events = profile->options->events,
                                                                     .groups = profile->groups,
                                                                     .mounts = profile->options->mounts,
                                                                     .type = profile->place.type,
                                                                     .count = count,
                                                                     .context = profile},
                                  &profile->under_way);
}

static int start_events(struct attach_profile *profile) {
    return attach_events_start(profile->options->events,
                               &(struct attach_events_source){.collector = profile->collector,
                                                              .recorder = profile->recorder,
                                                              .resolution = profile->options->resolution,
                                                              .slow_ns = profile->options->slow_ns,
                                                              .path_of = profile->groups ? attach_groups_path : NULL,
                                                              .path_context = profile->groups});
}

static int start_recording(struct attach_profile *profile, bool has_beside) {
    int error = create_recorder_somewhere(profile);
    if (error == 0 && profile->options->interval_ns > 0)
        error = aggstats_recorder_set_interval(profile->recorder, profile->options->interval_ns, 0);
    if (error == 0 && collector_has_caches(profile->collector))
        error = aggstats_recorder_begin_caches(profile->recorder);
    if (error == 0)
        error = counting_lane_open(&profile->lanes[0], profile->recorder);
    if (error == 0 && has_beside)
        error = create_beside(profile);
    if (error == 0 && (profile->options->groupings || profile->options->slow_ns > 0))
        error = attach_groups_start(profile->collector, profile->recorder,
                                    &(struct attach_groups_options){.groupings = profile->options->groupings,
                                                                    .groups_max = profile->options->groups_max,
                                                                    .root = profile->place.root,
                                                                    .mounts = profile->options->mounts},
                                    &profile->groups);
    if (error == 0 && profile->options->events)
        error = start_events(profile);
    if (error == 0 && profile->options->has_under_way)
        error = start_under_way(profile);
    return error;
}

int attach_profile_start(struct attach_profile *ret_profile, const struct attach_options *options,
                         const struct attach_place *place, struct collector *collector, bool has_beside) {
    struct attach_profile *profile = ret_profile;
    *profile = (struct attach_profile){.options = options,
                                       .place = *place,
                                       .is_hidden = has_live_profile(place),
                                       .collector = collector,
                                       .socket = CONTROL_SERVER_NONE};
    pthread_mutex_init(&profile->lock, NULL);
    int error = start_recording(profile, has_beside);
    if (error) {
        if (profile->recorder)
            aggstats_recorder_unlink_live(profile->recorder);
        attach_profile_finish(profile);
        return error;
    }
    profile->saving = (struct saving){.control = &profile->control,
                                      .device = profile->place.device,
                                      .profile = options->profile,
                                      .keeps_old = options->keeps_old};
    profile->control = (struct control){.recorder = profile->recorder,
                                        .dump = saving_dump,
                                        .dump_context = &profile->saving,
                                        .rotate = saving_rotate,
                                        .rotate_context = &profile->saving,
                                        .path_of = profile->groups ? attach_groups_path : NULL,
                                        .number_of = profile->groups ? attach_groups_inode : NULL,
                                        .path_context = profile->groups};
    start_answering(profile);
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------------ */

static void complain_not_saved(const struct attach_profile *profile, int error) {
    const char *why = error == -ELOOP ? "it lies in the mount itself" : strerror(-error);
    if (profile->live_path)
        complain("cannot write the profile of %s to %s: %s; it is in %s, from where 'osprof recover' takes it",
                 profile->place.path, profile->options->profile, why, profile->live_path);
    else
        complain("cannot write the profile of %s to %s: %s", profile->place.path, profile->options->profile, why);
}

void attach_profile_stop(struct attach_profile *profile) {
    if (profile->under_way)
        attach_under_way_stop(profile->under_way);
    collector_stop(profile->collector);
    attach_profile_count(profile);
    if (profile->under_way)
        attach_under_way_take(profile->under_way);
    attach_events_end(profile->options->events);
    if (profile->lost > 0)
        complain(
            "%s: %llu calls are not counted: a CPU was at another one, too many were under way, or the kernel did not "
            "tell their end",
            profile->place.path, (unsigned long long)profile->lost);
}

void attach_profile_leave(struct attach_profile *profile) {
    if (!profile->live_path)
        return;
    profile->is_left = true;
    complain("the profile of %s is in %s, from where 'osprof recover' takes it", profile->place.path,
             profile->live_path);
}

int attach_profile_end(struct attach_profile *profile) {
    while (!control_server_stop(&profile->socket))
        continue; /* its command hangs */
    CLEANUP_FREE char *other = NULL;
    int error = profile->saving.profile ? saving_save(&profile->saving, &other) : 0;
    if (other)
        complain("%s holds the profile of another mount, or a later one; that of %s goes to %s",
                 profile->options->profile, profile->place.path, other);
    if (error)
        complain_not_saved(profile, error);
    else if (!profile->is_left)
        aggstats_recorder_unlink_live(profile->recorder);
    return error ? error : profile->error;
}

void attach_profile_finish(struct attach_profile *profile) {
    while (!control_server_stop(&profile->socket))
        continue;                                      /* its command hangs */
    if (attach_events_end(profile->options->events)) { /* else these are in use until the process ends */
        aggstats_recorder_destroy(profile->recorder);
        aggstats_recorder_destroy(profile->beside);
        attach_under_way_finish(profile->under_way);
        attach_groups_finish(profile->groups);
        collector_finish(profile->collector);
    }
    forget_paths(profile);
    pthread_mutex_destroy(&profile->lock);
}
