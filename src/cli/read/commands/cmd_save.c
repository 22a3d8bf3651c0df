/* osprof save: profiles into a file: of mounts, live files, results; of several the sum. Only one of them is in memory at
 * a time. Each layer has a sum of its own, and several sums make a recording. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "input.h"
#include "json_writer.h"
#include "kept.h"
#include "live_dirs.h"
#include "live_files.h"
#include "mount_command.h"
#include "name_set.h"
#include "option_table.h"
#include "output.h"
#include "recording.h"
#include "screen.h"
#include "units.h"

#define LIVE_END ".live"
#define PROGRESS_INTERVAL_NS 100000000

struct save_options {
    const char *layer;  /* NULL: all */
    const char *output; /* NULL or "-": standard output */
    bool rotates;
    bool removes;
    bool lists;
    bool json;
};

/* ---- Listing ------------------------------------------------------------------------------------ */

/* A live file and its process, in words. */
struct live_row {
    const struct live_file *file;
    const char *state;
    const char *mount; /* NULL: unknown */
    char start[32];    /* "": unknown */
};

static struct live_row row_of(const struct live_file *file) {
    struct live_row row = {.file = file,
                           .state = !file->info.recording ? "dead"
                                    : file->info.paused   ? "paused"
                                                          : "active",
                           .mount = aggstats_profile_label(&file->profile, "mount")};
    const time_t seconds = (time_t)(file->profile.start_ns / NS_PER_S);
    struct tm tm;
    if (file->profile.has_start && localtime_r(&seconds, &tm))
        strftime(row.start, sizeof(row.start), "%Y-%m-%d %H:%M:%S", &tm);
    return row;
}

static void print_row(const struct live_row *row) {
    const struct screen screen = screen_of_stdout();
    char pid[32] = "-";
    if (row->file->info.pid > 0)
        snprintf(pid, sizeof(pid), "%" PRId64, row->file->info.pid);
    printf("%8s  %-9s  %-19s  ", pid, row->state, row->start[0] ? row->start : "-");
    screen_print_untrusted(&screen, INK_PLAIN, row->file->path);
    fputs("  ", stdout);
    screen_print_untrusted(&screen, INK_PLAIN, row->mount ? row->mount : "-");
    putchar('\n');
}

static void write_row(struct json_writer *writer, const struct live_row *row) {
    json_begin(writer, NULL, '{');
    json_text(writer, "path", row->file->path);
    json_text(writer, "state", row->state);
    if (row->file->info.pid > 0)
        json_count(writer, "pid", (wide_count)row->file->info.pid);
    if (row->start[0])
        json_text(writer, "since", row->start);
    if (row->mount)
        json_text(writer, "mount", row->mount);
    json_end(writer, '}');
}

/* Each live file, with the state of its process; as JSON after docs/lists.schema.json. */
static enum status list_live(bool has_json) {
    CLEANUP_LIVE_FILES struct live_files files = {0};
    struct json_writer writer = {.stream = stdout};
    struct live_dirs dirs;
    int error = live_files_find(&files);
    if (error) {
        complain("cannot list live files: %s", strerror(-error));
        return STATUS_TROUBLE;
    }
    live_dirs_find(&dirs);
    if (has_json) {
        json_begin(&writer, NULL, '{');
        json_count(&writer, "version", 1);
        json_begin(&writer, "live_files", '[');
    } else if (files.count > 0) {
        printf("%8s  %-9s  %-19s  %s  %s\n", "PID", "STATE", "SINCE", "LIVE", "MOUNT");
    }
    for (unsigned i = 0; files.count == 0 && !has_json && i < dirs.count; i++)
        printf("%s %s%s", i > 0 ? " or" : "No live files in", dirs.paths[i], i + 1 == dirs.count ? ".\n" : "");
    for (size_t i = 0; i < files.count; i++) {
        struct live_file *file = &files.files[i];
        if (!file->why.message[0])
            live_file_load(file); /* its counts may be broken */
        if (file->why.message[0]) {
            complain("cannot read %s: %s", file->path, file->why.message);
            continue;
        }
        const struct live_row row = row_of(file);
        if (has_json)
            write_row(&writer, &row);
        else
            print_row(&row);
    }
    if (has_json) {
        json_end(&writer, ']');
        json_end(&writer, '}');
    }
    return STATUS_OK;
}

