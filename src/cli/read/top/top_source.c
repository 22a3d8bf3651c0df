/* Finding and reading a growing profile. */
#include "top_source.h"

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
#include "screen.h"

/* ---- Without an argument ------------------------------------------------------------------------ */

static const char *name_of(const struct live_file *file) {
    const char *mount = aggstats_profile_label(&file->profile, "mount");
    return mount ? mount : file->path;
}

static void list_recording(const struct live_files *files) {
    const struct screen screen = {.stream = stderr};
    for (size_t i = 0; i < files->count; i++) {
        if (!files->files[i].info.recording)
            continue;
        fputs("  ", stderr);
        screen_print_untrusted(&screen, INK_PLAIN, name_of(&files->files[i]));
        putc('\n', stderr);
    }
}

/* Takes the path of the only live file that is being recorded to. */
static int take_only(struct live_files *files, char **ret_path) {
    size_t recording_count = 0;
    struct live_file *only = NULL;
    for (size_t i = 0; i < files->count; i++) {
        if (files->files[i].info.recording) {
            only = &files->files[i];
            recording_count++;
        }
    }
    if (recording_count == 1) {
        *ret_path = steal_pointer(&only->path);
        return 0;
    }
    if (recording_count == 0) {
        complain("no mount of osproffs has a live file here; name the mount point, or the live file");
        return -ENOENT;
    }
    complain("%zu mounts are being profiled; name one of them:", recording_count);
    list_recording(files);
    return -EINVAL;
}

static int find_only(char **ret_path) {
    CLEANUP_LIVE_FILES struct live_files files = {0};
    const int error = live_files_find(&files);
    if (error) {
        complain("cannot look for live files: %s", strerror(-error));
        return error;
    }
    return take_only(&files, ret_path);
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
static int check_recording(const char *argument, int fd) {
    struct aggstats_profile profile;
    struct aggstats_live_info info;
    struct aggstats_parse_error why = {0};
    int error = aggstats_live_read(fd, &profile, &info, &why);
    if (error == -EBADMSG) {
        complain("cannot watch %s: %s", argument, why.message);
        return error;
    }
    if (error == -EAGAIN)
        return 0;
    if (error)
        return complain_unusable(argument, error);
    aggstats_profile_finish(&profile);
    if (info.recording)
        return 0;
    complain("cannot watch %s: nothing records into it any more; 'osprof show %s' shows what it holds", argument,
             argument);
    return -ESRCH;
}

static int open_live(const char *argument, const char *path, struct top_source *ret_source) {
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return complain_unusable(argument, negative_errno());
    int error = check_recording(argument, fd);
    if (error)
        return error;
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

static int open_path(const char *argument, struct top_source *ret_source) {
    CLEANUP_FD int fd = open(argument, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat attributes;
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

int top_source_open(const char *argument, struct top_source *ret_source) {
    CLEANUP_FREE char *live_path = NULL;
    int error = argument ? input_find_live(argument, &live_path) : find_only(&live_path);
    if (argument && error)
        return open_path(argument, ret_source);
    return error ? error : open_live(argument ? argument : live_path, live_path, ret_source);
}

void top_source_finish(struct top_source *source) {
    free(source->path);
    close_fd(&source->live_fd);
    *source = (struct top_source){.live_fd = -1};
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

static int read_live(int fd, struct top_snapshot *snapshot) {
    struct aggstats_live_info info;
    int error = aggstats_live_read(fd, &snapshot->profile, &info, NULL);
    if (error)
        return error;
    snapshot->paused = info.paused;
    snapshot->pid = info.recording ? info.pid : 0;
    snapshot->has_ended = !info.recording;
    return 0;
}

int top_source_read(const struct top_source *source, struct top_snapshot *ret_snapshot) {
    struct top_snapshot snapshot = {.paused = false};
    int error = source->live_fd >= 0 ? read_live(source->live_fd, &snapshot) : read_control(source->path, &snapshot);
    if (error)
        return error;
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

void top_snapshot_finish(struct top_snapshot *snapshot) {
    aggstats_profile_finish(&snapshot->profile);
    *snapshot = (struct top_snapshot){0};
}
