/* An existing file of the command line's name is kept as NAME.old once, and the other files must be new. */
#include "event_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "aggstats/caller_groups.h"
#include "base.h"
#include "events_place.h"
#include "log.h"
#include "process.h"
#include "quiet_thread.h"
#include "waiting.h"

#define SLOW_FILES_MAX 16U /* each may be as large as the ring */
#define LOCK_WAIT_S 2
#define END_WAIT_S 4 /* more than events_recorder_stop() waits */

/* ---- Files ---- */

int event_files_find(struct event_files *files, const char *file) {
    int err = file ? events_place_find(file, &files->dir_fd, &files->name) : 0;
    if (err < 0)
        log_message("cannot record events to %s: %s; choose another file with -o events=FILE", file, strerror(-err));
    return err;
}

/* ---- Callbacks of the recorder ---- */

static bool find_task(void *context, uint32_t thread, uint64_t *ret_process, char ret_name[EVENTS_TASK_NAME_SIZE]) {
    struct aggstats_identity identity;
    (void)context;
    if (!process_identify_first(NULL, thread, &identity))
        return false;
    *ret_process = identity.id;
    snprintf(ret_name, EVENTS_TASK_NAME_SIZE, "%.*s", (int)EVENTS_TASK_NAME_SIZE - 1, identity.name);
    return true;
}

/* A name that may be outdated is better than none. Only if there is none the lower file system is asked, for which the
 * saving thread may wait. */
static char *find_path(void *context, uint64_t node) {
    const struct event_files *files = context;
    char name[AGGSTATS_GROUP_NAME_SIZE];
    node_name(files->names, node, false, name);
    if (name[0] != '/')
        node_name(files->names, node, true, name);
    return name[0] == '/' ? strdup(name) : NULL;
}

static int open_slow(void *context) {
    struct event_files *files = context;
    CLEANUP_FREE char *name = NULL;
    time_t now = time(NULL);
    struct tm utc;
    char when[32];
    if (!files->ring_name || files->slow_count == SLOW_FILES_MAX)
        return -ENOENT;
    gmtime_r(&now, &utc);
    strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
    if (asprintf(&name, "%s-%s", files->ring_name, when) < 0)
        return -ENOMEM;
    int fd = events_place_create_new(files->ring_dir_fd, name);
    if (fd < 0) {
        log_message("cannot write events of a slow call to %s: %s", name, strerror(-fd));
        return fd;
    }
    files->slow_count++;
    log_message("a call was slow: what led to it is in %s%s", name,
                files->slow_count == SLOW_FILES_MAX ? ", the last such file until recording begins anew" : "");
    return fd;
}

static void tell(void *context, int err) {
    const struct event_files *files = context;
    if (err < 0)
        log_message("cannot write events to %s: %s; it is tried again, and calls for which the buffers have no room "
                    "meanwhile are dropped and counted",
                    files->shown, strerror(-err));
    else
        log_message("events are written to %s again; if calls are missing from it, it says how many", files->shown);
}

/* ---- Recording ---- */

/* Called once, when labels are known. */
static int create_events(struct event_files *files) {
    int err = aggstats_recorder_snapshot(files->recorder, &files->profile);
    if (err < 0)
        return err;
    const struct events_source source = {
        .recorder = files->recorder,
        .ops = fs_op_events,
        .op_count = FS_OP_COUNT,
        .resolution = files->options->session.resolution,
        .version = files->version,
        .labels = files->profile.labels,
        .label_count = files->profile.label_count,
        .find_task = find_task,
        .find_path = find_path,
        .open_slow = open_slow,
        .tell = tell,
        .context = files,
    };
    return events_recorder_create(&source, &files->events);
}

static void forget_ring(struct event_files *files) {
    close_fd(&files->ring_dir_fd);
    close_fd(&files->ring_fd);
    free(files->ring_name);
    files->ring_name = NULL;
}