/* ---- Summing ------------------------------------------------------------------------------------ */

/* The state of a sum. */
struct sum {
    const struct save_options *options;
    struct layer_sums sums;
    uint64_t count;        /* profiles and recordings so far */
    struct file_set files; /* likewise */
    bool has_progress;     /* standard error is a terminal */
    uint64_t progress_shown_ns;
};

/* Leaves the cursor at the beginning of the line, so that a message overwrites it. */
static void print_progress(const char *text) {
    fprintf(stderr, "%-40s\r", text);
    fflush(stderr);
}

/* Errors: reported to the user */
static int load(const struct save_options *options, const char *name, struct input *ret_input) {
    struct input_layer layer = {.name = options->layer};
    struct input input;
    CLEANUP_FREE char *live = NULL;
    const bool has_live = strcmp(name, "-") != 0 && !kept_is_name(name) && input_find_live(name, &live) == 0;
    complain_mute(has_live); /* where the process does not answer, its live file does */
    int error = input_load_whole(name, &input);
    complain_mute(false);
    if (has_live && (error == -EACCES || error == -EPERM)) {
        complain("cannot save %s: %s; permitted: the user who mounted it, and processes with CAP_SYS_ADMIN", name,
                 strerror(-error));
    } else if (has_live && error) {
        complain("%s does not answer: this is what its live file %s has, without intervals, joint profiles and groups",
                 name, live);
        error = input_load_recording(live, &input);
    }
    if (error == 0 && layer.name) {
        error = input_choose(name, &layer, &input);
        if (error)
            input_finish(&input);
    }
    if (error == 0)
        *ret_input = input;
    return error;
}

static int add(struct sum *sum, const char *name) {
    struct input input;
    int error = load(sum->options, name, &input);
    if (error)
        return error;
    if (file_set_add(&sum->files, input.device, input.is_file ? input.inode : 0) == 0)
        complain("%s has been read already: its calls are in the sum once more", name);
    for (size_t i = 0; error == 0 && i < input_layer_count(&input); i++)
        error = layer_sums_add(&sum->sums, name, input_layer(&input, i));
    input_finish(&input);
    sum->count++;
    const uint64_t now_ns = sum->has_progress ? aggstats_clock_now(AGGSTATS_CLOCK_MONOTONIC) : 0;
    if (sum->has_progress && now_ns - sum->progress_shown_ns >= PROGRESS_INTERVAL_NS) {
        char text[UNITS_TEXT_SIZE + 32];
        sum->progress_shown_ns = now_ns;
        snprintf(text, sizeof(text), "osprof: %s profiles summed", units_count(sum->count).text);
        print_progress(text);
    }
    return error;
}

/* Errors: reported to the user */
static int sum_up(const struct save_options *options, const struct name_set *sources, struct recording *ret_sum) {
    struct sum sum = {.options = options, .has_progress = isatty(STDERR_FILENO)};
    int error = 0;
    for (size_t i = 0; error == 0 && i < sources->count; i++)
        error = add(&sum, sources->names[i]);
    if (sum.has_progress && sum.progress_shown_ns > 0)
        print_progress("");
    if (error == 0)
        error = layer_sums_result(&sum.sums, ret_sum);
    layer_sums_finish(&sum.sums);
    file_set_finish(&sum.files);
    return error;
}

/* One profile stays as it is. Errors: reported to the user */
static int take(const struct save_options *options, const char *name, struct recording *ret_recording) {
    struct input input = {.is_file = false};
    int error = load(options, name, &input);
    if (error)
        return error;
    for (size_t i = 0; error == 0 && i < input_layer_count(&input); i++)
        error = recording_add(ret_recording, input_layer(&input, i));
    if (error)
        complain("cannot save %s: %s", name, strerror(-error));
    input_finish(&input);
    return error;
}

