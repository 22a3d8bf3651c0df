/* Finding and reading a growing profile, and going from snapshot to snapshot. */
#include "top_watch.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "input.h"
#include "live_files.h"
#include "path.h"
#include "proc.h"
#include "screen.h"

/* ---- Without an argument ------------------------------------------------------------------------ */

/* Finds the path of the only live file that is being recorded to. */
static int find_only(char **ret_path) {
    const struct screen screen = {.stream = stderr};
    CLEANUP_LIVE_FILES struct live_files files = {0};
    size_t recording_count = 0;
    struct live_file *only = NULL;
    const int error = live_files_find(&files);
    if (error) {
        complain("cannot look for live files: %s", strerror(-error));
        return error;
    }
    for (size_t i = 0; i < files.count; i++) {
        if (!files.files[i].info.recording)
            continue;
        only = &files.files[i];
        recording_count++;
    }
    if (recording_count == 1) {
        *ret_path = steal_pointer(&only->path);
        return 0;
    }
    if (recording_count == 0) {
        complain("nothing is profiled here; osproffs LOWER MNT or osprof attach DIR begins it, osprof top -a shows all "
                 "threads; of another user's, name the live file");
        return -ENOENT;
    }
    complain("%zu mounts are being profiled; name one of them:", recording_count);
    for (size_t i = 0; i < files.count; i++) {
        const char *mount = aggstats_profile_label(&files.files[i].profile, "mount");
        if (!files.files[i].info.recording)
            continue;
        fputs("  ", stderr);
        screen_print_untrusted(&screen, INK_PLAIN, mount ? mount : files.files[i].path);
        putc('\n', stderr);
    }
    return -EINVAL;
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

static int complain_unusable(const char *argument, int error) {
    if (error == -ENOTCONN)
        input_complain_dead(argument);
    else
        complain("cannot watch %s: %s; a mount point of osproffs or the live file of one that runs is expected",
                 argument, strerror(-error));
    return error;
}

/* A live file whose process has ended does not change any more. */
static int open_live(const char *argument, const char *path, struct top_source *ret_source) {
    struct aggstats_profile profile = {0};
    struct aggstats_live_info info;
    struct aggstats_parse_error why = {0};
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return complain_unusable(argument, negative_errno());
    const int error = aggstats_live_read(fd, &profile, &info, &why);
    aggstats_profile_finish(&profile);
    if (error == -EBADMSG) {
        complain("cannot watch %s: %s", argument, why.message);
        return error;
    }
    if (error && error != -EAGAIN)
        return complain_unusable(argument, error);
    if (error == 0 && !info.recording) {
        complain("cannot watch %s: nothing records into it any more; 'osprof show %s' shows what it holds", argument,
                 argument);
        return -ESRCH;
    }
    char *copy = strdup(path);
    if (!copy)
        return complain_unusable(argument, -ENOMEM);
    *ret_source = (struct top_source){.path = copy, .live_fd = steal_fd(&fd)};
    return 0;
}

/* Opens a control file for reading.
 * Errors:  -ENOTCONN it is an ordinary file, or none */
static int open_control(const char *path, int *ret_fd) {
    CLEANUP_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct statfs fs;
    if (fd < 0 || fstatfs(fd, &fs) < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ECONNABORTED ? -ENOTCONN : negative_errno();
    if (fs.f_type != FUSE_SUPER_MAGIC)
        return -ENOTCONN;
    *ret_fd = steal_fd(&fd);
    return 0;
}

static int complain_other(const char *argument) {
    complain("cannot watch %s: it is not the mount point of an osproffs, nor the live file of one that runs", argument);
    return -EINVAL;
}

static int take_control(const char *argument, char *path, struct top_source *ret_source) {
    CLEANUP_FREE char *owned = path;
    CLEANUP_FD int fd = -1;
    int error = owned ? open_control(owned, &fd) : -ENOMEM;
    if (error == -ENOTCONN)
        return complain_other(argument);
    if (error)
        return complain_unusable(argument, error);
    *ret_source = (struct top_source){.path = steal_pointer(&owned), .live_fd = -1};
    return 0;
}

int top_source_open(const char *argument, struct top_source *ret_source) {
    CLEANUP_FREE char *live_path = NULL;
    struct stat attributes;
    const int error = argument ? input_find_live(argument, &live_path) : find_only(&live_path);
    if (error == 0)
        return open_live(argument ? argument : live_path, live_path, ret_source);
    if (!argument)
        return error;
    CLEANUP_FD int fd = open(argument, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &attributes) < 0)
        return complain_unusable(argument, negative_errno());
    if (S_ISREG(attributes.st_mode) && aggstats_live_is(fd))
        return open_live(argument, argument, ret_source);
    if (S_ISREG(attributes.st_mode))
        return take_control(argument, strdup(argument), ret_source);
    if (S_ISDIR(attributes.st_mode))
        return take_control(argument, path_join(argument, ".osprof"), ret_source);
    return complain_other(argument);
}

/* ---- Snapshots ---------------------------------------------------------------------------------- */

static int read_control(const char *path, struct top_snapshot *snapshot) {
    CLEANUP_FD int fd = -1;
    int error = open_control(path, &fd);
    if (error)
        return error;
    CLEANUP_STREAM FILE *stream = fdopen(fd, "r");
    if (!stream)
        return negative_errno();
    steal_fd(&fd);
    struct aggstats_parse_error why;
    return aggstats_profile_parse(stream, &snapshot->profile, &why);
}

/* Takes a snapshot.
 * Owner:   the caller finishes *ret_snapshot
 * Errors:  -ENOTCONN there is none: the mount has ended; -EAGAIN none at this moment; -EBADMSG the file is no profile,
 *          -ENOMEM, and those of opening and reading; *ret_snapshot untouched */
static int take_snapshot(const struct top_source *source, struct top_snapshot *ret_snapshot) {
    struct top_snapshot snapshot = {.paused = false};
    struct aggstats_live_info info = {.recording = true}; /* a control file does not say more */
    int error = source->live_fd >= 0 ? aggstats_live_read(source->live_fd, &snapshot.profile, &info, NULL)
                                     : read_control(source->path, &snapshot);
    if (error)
        return error;
    snapshot.paused = info.paused;
    snapshot.pid = info.recording ? info.pid : 0;
    snapshot.has_ended = !info.recording;
    snapshot.taken_ns = read_clock_ns(CLOCK_REALTIME);
    *ret_snapshot = snapshot;
    return 0;
}

const char *top_source_reason(int error) {
    switch (error) {
    case -EBADMSG:
        return "what is there is not a profile";
    case -EAGAIN:
        return "it is being reset again and again";
    case -ENOTCONN:
        return "it has just ended";
    default:
        return strerror(-error);
    }
}

void top_watch_init(struct top_watch *watch, struct top_source *source, enum top_order order) {
    *watch = (struct top_watch){.source = *source, .order = order};
    *source = (struct top_source){.live_fd = -1};
}

static void forget(struct top_snapshot *snapshot, bool *has_snapshot) {
    if (*has_snapshot)
        aggstats_profile_finish(&snapshot->profile);
    *has_snapshot = false;
}

void top_watch_finish(struct top_watch *watch) {
    forget(&watch->mark, &watch->has_mark);
    forget(&watch->previous, &watch->has_previous);
    forget(&watch->latest, &watch->has_latest);
    top_callers_finish(&watch->callers);
    top_frame_finish(&watch->frame);
    free(watch->source.path);
    close_fd(&watch->source.live_fd);
}

/* Makes the frame of the current snapshots. */
static int make_frame(struct top_watch *watch) {
    const struct aggstats_profile *before = NULL;
    if (watch->summing)
        before = watch->has_mark ? &watch->mark.profile : NULL;
    else
        before = watch->has_previous ? &watch->previous.profile : NULL;
    struct top_frame frame;
    int error = top_frame_make(before, &watch->latest.profile, &frame);
    if (error)
        return error;
    for (size_t i = 0; i < frame.profile.in_flight_count; i++) {
        struct aggstats_call *call = &frame.profile.in_flight[i];
        if (!call->program[0]) /* live files do not have it */
            proc_name_read(call->pid, call->program, sizeof(call->program));
    }
    top_frame_sort(&frame, watch->order);
    top_frame_finish(&watch->frame);
    watch->frame = frame;
    watch->since_beginning = !before;
    return 0;
}

/* Counts from before the recording began anew do not matter any more. */
static int begin_anew(struct top_watch *watch) {
    forget(&watch->mark, &watch->has_mark);
    forget(&watch->previous, &watch->has_previous);
    watch->began_anew = true;
    return make_frame(watch);
}

static int update_frame(struct top_watch *watch) {
    int error = make_frame(watch);
    return error == -ERANGE ? begin_anew(watch) : error;
}

static int take(struct top_watch *watch, const struct top_snapshot *snapshot) {
    const struct aggstats_profile *previous = &watch->previous.profile;
    struct aggstats_profile *latest = &watch->latest.profile;
    const bool was_in_trouble = watch->daemon.trouble == DAEMON_STOPPED || watch->daemon.trouble == DAEMON_STUCK;
    /* If callers are asked for through the mount itself, that waits for the daemon too. */
    const uint64_t own = watch->callers.reader.pid > 0 && watch->callers.is_in_mount;
    watch->daemon = daemon_watch_look(&watch->daemon_watch, &snapshot->profile, snapshot->pid, own);
    watch->daemon_is_back = was_in_trouble && watch->daemon.trouble == DAEMON_WORKS && snapshot->pid > 0;
    forget(&watch->previous, &watch->has_previous);
    watch->previous = watch->latest;
    watch->has_previous = watch->has_latest;
    watch->latest = *snapshot;
    watch->has_latest = true;
    watch->has_asked = false;
    watch->is_fresh = true;
    watch->has_ended = snapshot->has_ended;
    /* A control file does not say so, but its elapsed time does not advance. */
    watch->is_paused = snapshot->paused || (watch->has_previous && latest->has_elapsed &&
                                            latest->elapsed_cycles == previous->elapsed_cycles);
    if (watch->has_previous && !top_is_one_recording(previous, latest))
        return begin_anew(watch);
    /* A process notes its end a moment before it ends: a snapshot in between has more elapsed time than the last one, but
     * no more calls. */
    if (watch->has_ended && watch->has_previous && latest->elapsed_cycles < previous->elapsed_cycles)
        latest->elapsed_cycles = previous->elapsed_cycles;
    return update_frame(watch);
}

/* ---- Callers ------------------------------------------------------------------------------------ */

bool top_watch_collect_callers(struct top_watch *watch) {
    return top_callers_collect(&watch->callers, &watch->latest.profile, watch->summing, watch->order);
}

/* An answer that nobody has taken yet is the last one, not the next. */
void top_watch_ask_callers(struct top_watch *watch) {
    if (watch->callers.wanted == TOP_CALLERS_UNWANTED || !watch->has_latest || watch->has_ended)
        return;
    top_watch_collect_callers(watch);
    if (watch->callers.wanted == TOP_CALLERS_IF_ANY && watch->callers.error == -ENODATA && !watch->began_anew)
        return;
    watch->has_asked = true;
    top_callers_ask(&watch->callers, &watch->latest.profile, watch->source.live_fd < 0 ? watch->source.path : NULL);
}

void top_watch_want_callers(struct top_watch *watch, enum top_callers_wanted wanted) {
    bool begins = wanted > watch->callers.wanted;
    watch->callers.wanted = wanted;
    if (begins && (!watch->has_asked || watch->callers.error))
        top_watch_ask_callers(watch);
}

void top_watch_await_callers(struct top_watch *watch) {
    int64_t left_ns;
    top_watch_collect_callers(watch);
    while ((left_ns = top_callers_due_ns(&watch->callers)) >= 0) {
        control_reader_wait(&watch->callers.reader, left_ns);
        top_watch_collect_callers(watch);
    }
}

void top_watch_regroup(struct top_watch *watch) {
    top_callers_regroup(&watch->callers, watch->summing, watch->order);
}

/* ---- Snapshots ---------------------------------------------------------------------------------- */

int top_watch_refresh(struct top_watch *watch) {
    struct top_snapshot snapshot;
    watch->is_fresh = false;
    watch->began_anew = false;
    int error = take_snapshot(&watch->source, &snapshot);
    if (error == -ENOTCONN)
        watch->has_ended = true;
    if (error == -ENOTCONN || error == -EAGAIN)
        return 0;
    if (!error)
        error = take(watch, &snapshot);
    if (!error)
        top_watch_ask_callers(watch);
    return error;
}

int top_watch_sum(struct top_watch *watch, bool summing) {
    bool before = watch->summing;
    watch->summing = summing;
    int error = update_frame(watch);
    if (error)
        watch->summing = before;
    else
        top_callers_update(&watch->callers, summing, watch->order);
    return error;
}

int top_watch_begin_here(struct top_watch *watch) {
    struct top_snapshot mark = watch->latest;
    int error = aggstats_profile_copy(&watch->latest.profile, &mark.profile);
    if (error)
        return error;
    forget(&watch->mark, &watch->has_mark);
    watch->mark = mark;
    watch->has_mark = true;
    top_callers_begin_here(&watch->callers);
    return top_watch_sum(watch, true);
}

void top_watch_sort(struct top_watch *watch, enum top_order order) {
    watch->order = order;
    top_frame_sort(&watch->frame, order);
    top_callers_frame_sort(&watch->callers.frame, order);
}
