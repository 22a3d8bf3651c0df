/* Calls are counted in the kernel; one thread adds them to the recorder every tenth of a second, and before each command. */
#include "attach_profile.h"

#include <poll.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "live_files.h"

#define COUNT_MS 100 /* between additions to the profile */
#define CROWDED_MS 5
#define LOOK_NS NS_PER_S /* between checks that it is still there */

/* ---- Counting ----------------------------------------------------------------------------------- */

/* Adds what has been counted by now.
 * Errors: reported to the user, once.
 * Threads: any.
 * context: a struct attach_profile, for struct attach_under_way_options */
static void count(void *context) {
    struct attach_profile *profile = context;
    pthread_mutex_lock(&profile->lock);
    int error = collector_count(profile->collector, profile->lanes);
    if (error && profile->error == 0) {
        complain("not all calls to %s are counted: %s", profile->place.path, strerror(-error));
        profile->error = error;
        aggstats_recorder_add_lost(profile->session.recorder, 1); /* at least */
    }
    const uint64_t lost = collector_lost(profile->collector);
    if (lost > profile->lost)
        aggstats_recorder_add_lost(profile->session.recorder, lost - profile->lost);
    profile->lost = lost;
    profile->counted_ns = read_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&profile->lock);
}

/* For struct session_source */
static void catch_up(void *context) {
    struct attach_profile *profile = context;
    attach_under_way_look(profile->under_way);
    count(profile);
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
                attach_under_way_look(profile->under_way);
        }
        const int pause_ms = collector_is_crowded(profile->collector) ? CROWDED_MS : COUNT_MS;
        const int ready = poll(events, 2, pause_ms);
        if (ready > 0 && events[0].revents && signals_take_ending(signals) != 0)
            return true;
        if (ready > 0 && events[1].revents)
            attach_under_way_take(profile->under_way);
        /* Do not add counts just after a request: the reader takes the totals first and the groups later, and they must
         * match. */
        pthread_mutex_lock(&profile->lock);
        const int64_t since_ns = read_clock_ns(CLOCK_MONOTONIC) - profile->counted_ns;
        pthread_mutex_unlock(&profile->lock);
        if (since_ns >= pause_ms * NS_PER_MS)
            count(profile);
    }
    return true;
}

/* ---- Starting ----------------------------------------------------------------------------------- */

/* For struct session_source */
static void tell(void *context, const char *text) {
    (void)context;
    complain("%s", text);
}

/* Opens the recorder, with a live file if one can be made. The kernel counts ns of a clock that a recorder can read too.
 * In a hidden profile the mount point is named only as the place that was profiled. */
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
                                               .profile = options->result},
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

/* Begins what the options ask for besides counting. Groups name objects for slow calls, too. */
static int start_recording(struct attach_profile *profile) {
    const struct attach_options *options = profile->options;
    struct collector *collector = profile->collector;
    struct aggstats_recorder *recorder = profile->session.recorder;
    struct session_source *source = &profile->session.source;
    const uint64_t slow_ns = options->session.slow_ns;
    int error = 0;
    if (options->session.groupings || slow_ns > 0) {
        const struct attach_groups_options groups = {
            .groupings = options->session.groupings, .root = profile->place.root, .mounts = options->mounts};
        error = attach_groups_start(collector, recorder, &groups, &profile->groups, source->ways);
        source->slow.path_of = attach_groups_path;
        source->slow.number_of = attach_groups_inode;
        source->slow.path_context = profile->groups;
    }
    if (error == 0)
        error = session_record(&profile->session);
    if (error == 0 && options->events) {
        const struct attach_events_source events = {.collector = collector,
                                                    .recorder = recorder,
                                                    .resolution = options->session.resolution,
                                                    .slow_ns = slow_ns,
                                                    .path_of = profile->groups ? attach_groups_path : NULL,
                                                    .path_context = profile->groups};
        error = attach_events_start(options->events, &events);
    }
    if (error == 0 && options->has_under_way) {
        const struct attach_under_way_options under_way = {.slow_ns = slow_ns,
                                                           .causes = options->causes,
                                                           .stacks = options->stacks,
                                                           .slow_log = options->slow_log,
                                                           .events = options->events,
                                                           .groups = profile->groups,
                                                           .mounts = options->mounts,
                                                           .type = profile->place.type,
                                                           .count = count,
                                                           .context = profile};
        error = attach_under_way_start(collector, recorder, &under_way, &profile->under_way);
    }
    return error;
}

int attach_profile_start(struct attach_profile *ret_profile, const struct attach_options *options,
                         const struct attach_place *place, struct collector *collector, bool has_beside) {
    struct attach_profile *profile = ret_profile;
    CLEANUP_LIVE_FILES struct live_files files = {.files = NULL};
    *profile = (struct attach_profile){.options = options, .place = *place, .collector = collector};
    /* If osproffs or another observer profiles the place too, its profile stays visible. */
    profile->is_hidden = (place->type && strcmp(place->type, "fuse.osproffs") == 0) ||
                         (live_files_find(&files) == 0 && live_files_serving(&files, place->path));
    pthread_mutex_init(&profile->lock, NULL);
    int error = open_session(profile);
    if (error == 0 && collector_has_caches(collector))
        error = aggstats_recorder_begin_caches(profile->session.recorder);
    if (error == 0)
        error = counting_lane_open(&profile->lanes[0], profile->session.recorder);
    if (error == 0 && has_beside)
        error = open_beside(profile);
    if (error == 0)
        error = start_recording(profile);
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
    attach_under_way_stop(profile->under_way);
    collector_stop(profile->collector);
    count(profile);
    attach_under_way_take(profile->under_way);
    attach_events_end(profile->options->events);
    if (profile->lost > 0)
        complain(
            "%s: not measured: %llu calls (a CPU was at another one, too many were under way, or the kernel did not "
            "report their end)",
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
