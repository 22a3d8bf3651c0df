/* osprof run: a command with directories profiled, in one line. The directories are covered by mounts that only the
 * command sees, so that neither privilege nor set-up is needed and nothing is left behind. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "namespace.h"
#include "option_table.h"
#include "output.h"
#include "path.h"
#include "run_child.h"
#include "run_layers.h"
#include "run_looks.h"
#include "run_mounts.h"
#include "run_report.h"
#include "run_served.h"
#include "run_user.h"
#include "run_vs.h"
#include "signals.h"
#include "traces.h"
#include "user_label.h"

struct run_options {
    const char *layer_list; /* NULL: not given */
    struct run_layers layers;
    struct option_list directories;
    struct option_list osproffs_lists;
    char *osproffs_options; /* all of those; NULL: none */
    struct option_list labels;
    char *osproffs_labels; /* all of those, as an option list of osproffs; NULL: none */
    const char *profile;   /* NULL: shown on standard error */
    bool charts;           /* then */
    unsigned warmup_count;
    unsigned repeat_count; /* 0: auto */
    unsigned most_count;   /* then */
    unsigned most_seconds; /* then; 0: not given */
    const char *other;     /* to compare with; NULL: none */
    const char *const *command;
};

/* What one use of osprof run has and has done. */
struct run {
    const struct run_options *options;
    struct namespace space;
    struct signals signals;
    struct run_mounts mounts; /* none without the layer fs */
    struct run_user user;     /* zeroed without the layer user */
    struct traces traces;     /* of the layers fuse and block */
    struct run_served served; /* of the layer daemon */
    struct recording layers;  /* those that have been taken, of all directories; see run_report() */
    struct run_target target;
    struct run_sets sets;
    int status;          /* of the first run that failed */
    unsigned runs_count; /* that were counted */
};

/* ---- Running ------------------------------------------------------------------------------------ */

/* Said now and in one way, before libfuse says it in another. */
static int check_device(void) {
    CLEANUP_FD int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        return 0;
    int error = negative_errno();
    if (error == -ENOENT || error == -ENODEV)
        complain("cannot mount: there is no /dev/fuse; as root, modprobe fuse; a container must be given it (--device "
                 "/dev/fuse)");
    else if (error == -EACCES)
        complain("cannot mount: /dev/fuse is not for this user; as root, chmod 666 /dev/fuse");
    else
        complain("cannot mount: /dev/fuse cannot be opened: %s; a container must be given it (--device /dev/fuse)",
                 strerror(-error));
    return error;
}

/* Before the first run, and before the first that counts. Tracing begins with that only, and takes seconds to begin.
 * Errors: told to the user; -EINTR: a signal came, *ret_signal */
static int start_counting(struct run *run, bool counts, int *ret_signal) {
    int error = counts ? traces_start(&run->traces, &run->signals, ret_signal) : 0;
    if (error)
        return error;
    run_mounts_settle(&run->mounts);
    if (run_mounts_reset(&run->mounts) < 0 || run_user_reset(&run->user) < 0 || run_served_begin(&run->served) < 0)
        return -EIO;
    traces_begin(&run->traces);
    return 0;
}

/* Until all runs are done, one is ended by a signal, or none can be made.
 * Errors: told to the user; -EINTR: a signal came before, *ret_signal */
static int run_all(struct run *run, int *ret_signal) {
    const struct run_options *options = run->options;
    for (unsigned i = 0; i < options->warmup_count + options->repeat_count; i++) {
        struct run_outcome outcome;
        int error = 0;
        if (i == 0 || i == options->warmup_count)
            error = start_counting(run, i == options->warmup_count, ret_signal);
        if (error)
            return error;
        error = run_child(options->command, &run->space, &run->signals, &run->mounts, &run->user, &outcome);
        if (error) {
            complain("cannot start a process: %s", strerror(-error));
            return error;
        }
        if (run->status == 0)
            run->status = outcome.status;
        if (!outcome.is_started)
            return -ENOEXEC;
        run->runs_count += i >= options->warmup_count;
        if (outcome.is_killed)
            break;
    }
    return 0;
}

