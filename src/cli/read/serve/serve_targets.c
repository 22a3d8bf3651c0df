/* Reading the profiles that are served. */
#include "serve_targets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "input.h"
#include "live_files.h"
#include "path.h"

#define WAIT_NS NS_PER_S /* for all children together */

/* ---- The list ----------------------------------------------------------------------------------- */

static bool is_same_label(const struct aggstats_profile *a, const struct aggstats_profile *b, const char *key) {
    return view_is_same_in_metrics(aggstats_profile_label(a, key), aggstats_profile_label(b, key));
}

/* Takes the profile over in any case. Of two that are the same to Prometheus the better one stays. */
static int add_target(struct serve_targets *targets, struct serve_target target) {
    struct serve_target *same = NULL;
    for (size_t i = 0; i < targets->count && !same; i++) {
        const struct aggstats_profile *other = &targets->targets[i].profile;
        if (is_same_label(&target.profile, other, "mount") && is_same_label(&target.profile, other, "host") &&
            is_same_label(&target.profile, other, "layer"))
            same = &targets->targets[i];
    }
    if (same) {
        const bool is_better =
            target.is_up != same->is_up ? target.is_up : target.profile.start_ns > same->profile.start_ns;
        struct serve_target worse = is_better ? *same : target;
        if (is_better)
            *same = target;
        aggstats_profile_finish(&worse.profile);
        return 0;
    }
    const int error = grow_array(&targets->targets, targets->count, sizeof(target));
    if (error)
        aggstats_profile_finish(&target.profile);
    else
        targets->targets[targets->count++] = target;
    return error;
}

void serve_targets_finish(struct serve_targets *targets) {
    for (size_t i = 0; i < targets->count; i++)
        aggstats_profile_finish(&targets->targets[i].profile);
    free(targets->targets);
    *targets = (struct serve_targets){0};
}

/* ---- One target --------------------------------------------------------------------------------- */

/* Adds a target without a profile, by its name. */
static int add_down(const struct serve_source *source, struct serve_targets *targets, const char *mount) {
    struct serve_target target = {.is_up = false};
    int error = aggstats_profile_add_label(&target.profile, "layer", "fs");
    if (!error)
        error = aggstats_profile_add_label(&target.profile, "host", source->host);
    if (!error)
        error = aggstats_profile_add_label(&target.profile, "mount", mount);
    if (!error)
        return add_target(targets, target);
    aggstats_profile_finish(&target.profile);
    return -ENOMEM;
}

/* False for a profile that the views could not write: only a damaged file has that, and must not spoil the others. */
static bool is_possible(const struct aggstats_profile *profile) {
    if (!aggstats_resolution_valid(profile->resolution) || profile->clock.frequency_hz == 0 ||
        (unsigned)profile->clock.kind >= SERVE_CLOCKS)
        return false;
    for (size_t i = 0; i < profile->op_count; i++)
        for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
            if (profile->ops[i].buckets[bucket] > INT64_MAX)
                return false;
    return true;
}

/* Takes the profile over. name: used if the header does not name the mount. daemon: NULL: nothing is known of it */
static int add_profile(struct serve_source *source, struct serve_targets *targets, struct aggstats_profile *profile,
                       const char *name, bool is_recorded, const struct daemon_state *daemon) {
    struct serve_target target = {.profile = *profile, .is_up = is_recorded && is_possible(profile)};
    if (daemon)
        target.daemon = *daemon;
    *profile = (struct aggstats_profile){0};
    if (target.is_up) {
        uint64_t *rate_hz = &source->rates_hz[target.profile.clock.kind];
        if (*rate_hz == 0)
            *rate_hz = target.profile.clock.frequency_hz;
        target.profile.clock.frequency_hz = *rate_hz;
    }
    if (!aggstats_profile_label(&target.profile, "mount") &&
        aggstats_profile_add_label(&target.profile, "mount", name) != 0) {
        aggstats_profile_finish(&target.profile);
        return -ENOMEM;
    }
    return add_target(targets, target);
}

/* ---- Daemons ------------------------------------------------------------------------------------ */

/* The state of a live file's daemon, judged by this scrape and those before; without memory it works. */
static struct daemon_state look_at(struct serve_source *source, const struct live_file *file) {
    const struct daemon_state works = {.trouble = DAEMON_WORKS};
    size_t place = 0;
    if (!file->info.recording)
        return works;
    while (place < source->watched_count && strcmp(source->watched[place].live, file->path) != 0)
        place++;
    if (place == source->watched_count) {
        struct serve_watched added = {.live = strdup(file->path)};
        if (!added.live || grow_array(&source->watched, place, sizeof(added)) != 0) {
            free(added.live);
            return works;
        }
        source->watched[source->watched_count++] = added;
    }
    source->watched[place].is_seen = true;
    return daemon_watch_look(&source->watched[place].watch, &file->profile, file->info.pid, 0);
}

/* ---- All mounts --------------------------------------------------------------------------------- */

