/* osprof recover: the profile from the live file of an osproffs that was killed, or still runs. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "command.h"
#include "live_dirs.h"
#include "live_files.h"
#include "option_table.h"
#include "output.h"
#include "screen.h"

#define LIVE_END ".live"

struct recover_options {
    const char *output; /* NULL or "-": standard output */
    bool remove;
    const char *live_path;
};

/* ---- Listing ------------------------------------------------------------------------------------ */

/* A line for each live file, with the state of its process. */
static enum status list(void) {
    const struct screen screen = {.stream = stdout};
    CLEANUP_LIVE_FILES struct live_files files = {0};
    struct live_dirs dirs;
    int error = live_files_find(&files);
    if (error) {
        complain("cannot list live files: %s", strerror(-error));
        return STATUS_TROUBLE;
    }
    live_dirs_find(&dirs);
    if (files.count > 0)
        printf("%8s  %-9s  %-19s  %s  %s\n", "PID", "STATE", "SINCE", "LIVE", "MOUNT");
    for (unsigned i = 0; files.count == 0 && i < dirs.count; i++)
        printf("%s %s%s", i > 0 ? " or" : "No live files in", dirs.paths[i], i + 1 == dirs.count ? ".\n" : "");
    for (size_t i = 0; i < files.count; i++) {
        struct live_file *file = &files.files[i];
        char start[32] = "-";
        char pid[32] = "-";
        struct tm tm;
        if (!file->why.message[0])
            live_file_load(file); /* its counts may be broken */
        if (file->why.message[0]) {
            complain("cannot read %s: %s", file->path, file->why.message);
            continue;
        }
        const char *mount = aggstats_profile_label(&file->profile, "mount");
        const time_t seconds = (time_t)(file->profile.start_ns / NS_PER_S);
        if (file->profile.has_start && localtime_r(&seconds, &tm))
            strftime(start, sizeof(start), "%Y-%m-%d %H:%M:%S", &tm);
        if (file->info.pid > 0)
            snprintf(pid, sizeof(pid), "%" PRId64, file->info.pid);
        printf("%8s  %-9s  %-19s  ", pid,
               !file->info.recording ? "dead"
               : file->info.paused   ? "paused"
                                     : "recording",
               start);
        screen_print_untrusted(&screen, INK_PLAIN, file->path);
        fputs("  ", stdout);
        screen_print_untrusted(&screen, INK_PLAIN, mount ? mount : "-");
        putchar('\n');
    }
    return STATUS_OK;
}

/* ---- Recovering --------------------------------------------------------------------------------- */

/* Reads a live file as text, in the format of profiles. */
static int read_as_text(int dir_fd, const char *name, char **ret_text, size_t *ret_size_bytes,
                        struct aggstats_live_info *ret_live, struct aggstats_parse_error *ret_why) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* does not wait for a FIFO */
    if (fd < 0)
        return negative_errno();
    struct aggstats_profile profile;
    int error = aggstats_live_read(fd, &profile, ret_live, ret_why);
    if (error)
        return error;
    error = aggstats_profile_format(&profile, ret_text, ret_size_bytes);
    aggstats_profile_finish(&profile);
    return error;
}

/* Removes the live file, and what belongs to it if its name is one by osproffs, NUMBER.live, or by an observer,
 * NUMBER-NUMBER.live. In a world-writable directory, files of other names may belong to anyone: those of its owner, and of
 * the right type, are ours. */
static enum status remove_live(int dir_fd, const char *name, const char *path) {
    static const struct {
        const char *end;
        mode_t type;
    } others[] = {{".sock", S_IFSOCK}, {".ring", S_IFREG}};
    struct stat live;
    if (fstatat(dir_fd, name, &live, AT_SYMLINK_NOFOLLOW) < 0 || unlinkat(dir_fd, name, 0) < 0) {
        complain("cannot remove %s: %s", path, strerror(errno));
        return STATUS_TROUBLE;
    }
    const char *rest = name + strspn(name, "0123456789");
    if (rest != name && rest[0] == '-' && strspn(rest + 1, "0123456789") > 0)
        rest += 1 + strspn(rest + 1, "0123456789");
    if (rest == name || strcmp(rest, LIVE_END) != 0)
        return STATUS_OK;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        struct stat attr;
        CLEANUP_FREE char *other = NULL;
        if (asprintf(&other, "%.*s%s", (int)(rest - name), name, others[i].end) < 0) {
            other = NULL;
            return STATUS_OK;
        }
        if (fstatat(dir_fd, other, &attr, AT_SYMLINK_NOFOLLOW) == 0 && attr.st_uid == live.st_uid &&
            (attr.st_mode & S_IFMT) == others[i].type)
            unlinkat(dir_fd, other, 0);
    }
    return STATUS_OK;
}

/* The directory is opened once: it may be of another user, who could put another one in its place before the removal. */
static enum status recover(const struct recover_options *options) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    struct aggstats_live_info live = {0};
    struct aggstats_parse_error why = {0};
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    int error = open_parent(AT_FDCWD, options->live_path, &dir_fd, &name);
    if (error == 0)
        error = read_as_text(dir_fd, name, &text, &size_bytes, &live, &why);
    if (error) {
        complain("cannot recover %s: %s; 'osprof recover' lists the live files", options->live_path,
                 error == -EBADMSG && why.message[0] ? why.message : strerror(-error));
        return STATUS_TROUBLE;
    }
    if (live.recording && options->remove) {
        complain("process %" PRId64 " still records into %s: not removed and nothing written; unmount first", live.pid,
                 options->live_path);
        return STATUS_TROUBLE;
    }
    if (live.recording)
        complain("warning: process %" PRId64 " still records into %s: the profile is as of now", live.pid,
                 options->live_path);
    error = output_write(options->output, text, size_bytes);
    if (error) {
        complain("cannot write profile %s: %s; the live file is untouched", options->output, strerror(-error));
        return STATUS_TROUBLE;
    }
    return options->remove ? remove_live(dir_fd, name, options->live_path) : STATUS_OK;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    ROW_OUTPUT("write the profile to FILE, whole or not at all", struct recover_options, output),
    {.name = "remove",
     .help = "remove LIVE once FILE is written; refused while it is in use",
     INTO(FLAG, struct recover_options, remove)},
    ROW_ARGUMENTS(FILE, "[LIVE]"),
    {.kind = OPTION_END},
};

static enum status run_recover(const struct command *command, int argc, char **argv) {
    struct recover_options options = {0};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count > 1)
        return usage_error(command, "one live file at a time, not %d", arguments.rest_count);
    if (options.remove && output_is_stdout(options.output))
        return usage_error(command, "--remove needs -o FILE, so that the profile is safe first");
    if (arguments.rest_count == 0 && options.output)
        return usage_error(command, "no live file given; 'osprof recover' alone lists them");
    if (arguments.rest_count == 0)
        return list();
    options.live_path = arguments.rest[0];
    return recover(&options);
}

const struct command command_recover = {
    .name = "recover",
    .summary = "saves the profile of an osproffs that was killed, from its live file",
    .help = "Writes the profile in the live file LIVE to standard output. Without LIVE: lists the live files in "
            "their usual places, with the state of the process that made them.",
    .options = rows,
    .run = run_recover,
};
