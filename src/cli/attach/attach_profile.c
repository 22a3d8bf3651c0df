#include "attach_profile.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "live_files.h"

#define COUNT_MS 100 /* between additions to the profile */
#define CROWDED_MS 5
#define LOOK_NS NS_PER_S /* between checks that it is still there */

/* ---- Counting ----------------------------------------------------------------------------------- */

static void note_lost(struct attach_profile *profile) {
    const uint64_t lost = collector_lost(profile->collector);
    if (lost > profile->lost)
        aggstats_recorder_add_lost(profile->session.recorder, lost - profile->lost);
    profile->lost = lost;
}

void attach_profile_count(struct attach_profile *profile) {
    pthread_mutex_lock(&profile->lock);
    int error = collector_count(profile->collector, profile->lanes);
    if (error && profile->error == 0) {
        complain("not all calls to %s are counted: %s", profile->place.path, strerror(-error));
        profile->error = error;
        aggstats_recorder_add_lost(profile->session.recorder, 1); /* at least */
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
            if (profile->options->session.slow_ns == 0)
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

/* For struct session_source */
static void tell(void *context, const char *text) {
    (void)context;
    complain("%s", text);
}

/* The kernel counts ns of a clock that a recorder can read too. In a hidden profile the mount point is named only as the
 * place that was profiled. */
static int open_session(struct attach_profile *profile) {
    const struct attach_options *options = profile->options;
    const struct attach_place *place = &profile->place;
    struct session_source source = {.name = place->path,
                                    .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S},
                                    .header = {.layer = options->layer,
                                               .whose = options->whose,
                                               .lower = profile->is_hidden ? place->path : place->source,
                                               .mount = profile->is_hidden ? NULL : place->path,
                                               .filesystem = place->type,
                                               .profile = options->session.profile},
                                    .tag = "-",
                                    .has_socket = true,
                                    .device = place->device,
                                    .catch_up = catch_up,
                                    .tell = tell,
                                    .context = profile};
    source.op_names = collector_ops(profile->collector, &source.op_count);
    const int error = session_open(&profile->session, &options->session, &source);
    if (error == 0)
        return 0;
    complain("%s has no live profile, only a final one: nothing can be made in %s: %s", place->path,
             profile->session.directory, strerror(-error));
    source.tag = NULL;
    return session_open(&profile->session, &options->session, &source);
}

/* In memory alone. */
static int open_beside(struct attach_profile *profile) {
    static const struct session_options options = {.resolution = 1};
    struct session_source source = {.clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S}};
    source.op_names = collector_ops(profile->collector, &source.op_count);
    const int error = session_open(&profile->beside, &options, &source);
    return error ? error : counting_lane_open(&profile->lanes[1], profile->beside.recorder);
}

static int start_under_way(struct attach_profile *profile) {
    return attach_under_way_start(profile->collector, profile->session.recorder,
                                  &(struct attach_under_way_options){.slow_ns = profile->options->session.slow_ns,
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
                                                              .recorder = profile->session.recorder,
                                                              .resolution = profile->options->session.resolution,
                                                              .slow_ns = profile->options->session.slow_ns,
                                                              .path_of = profile->groups ? attach_groups_path : NULL,
                                                              .path_context = profile->groups});
}

/* What names objects, for groups and for slow calls. */
static int start_groups(struct attach_profile *profile) {
    struct session_source *source = &profile->session.source;
    const struct attach_groups_options options = {.groupings = profile->options->session.groupings,
                                                  .root = profile->place.root,
                                                  .mounts = profile->options->mounts};
    const int error =
        attach_groups_start(profile->collector, profile->session.recorder, &options, &profile->groups, source->ways);
    if (error)
        return error;
    source->slow.path_of = attach_groups_path;
    source->slow.number_of = attach_groups_inode;
    source->slow.path_context = profile->groups;
    return 0;
}

static int start_recording(struct attach_profile *profile, bool has_beside) {
    const struct session_options *options = &profile->options->session;
    int error = open_session(profile);
    if (error == 0 && collector_has_caches(profile->collector))
        error = aggstats_recorder_begin_caches(profile->session.recorder);
    if (error == 0)
        error = counting_lane_open(&profile->lanes[0], profile->session.recorder);
    if (error == 0 && has_beside)
        error = open_beside(profile);
    if (error == 0 && (options->groupings || options->slow_ns > 0))
        error = start_groups(profile);
    if (error == 0)
        error = session_record(&profile->session);
    if (error == 0 && profile->options->events)
        error = start_events(profile);
    if (error == 0 && profile->options->has_under_way)
        error = start_under_way(profile);
    return error;
}

int attach_profile_start(struct attach_profile *ret_profile, const struct attach_options *options,
                         const struct attach_place *place, struct collector *collector, bool has_beside) {
    struct attach_profile *profile = ret_profile;
    *profile = (struct attach_profile){
        .options = options, .place = *place, .is_hidden = has_live_profile(place), .collector = collector};
    pthread_mutex_init(&profile->lock, NULL);
    int error = start_recording(profile, has_beside);
    if (error) {
        attach_profile_finish(profile);
        return error;
    }
    if (session_answer(&profile->session) && profile->is_hidden)
        complain("%s has a live profile already, which is shown as before; this one is %s to 'osprof show' and others",
                 profile->place.path, profile->session.socket_path);
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------------ */

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

int attach_profile_end(struct attach_profile *profile) {
    const int error = session_end(&profile->session);
    return error ? error : profile->error;
}

void attach_profile_finish(struct attach_profile *profile) {
    if (attach_events_end(profile->options->events)) { /* else these are in use until the process ends */
        session_finish(&profile->session);
        session_finish(&profile->beside);
        attach_under_way_finish(profile->under_way);
        attach_groups_finish(profile->groups);
        collector_finish(profile->collector);
    }
    pthread_mutex_destroy(&profile->lock);
}