static int add_found(struct serve_source *source, struct serve_targets *targets, struct live_file *file) {
    if (file->why.message[0])
        return add_down(source, targets, file->path);
    if (!aggstats_profile_label(&file->profile, "mount"))
        return 0; /* of another program than osproffs */
    const int error = live_file_load(file);
    if (error)
        return error == -EBADMSG ? add_down(source, targets, file->path) : 0; /* gone meanwhile */
    const struct daemon_state daemon = look_at(source, file);
    return add_profile(source, targets, &file->profile, file->path, file->info.recording, &daemon);
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

/* Runs in the child. */
static int read_argument(const char *text, char **ret_text, size_t *ret_bytes) {
    struct input input;
    struct input_layer layer = {.name = NULL};
    int error = input_load(text, &layer, &input);
    if (error)
        return error;
    error = input.counting ? aggstats_profile_format(&input.profile, ret_text, ret_bytes) : -ESRCH;
    input_finish(&input);
    return error;
}

/* Takes what the child has read, and waits for it if it was started for this scrape. */
static int add_asked(struct serve_source *source, struct serve_targets *targets, struct serve_argument *argument) {
    struct control_reader *reader = &argument->reader;
    struct aggstats_profile profile = {0};
    int error = control_reader_collect(reader, &profile);
    while (error == -EAGAIN && reader->pid > 0 && control_reader_age_ns(reader) < WAIT_NS) {
        control_reader_wait(reader, WAIT_NS - control_reader_age_ns(reader));
        error = control_reader_collect(reader, &profile);
    }
    return error ? add_down(source, targets, argument->path)
                 : add_profile(source, targets, &profile, argument->path, true, NULL);
}

/* Reads those with a live file first, while children read the others. */
static int add_arguments(struct serve_source *source, struct serve_targets *targets, struct live_files *files) {
    CLEANUP_FREE bool *is_asked = calloc(source->count, sizeof(*is_asked));
    int error = is_asked ? 0 : -ENOMEM;
    for (size_t i = 0; i < source->count && !error; i++) {
        struct serve_argument *argument = &source->arguments[i];
        struct live_file *file = live_files_serving(files, argument->path);
        for (size_t j = 0; j < files->count; j++)
            if (strcmp(files->files[j].path, argument->path) == 0 && files->files[j].info.recording)
                file = &files->files[j];
        is_asked[i] = !file || live_file_load(file) != 0;
        if (is_asked[i]) { /* a late result of an earlier, hanging child is outdated, and dropped */
            struct aggstats_profile old = {0};
            if (control_reader_collect(&argument->reader, &old) == 0)
                aggstats_profile_finish(&old);
            control_reader_begin_with(&argument->reader, read_argument, argument->text);
            continue;
        }
        const struct daemon_state daemon = look_at(source, file);
        error = add_profile(source, targets, &file->profile, argument->path, true, &daemon);
    }
    for (size_t i = 0; i < source->count && !error; i++)
        if (is_asked[i])
            error = add_asked(source, targets, &source->arguments[i]);
    return error;
}

/* ---- The whole ---------------------------------------------------------------------------------- */

int serve_source_read(struct serve_source *source, struct serve_targets *ret_targets) {
    struct serve_targets targets = {0};
    CLEANUP_LIVE_FILES struct live_files files = {0};
    int error = live_files_find(&files);
    for (size_t i = 0; i < files.count && !error && source->count == 0; i++)
        error = add_found(source, &targets, &files.files[i]);
    if (!error && source->count > 0)
        error = add_arguments(source, &targets, &files);
    size_t kept = 0;
    for (size_t i = 0; i < source->watched_count; i++) { /* daemons that this scrape has not seen have ended */
        struct serve_watched watched = source->watched[i];
        if (watched.is_seen) {
            watched.is_seen = false;
            source->watched[kept++] = watched;
        } else {
            free(watched.live);
        }
    }
    source->watched_count = kept;
    if (error)
        serve_targets_finish(&targets);
    else
        *ret_targets = targets;
    return error;
}

int serve_targets_format(const struct serve_source *source, const struct serve_targets *targets, struct serve_why *why,
                         const struct view *view, char **ret_text, size_t *ret_size_bytes) {
    CLEANUP_FREE struct view_target *all = calloc(targets->count + 1, sizeof(*all));
    struct view_wait waits[WAIT_SERIES_MAX];
    struct aggstats_profile machine = {.resolution = 0}; /* waits have the label of the machine */
    size_t count = targets->count;
    if (!all || (why && aggstats_profile_add_label(&machine, "host", source->host) != 0))
        return -ENOMEM;
    for (size_t i = 0; i < targets->count; i++) {
        const struct serve_target *target = &targets->targets[i];
        all[i] = (struct view_target){.profile = &target->profile,
                                      .is_up = target->is_up,
                                      .is_stuck = target->daemon.trouble != DAEMON_WORKS,
                                      .knows_waiting = target->is_up && target->daemon.knows_unanswered,
                                      .waiting = target->daemon.waiting};
    }
    if (why)
        all[count++] =
            (struct view_target){.profile = &machine, .waits = waits, .wait_count = serve_why_take(why, waits)};
    int error = view_format_all(view, all, count, ret_text, ret_size_bytes);
    aggstats_profile_finish(&machine);
    return error;
}

int serve_source_init(struct serve_source *ret_source, char *const *arguments, size_t count) {
    struct serve_source source = {.arguments = calloc(count + 1, sizeof(*source.arguments))};
    int error = source.arguments ? 0 : -ENOMEM;
    gethostname(source.host, sizeof(source.host) - 1);
    for (; source.count < count && !error; source.count++) {
        struct serve_argument *argument = &source.arguments[source.count];
        *argument =
            (struct serve_argument){.text = arguments[source.count], .path = path_normalise(arguments[source.count])};
        error = argument->path ? 0 : -ENOMEM;
    }
    if (error)
        serve_source_finish(&source);
    else
        *ret_source = source;
    return error;
}

void serve_source_finish(struct serve_source *source) {
    for (size_t i = 0; i < source->count; i++) {
        control_reader_finish(&source->arguments[i].reader);
        free(source->arguments[i].path);
    }
    for (size_t i = 0; i < source->watched_count; i++)
        free(source->watched[i].live);
    free(source->watched);
    free(source->arguments);
    *source = (struct serve_source){0};
}