/* fd: taken over on success; -1 with a ring */
static int start_recording(struct event_files *files, int fd, const char *name) {
    const struct options *options = files->options;
    const struct events_wanted wanted = {
        .fd = fd,
        .size_bytes = options->events_size_bytes,
        .ring_bytes = options->events_ring_bytes,
        .names = options->events_names,
    };
    char *shown = strdup(name);
    if (!shown)
        return -ENOMEM;
    free(files->shown);
    files->shown = shown;
    int err = events_recorder_start(files->events, &wanted);
    if (err < 0)
        return err;
    files->is_recording = true;
    recording_set_events(files->recording, files->events);
    return 0;
}

/* create: makes the file */
static int record_to(struct event_files *files, int dir_fd, const char *name,
                     int (*create)(int dir_fd, const char *name), const char *shown) {
    if (files->options->events_ring_bytes > 0) { /* written there at the end */
        forget_ring(files);
        files->slow_count = 0;
        files->ring_name = strdup(name);
        files->ring_dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
        return files->ring_name && files->ring_dir_fd >= 0 ? start_recording(files, -1, shown) : -ENOMEM;
    }
    CLEANUP_FD int fd = create(dir_fd, name);
    if (fd < 0)
        return fd;
    int err = start_recording(files, fd, shown);
    if (err < 0)
        unlinkat(dir_fd, name, 0);
    else
        steal_fd(&fd);
    return err;
}

int event_files_start(struct event_files *files) {
    int err = files->options->timing == TIMING_FULL ? create_events(files) : 0;
    if (err == 0 && files->name)
        err = record_to(files, files->dir_fd, files->name, events_place_create, files->options->events);
    if (err < 0)
        log_message("cannot record events%s%s: %s", files->name ? " to " : "",
                    files->name ? files->options->events : "", strerror(-err));
    return err;
}

/* ---- The end ---- */

static int write_ring(struct event_files *files, int dir_fd, const char *name,
                      int (*create)(int dir_fd, const char *name)) {
    CLEANUP_FD int fd = create(dir_fd, name);
    if (fd < 0)
        return fd;
    int err = events_recorder_write_ring(files->events, fd);
    if (err < 0)
        unlinkat(dir_fd, name, 0);
    return err;
}

/* An existing file is an error if a command has named it, and is kept if the command line has. */
static int create_ring_file(int dir_fd, const char *name) {
    int fd = events_place_create_new(dir_fd, name);
    return fd == -EEXIST ? events_place_create(dir_fd, name) : fd;
}

/* Owner: the caller frees it; NULL: no memory */
static char *reason_of_drops(const struct events_state *state, const char *file) {
    char *text = NULL;
    const uint64_t failed = state->failed < state->dropped ? state->failed : state->dropped;
    int length;
    if (failed == 0)
        length = asprintf(&text, "since %s could not be written fast enough", file);
    else if (failed == state->dropped)
        length = asprintf(&text, "since %s could not be written: %s", file, strerror(-state->failure));
    else
        length = asprintf(
            &text, "%" PRIu64 " of them since %s could not be written (%s), the others since that was not fast enough",
            failed, file, strerror(-state->failure));
    return length < 0 ? NULL : text;
}

static void say_what_is_missing(struct event_files *files) {
    struct events_state state;
    events_recorder_state(files->events, &state);
    CLEANUP_FREE char *reason = reason_of_drops(&state, files->shown);
    if (state.is_full)
        log_message("events of %s have reached their size: recording ended there, with %" PRIu64 " calls", files->shown,
                    state.recorded);
    else if (state.dropped > 0 && reason)
        log_message("events: %" PRIu64 " of %" PRIu64 " calls were dropped, %s", state.dropped,
                    state.dropped + state.recorded, reason);
}

/* Call under the lock. */
static int stop_recording(struct event_files *files) {
    if (!files->is_recording)
        return 0;
    recording_set_events(files->recording, NULL);
    int err = events_recorder_stop(files->events);
    if (err < 0)
        return err;
    files->is_recording = false;
    say_what_is_missing(files);
    if (files->ring_name)
        err = write_ring(files, files->ring_dir_fd, files->ring_name, create_ring_file);
    else if (files->ring_fd >= 0)
        err = events_recorder_write_ring(files->events, files->ring_fd);
    forget_ring(files);
    return err;
}