/* ---- Removing live files ------------------------------------------------------------------------ */

/* A live file that is removed when its profile is saved. The directory is opened once: it may be of another user, who could
 * put another one in its place before the removal. */
struct doomed {
    int dir_fd;
    const char *name; /* in the directory */
    dev_t device;
    ino_t inode;
};

static void doomed_finish(struct doomed *doomed) {
    close_fd(&doomed->dir_fd);
}

#define CLEANUP_DOOMED __attribute__((cleanup(doomed_finish)))

/* Opens the directory, and checks that the file is a live file that nobody records into. Errors: reported to the user */
static int doom(const char *path, struct doomed *doomed) {
    CLEANUP_FD int fd = -1;
    struct stat attr;
    struct aggstats_profile profile = {0};
    struct aggstats_live_info live = {0};
    struct aggstats_parse_error why = {.message = ""};
    int error = open_parent(AT_FDCWD, path, &doomed->dir_fd, &doomed->name);
    if (error == 0) {
        fd = openat(doomed->dir_fd, doomed->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        error = fd < 0 || fstat(fd, &attr) < 0 ? negative_errno() : 0;
    }
    if (error == 0 && !aggstats_live_is(fd)) {
        complain("cannot remove %s: it is no live file; 'osprof save --list' lists them", path);
        return -EINVAL;
    }
    if (error == 0)
        error = aggstats_live_read(fd, &profile, &live, &why);
    if (error) {
        complain("cannot save %s: %s; 'osprof save --list' lists the live files", path,
                 error == -EBADMSG && why.message[0] ? why.message : strerror(-error));
        return error;
    }
    aggstats_profile_finish(&profile);
    if (live.recording) {
        complain("process %" PRId64 " still records into %s: nothing is written or removed; unmount first", live.pid,
                 path);
        return -EBUSY;
    }
    doomed->device = attr.st_dev;
    doomed->inode = attr.st_ino;
    return 0;
}

/* Removes the live file, and what belongs to it if its name is one by osproffs, NUMBER.live, or by an observer,
 * NUMBER-NUMBER.live. In a world-writable directory, files of other names may belong to anyone: those of its owner, and of
 * the right type, are ours. */
static enum status remove_live(const struct doomed *doomed, const char *path) {
    const int dir_fd = doomed->dir_fd;
    const char *name = doomed->name;
    static const struct {
        const char *end;
        mode_t type;
    } others[] = {{".sock", S_IFSOCK}, {".ring", S_IFREG}};
    struct stat live;
    int error = fstatat(dir_fd, name, &live, AT_SYMLINK_NOFOLLOW) < 0 ? negative_errno() : 0;
    if (error == 0 && (live.st_dev != doomed->device || live.st_ino != doomed->inode))
        error = -ESTALE;
    if (error == 0 && unlinkat(dir_fd, name, 0) < 0)
        error = negative_errno();
    if (error) {
        complain("cannot remove %s: %s", path, strerror(-error));
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

/* ---- The command -------------------------------------------------------------------------------- */

static enum status save_recording(const struct save_options *options, const struct name_set *sources) {
    CLEANUP_DOOMED struct doomed doomed = {.dir_fd = -1};
    const char *first = sources->names[0];
    struct recording recording = {.layers = NULL};
    int error = options->removes && sources->count > 1 ? -E2BIG : 0;
    if (error) {
        complain("--remove takes one live file, not %zu", sources->count);
        return STATUS_TROUBLE;
    }
    error = output_check(options->output);
    if (error)
        complain("cannot write %s: %s", options->output, output_error_text(error));
    if (error == 0 && options->removes)
        error = doom(first, &doomed);
    if (error == 0)
        error = sources->count == 1 ? take(options, first, &recording) : sum_up(options, sources, &recording);
    if (error == 0) {
        error = recording_write(options->output, &recording);
        if (error)
            complain("cannot write %s: %s%s", options->output, output_error_text(error),
                     options->removes ? "; the live file is untouched" : "");
    }
    recording_finish(&recording);
    if (error)
        return STATUS_TROUBLE;
    return options->removes ? remove_live(&doomed, first) : STATUS_OK;
}

static enum status save(const struct save_options *options, char *const *arguments, size_t count) {
    struct name_set sources;
    enum status status = STATUS_TROUBLE;
    const int error = name_set_of(arguments, count, &sources);
    if (error == 0 && sources.count == 0)
        complain("nothing to save: the list names no profile");
    else if (error == 0)
        status = save_recording(options, &sources);
    name_set_finish(&sources);
    return status;
}

static enum status rotate(const struct save_options *options, const char *mount) {
    const int error =
        options->output ? mount_command_file(mount, "rotate", options->output) : mount_command(mount, "rotate");
    return error == 0 ? STATUS_OK : STATUS_TROUBLE;
}

static const struct option_row rows[] = {
    ROW_OUTPUT("write to FILE, whole or not at all; default: standard output", struct save_options, output),
    ROW_LAYER_OF_ALL(struct save_options, layer),
    {.name = "rotate",
     .help = "of one mount: begin anew at the same instant, so that each call is in exactly one of the files; without "
             "-o, into the next file of the mount's series (osproffs -o rotate)",
     INTO(FLAG, struct save_options, rotates)},
    {.name = "remove",
     .help = "of one live file: remove it once FILE is written; refused while it is in use",
     INTO(FLAG, struct save_options, removes)},
    {.name = "list",
     .help = "only list the live files in their usual places, with the state of the process that made them",
     INTO(FLAG, struct save_options, lists)},
    {.name = "json", .help = "with --list: JSON, see osprof(5)", INTO(FLAG, struct save_options, json)},
    ROW_PROFILE_ARGUMENTS("[SOURCE]..."),
    {.kind = OPTION_END},
};

static enum status check(const struct command *command, const struct save_options *options, int count) {
    if (options->lists && (options->output || options->layer || options->rotates || options->removes || count > 0))
        return usage_error(command, "--list saves nothing: it goes alone, or with --json");
    if (options->json && !options->lists)
        return usage_error(command, "--json goes with --list: profiles are saved as text");
    if (!options->lists && count == 0)
        return usage_error(command, "nothing to save is given: a mount, a live file, a profile or @1");
    if ((options->rotates || options->removes) && count > 1)
        return usage_error(command, "--%s takes one %s, not %d", options->rotates ? "rotate" : "remove",
                           options->rotates ? "mount" : "live file", count);
    if (options->rotates && (options->removes || options->layer))
        return usage_error(command, "--rotate goes with -o alone");
    if (options->rotates && options->output && output_is_stdout(options->output))
        return usage_error(command, "--rotate needs a file: -o FILE, or the next of the mount's series");
    if (options->removes && output_is_stdout(options->output))
        return usage_error(command, "--remove needs -o FILE, so that the profile is safe first");
    return STATUS_OK;
}

static enum status run_save(const struct command *command, int argc, char **argv) {
    struct save_options options = {.layer = NULL};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    status = check(command, &options, arguments.rest_count);
    if (status != STATUS_OK)
        return status;
    return options.lists     ? list_live(options.json)
           : options.rotates ? rotate(&options, arguments.rest[0])
                             : save(&options, arguments.rest, (size_t)arguments.rest_count);
}

const struct command command_save = {
    .name = "save",
    .summary = "writes profiles to a file: of mounts, crashed ones, sums",
    .help =
        "SOURCE is a mount, a live file of a process that was killed, hangs or runs, a profile, or a "
        "result that is kept, such as @1. Several are summed, operation by operation and each layer by itself: a sum "
        "has the coarsest resolution among them, and the clock rate of the first; what other rates make approximate "
        "is said in its header.",
    .notes = "@FILE stands for the names in a file, one a line.",
    .options = rows,
    .common = COMMON_FORCE | COMMON_SCREEN,
    .run = run_save,
};