/* The command runs without the layer fs. */
static void leave_out_mounts(struct run *run) {
    run_mounts_finish(&run->mounts);
    run->mounts = (struct run_mounts){.options = {.live_dir_fd = -1}};
}

/* Errors: told to the user; -EINTR: a signal came, *ret_signal */
static int start_mounts(struct run *run, int *ret_signal) {
    CLEANUP_FD int here_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error = run_mounts_start(&run->mounts, &run->signals, ret_signal);
    if (error == 0 || error == -EINTR || !run->options->layers.are_optional)
        return error;
    run_mounts_end(&run->mounts, &run->signals);
    leave_out_mounts(run);
    if (fchdir(here_fd) == 0)
        return 0;
    error = negative_errno();
    complain("cannot return to the current directory: %s", strerror(-error));
    return error;
}

/* Returns an exit status. */
static int run_mounted(struct run *run) {
    int signal = 0;
    int error = start_mounts(run, &signal);
    if (error == 0)
        error = run_all(run, &signal);
    int layers_error = error == 0 ? run_user_stop(&run->user, &run->layers) : 0;
    if (error == 0 && run_served_stop(&run->served, &run->layers) != 0)
        layers_error = -EIO;
    if (error == 0) {
        run_mounts_stop(&run->mounts);
        run->traces.has_workers = run->mounts.count > 0 || run->served.has_workers;
        traces_stop(&run->traces, &run->signals, &run->layers);
    }
    run_mounts_end(&run->mounts, &run->signals);
    if (error == -EINTR)
        return RUN_SIGNALLED + signal;
    if (error == -ENOEXEC)
        return run->status;
    if (error)
        return RUN_FAILED;
    const struct run_shown shown = {
        .command = run->options->command, .run_count = run->runs_count, .charts = run->options->charts};
    error = run_report(&run->mounts, &run->layers, &run->target, &shown);
    return error || layers_error ? RUN_FAILED : run->status;
}

/* Returns an exit status. */
static int run_against_other(struct run *run) {
    const struct run_vs vs = {
        .other = run->options->other,
        .command = run->options->command,
        .warmup_count = run->options->warmup_count,
        .repeat_count = run->options->repeat_count,
        .most_count = run->options->most_count,
        .most_seconds = run->options->most_seconds,
        .mounts = &run->mounts,
        .space = &run->space,
        .signals = &run->signals,
        .target = &run->target,
        .sets = &run->sets,
    };
    return run_vs(&vs);
}

static int run_in_namespace(struct run *run) {
    int error = signals_init(&run->signals);
    if (error) {
        complain("cannot take signals: %s", strerror(-error));
        return RUN_FAILED;
    }
    bool has_mounts = run->mounts.count > 0;
    if (has_mounts && (namespace_enter(&run->space) != 0 || run_mounts_enter(&run->mounts) != 0))
        error = -EPERM;
    if (error && run->options->layers.are_optional) {
        leave_out_mounts(run);
        error = 0;
    }
    int status = RUN_FAILED;
    if (error == 0)
        status = run->options->other ? run_against_other(run) : run_mounted(run);
    signals_finish(&run->signals);
    return status;
}

/* Standard files that were closed stay so for the command, but nothing that is opened here takes their place; and
 * writing to them fails. */
static void reserve_standard_files(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    close_fd(&fd);
}

/* Each directory has a file where its own osproffs is profiled. */
static int open_target(struct run *run) {
    const struct run_options *options = run->options;
    size_t count = options->layers.wanted & LAYER_FS ? options->directories.count : 1;
    if (options->other && options->repeat_count != 1)
        return run_sets_open(&run->sets, options->profile, count);
    return run_target_open(&run->target, options->profile, count, options->other ? VS_SIDES : 1,
                           options->layers.wanted != LAYER_FS);
}

/* Errors: told to the user */
static int open_user(struct run *run) {
    const struct run_options *options = run->options;
    int error = run_user_open(&run->user, options->directories.texts, options->directories.count, options->labels.texts,
                              options->labels.count);
    if (error == 0)
        run_user_look_at(&run->user, options->command[0]);
    return error;
}