/* Recording ends by itself at its size. */
static bool is_on(struct event_files *files) {
    struct events_state state;
    events_recorder_state(files->events, &state);
    return files->is_recording && state.is_on;
}

static bool has_ring(const struct event_files *files) {
    return files->ring_name || files->ring_fd >= 0;
}

static int record_to_new(struct event_files *files, const char *file) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    bool is_going_on = is_on(files);
    if (is_going_on && !has_ring(files))
        return -EBUSY;
    int err = profile_target_open_new(files->target, file, files->own_device, &dir_fd, &name);
    if (err == 0 && is_going_on)
        return write_ring(files, dir_fd, name, events_place_create_new);
    if (err == 0)
        err = stop_recording(files);
    return err < 0 ? err : record_to(files, dir_fd, name, events_place_create_new, file);
}

/* A duplicate of the descriptor outlives the command. */
static int record_to_open(struct event_files *files, const struct control_file *file) {
    CLEANUP_FD int fd = -1;
    bool is_going_on = is_on(files);
    if (is_going_on && !has_ring(files))
        return -EBUSY;
    int err = control_file_check(file, files->own_device);
    if (err == 0 && (fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 3)) < 0)
        err = negative_errno();
    if (err == 0 && is_going_on)
        return events_recorder_write_ring(files->events, fd);
    if (err == 0)
        err = stop_recording(files);
    if (err == 0 && files->options->events_ring_bytes > 0) { /* written there at the end */
        forget_ring(files);
        files->slow_count = 0;
        files->ring_fd = steal_fd(&fd);
        return start_recording(files, -1, file->name);
    }
    if (err == 0)
        err = start_recording(files, fd, file->name);
    if (err == 0)
        steal_fd(&fd);
    return err;
}

int event_files_command(void *context, const struct control_file *file) {
    struct event_files *files = context;
    if (!files->events)
        return -EOPNOTSUPP;
    if (!lock_within(&files->lock, LOCK_WAIT_S))
        return -ETIMEDOUT; /* a command that hangs in a file system holds the lock */
    int err = !file->name     ? files->is_recording ? stop_recording(files) : -ENODATA
              : file->fd >= 0 ? record_to_open(files, file)
                              : record_to_new(files, file->name);
    pthread_mutex_unlock(&files->lock);
    return err;
}

static void *end_recording(void *context) {
    struct event_files *files = context;
    pthread_mutex_lock(&files->lock);
    int err = stop_recording(files);
    if (err < 0)
        log_message("cannot save all events to %s: %s", files->shown, strerror(-err));
    files->end_hangs = err == -ETIMEDOUT;
    pthread_mutex_unlock(&files->lock);
    return NULL;
}

/* Files may hang, and so may a command, which then holds the lock. Writing a ring may take long, as long as it makes
 * progress. */
bool event_files_end(struct event_files *files) {
    pthread_t thread;
    uint64_t written;
    bool has_ended;
    if (!files->events)
        return true;
    if (quiet_thread_start(&thread, end_recording, files) < 0) {
        end_recording(files);
        return !files->end_hangs;
    }
    do {
        written = events_recorder_ring_written(files->events);
        has_ended = join_within(thread, END_WAIT_S);
    } while (!has_ended && written != events_recorder_ring_written(files->events));
    if (!has_ended)
        log_message("cannot save all events: what writes them hangs");
    return has_ended && !files->end_hangs;
}

void event_files_finish(struct event_files *files) {
    if (files->is_recording)
        event_files_end(files); /* nothing was served */
    events_recorder_destroy(files->events);
    aggstats_profile_finish(&files->profile);
    forget_ring(files);
    close_fd(&files->dir_fd);
    free(files->name);
    free(files->shown);
}