/* Through a mount it would be another file to the kernel. */
static int refuse_live_below_mounts(const struct run *run) {
    const char *live_path = run->user.recorder ? aggstats_recorder_live_path(run->user.recorder) : NULL;
    CLEANUP_FREE char *path = live_path ? realpath(live_path, NULL) : NULL;
    for (size_t i = 0; path && i < run->mounts.count; i++) {
        const struct run_daemon *daemon = &run->mounts.daemons[i];
        if (!path_below(path, daemon->path))
            continue;
        *strrchr(path, '/') = '\0';
        complain("cannot profile %s: live files are in it, in %s; choose another place by XDG_RUNTIME_DIR, or --layers "
                 "user",
                 daemon->name, path);
        return -EINVAL;
    }
    return 0;
}

/* Errors: told to the user */
static int open_fs(struct run *run) {
    const struct run_options *options = run->options;
    int error = check_device();
    if (error == 0)
        error = run_mounts_open(&run->mounts, options->directories.texts, options->directories.count,
                                options->osproffs_options, options->osproffs_labels, !options->other);
    if (error == 0)
        error = refuse_live_below_mounts(run);
    if (error == 0 || !options->layers.are_optional)
        return error;
    leave_out_mounts(run);
    return 0;
}

static void open_traces(struct run *run) {
    const struct run_options *options = run->options;
    const bool wanted[TRACE_LAYERS] = {
        [TRACE_FUSE] = options->layers.wanted & LAYER_FUSE, [TRACE_BLOCK] = options->layers.wanted & LAYER_BLOCK};
    traces_open(&run->traces, wanted, options->directories.texts, options->directories.count, options->labels.texts,
                options->labels.count);
}

/* Errors: told to the user */
static int open_served(struct run *run) {
    const struct option_list *directories = &run->options->directories;
    const char *name = "";
    int error = run_served_find(directories->texts, directories->count, &run->served, &name);
    if (error == -ENOENT)
        complain("the layer daemon cannot be profiled: %s lies on no mount that osprof fuse profiles", name);
    else if (error)
        complain("the layer daemon cannot be profiled: %s: %s", name, strerror(-error));
    return error;
}

static int run(const struct run_options *options) {
    struct run run = {.options = options,
                      .mounts = {.options = {.live_dir_fd = -1}},
                      .target = {.stream_fd = -1, .dir_fd = -1},
                      .sets = {.parent_fd = -1}};
    reserve_standard_files();
    int error = options->layers.wanted & LAYER_USER ? open_user(&run) : 0;
    if (error == 0 && options->layers.wanted & LAYER_FS)
        error = open_fs(&run);
    if (error == 0 && options->layers.wanted & LAYER_DAEMON)
        error = open_served(&run);
    if (error == 0)
        error = open_target(&run);
    open_traces(&run);
    int status = RUN_FAILED;
    if (error == 0) {
        run_mounts_note_files(&run.mounts);
        status = run_in_namespace(&run);
        run_mounts_tell_files(&run.mounts);
    }
    run_sets_finish(&run.sets);
    run_target_finish(&run.target);
    recording_finish(&run.layers);
    run_mounts_finish(&run.mounts);
    run_user_finish(&run.user);
    traces_finish(&run.traces);
    run_served_finish(&run.served);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {.name = "directory",
     .letter = 'd',
     .metavar = "DIR",
     .help = "profile DIR; may be repeated; default: the current directory",
     INTO(DIRECTORIES, struct run_options, directories)},
    {.name = "layers",
     .metavar = "LIST",
     WORDS("user", "fuse", "daemon", "fs", "block", "all"),
     .help =
         "profile these layers: user, what programs ask of the C library for files in DIR, which needs no FUSE; "
         "fuse, what the kernel asks of the FUSE file system that DIR is; daemon, the same inside a daemon that osprof "
         "fuse profiles; fs, what is asked of DIR, by osproffs; "
         "block, what is asked of the disk below; several with commas between; all, those of them that can be "
         "profiled; fuse and block want root and bpftrace; default: fs",
     INTO(TEXT, struct run_options, layer_list)},
    {.name = "options",
     .letter = 'o',
     .metavar = "LIST",
     .help = "options for osproffs, such as cache=none,resolution=4; may be repeated",
     .completed_as = "options",
     INTO(TEXTS, struct run_options, osproffs_lists)},
    {.name = "profile",
     .letter = 'p',
     .metavar = "FILE",
     .help = "write the profile to FILE instead, of several layers a recording; - is standard output; of several DIRs "
             "the layer fs to FILE.1, FILE.2 and so on",
     INTO(FILE, struct run_options, profile)},
    {.name = "charts", .help = "print a histogram of each operation too", INTO(FLAG, struct run_options, charts)},
    {.name = "label",
     .metavar = "KEY=VALUE",
     .help = "a line of the profile's header, such as rack=7; may be repeated",
     INTO(TEXTS, struct run_options, labels)},
    {.name = "repeat",
     .metavar = "N",
     .min = 1,
     .max = 1000000,
     WORDS("auto"),
     .help = "run COMMAND N times, {}, and sum them up; with --vs, up to 1000, keep them apart; auto, only with --vs: "
             "until each operation is decided",
     INTO(UNSIGNED, struct run_options, repeat_count)},
    {.name = "max-repeat",
     .metavar = "N",
     .min = RUN_LOOKS_FIRST,
     .max = VS_RUNS_MAX,
     .help = "with --repeat auto: run both at most N times, {}; default: 30",
     INTO(UNSIGNED, struct run_options, most_count)},
    {.name = "max-time",
     .metavar = "SECONDS",
     .unit = "seconds",
     .min = 1,
     .help = "with --repeat auto: begin no round after this time",
     INTO(UNSIGNED, struct run_options, most_seconds)},
    {.name = "warmup",
     .metavar = "N",
     .max = 1000000,
     .help = "run it N times before, {}, which is not in the profile",
     INTO(UNSIGNED, struct run_options, warmup_count)},
    {.name = "vs",
     .metavar = "OTHER",
     .once = true,
     .help = "compare with OTHER, a command for the shell: run both in turn, and print what 'osprof compare' prints of "
             "their profiles, OTHER being A; -p writes FILE.a and FILE.b; with --repeat, FILE is a new directory for "
             "the profile of each run",
     INTO(COMMAND, struct run_options, other)},
    ROW_ARGUMENTS(COMMAND, "[--] COMMAND [ARGUMENT]..."),
    {.kind = OPTION_END},
};

/* Several lists for -o are one, with commas between. Errors: -ENOMEM */
static int join_osproffs_options(struct run_options *options) {
    for (size_t i = 0; i < options->osproffs_lists.count; i++) {
        CLEANUP_FREE char *before = steal_pointer(&options->osproffs_options);
        if (asprintf(&options->osproffs_options, "%s%s%s", before ? before : "", before ? "," : "",
                     options->osproffs_lists.texts[i]) < 0) {
            options->osproffs_options = NULL;
            return -ENOMEM;
        }
    }
    return 0;
}

/* In a list for -o a comma ends an option, and a backslash takes what a character means away. */
static void write_escaped(FILE *stream, const char *text) {
    for (; *text; text++) {
        if (*text == ',' || *text == '\\')
            putc('\\', stream);
        putc(*text, stream);
    }
}

/* Errors: -ENOMEM */
static int join_labels(struct run_options *options) {
    size_t size_bytes = 0;
    FILE *stream = options->labels.count > 0 ? open_memstream(&options->osproffs_labels, &size_bytes) : NULL;
    if (!stream)
        return options->labels.count > 0 ? -ENOMEM : 0;
    for (size_t i = 0; i < options->labels.count; i++) {
        fputs(i > 0 ? ",label=" : "label=", stream);
        write_escaped(stream, options->labels.texts[i]);
    }
    return fclose(stream) == 0 ? 0 : -ENOMEM;
}

/* What goes only with some layers. Returns false, and complains, if it is given with others. */
static bool layers_fit(const struct command *command, const struct run_options *options) {
    bool has_fs = options->layers.wanted & LAYER_FS;
    if (options->layers.wanted != LAYER_FS && options->other)
        usage_error(command, "--vs compares the layer fs only");
    else if (has_fs && options->layers.wanted & LAYER_DAEMON)
        usage_error(command, "--layers takes daemon or fs, not both: with fs, osproffs would be the daemon's caller");
    else if (!has_fs && options->osproffs_lists.count > 0)
        usage_error(command, "--options is for the layer fs");
    else
        return true;
    return false;
}

/* What follows the options is the command, whatever it looks like. */
static enum status settle_options(const struct command *command, const struct arguments *arguments,
                                  struct run_options *options) {
    char complaint[USER_LABEL_COMPLAINT_SIZE];
    if (options->other && options->other[strspn(options->other, " \t\n")] == '\0')
        return usage_error(command, "--vs needs a command");
    if (arguments->rest_count == 0)
        return usage_error(command, "no command given");
    if (!run_layers_parse(command, options->layer_list, &options->layers) || !layers_fit(command, options))
        return STATUS_TROUBLE;
    if (options->charts && (options->other || options->profile))
        return usage_error(command, "--charts is for a profile that is printed, and does not go with --%s",
                           options->other ? "vs" : "profile");
    if (options->repeat_count == 0 && !options->other)
        return usage_error(command, "--repeat auto needs --vs: a single command has nothing to decide");
    const char *limit = options_given(arguments, "max-repeat max-time");
    if (limit && options->repeat_count != 0)
        return usage_error(command, "--%s is for --repeat auto", limit);
    if (!user_labels_valid(options->labels.texts, options->labels.count, complaint))
        return usage_error(command, "--label %s", complaint);
    options->command = (const char *const *)arguments->rest;
    if ((options->directories.count == 0 && option_list_add(&options->directories, ".") != 0) ||
        join_osproffs_options(options) != 0 || join_labels(options) != 0)
        return usage_error(command, "no memory");
    run_layers_choose(&options->layers, options->directories.texts, options->directories.count);
    size_t profile_count =
        (options->layers.wanted & LAYER_FS ? options->directories.count : 1) * (options->other ? VS_SIDES : 1);
    if (options->other && options->repeat_count > VS_RUNS_MAX)
        return usage_error(command, "--repeat takes at most %u with --vs", VS_RUNS_MAX);
    if (options->profile && output_is_stdout(options->profile) && profile_count > 1)
        return usage_error(command, "standard output takes one profile, not %zu", profile_count);
    return STATUS_OK;
}

static enum status run_run(const struct command *command, int argc, char **argv) {
    struct run_options options = {.repeat_count = 1, .most_count = RUN_LOOKS_MOST_DEFAULT};
    struct arguments arguments;
    enum status status;
    int exit_status = STATUS_OK; /* of --help */
    if (options_parse(command, argc, argv, &options, &arguments, &status)) {
        status = settle_options(command, &arguments, &options);
        exit_status = status == STATUS_OK ? run(&options) : RUN_FAILED;
    } else if (status != STATUS_OK) {
        exit_status = RUN_FAILED;
    }
    option_list_finish(&options.directories);
    option_list_finish(&options.osproffs_lists);
    option_list_finish(&options.labels);
    free(options.osproffs_options);
    free(options.osproffs_labels);
    return (enum status)exit_status;
}

const struct command command_run = {
    .name = "run",
    .summary = "runs a command and profiles directories for it alone",
    .help = "Runs COMMAND, and only for it and what it starts mounts an osproffs over each DIR, in place. When "
            "COMMAND ends, prints the profile on standard error as 'osprof show' does. Needs no privilege where user "
            "namespaces are allowed and /dev/fuse is for everybody.",
    .notes = "Exit status: that of COMMAND, 128+n if signal n killed it; of several runs the first that is not 0; "
             "OTHER's is only told of. 125 if osprof failed, 126 if COMMAND cannot be executed, 127 if it is not "
             "found.",
    .options = rows,
    .run = run_run,
};
