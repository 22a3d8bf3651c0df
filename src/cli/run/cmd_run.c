/* osprof run: a command with directories profiled, in one line. The directories are covered by mounts that only the
 * command sees, so it needs neither privilege nor set-up and leaves nothing behind.
 *
 * The mounts are in a mount namespace, which an ordinary user gets with a user namespace. Only the own uid and gid have
 * numbers there, and the kernel lets nobody write to a FUSE file whose owner has none: so the pass layer shows the
 * daemon's own uid instead (pass_owner.c), and asks the lower file system for permission. The command stays in osprof's
 * process group, which terminal and shell treat as one job; the daemons have sessions of their own. They die with
 * osprof (PR_SET_PDEATHSIG), and their mounts with the namespace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/user_label.h"
#include "aggstats/words.h"
#include "base.h"
#include "command.h"
#include "fail_on.h"
#include "mounts.h"
#include "option_table.h"
#include "output.h"
#include "path.h"
#include "run_options.h"
#include "versus.h"

static const char *parse_fail_on(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    struct run_options *options = data;
    return fail_on_parse(*text, &options->fail_on, why);
}

static const struct option_row rows[] = {
    {.name = "directory",
     .letter = 'd',
     .metavar = "DIR",
     .help = "profile DIR alone; may be repeated; default: all files, but with a mount the current directory",
     INTO(DIRECTORIES, struct run_options, directories)},
    {.name = "everything",
     .help = "at the layer user, count terminals, pipes, sockets, devices and pseudo file systems such as /proc too",
     INTO(FLAG, struct run_options, has_everything)},
    {.name = "layers",
     .metavar = "LIST",
     WORDS(LAYER_WORDS_OF_RUN "all"),
     .help =
         "profile these layers: user, what programs ask of the C library, which mounts nothing; "
         "fuse, what the kernel asks of the FUSE file system that DIR is; daemon, the same inside a daemon that osprof "
         "fuse profiles; fs, what is asked of DIR, by an osproffs that is mounted over it; "
         "block, what is asked of the disk below; several with commas between; all, those of them that can be "
         "profiled; fuse and block want root; default: user",
     INTO(TEXT, struct run_options, layer_list)},
    {.name = "options",
     .letter = 'o',
     .metavar = "LIST",
     .help = "options for osproffs, such as cache=none,resolution=1; may be repeated; without the layer fs there "
             "are " USER_OPTIONS_TEXT,
     .completed_as = "options",
     INTO(TEXTS, struct run_options, osproffs_lists)},
    {.name = "profile",
     .letter = 'p',
     .metavar = "FILE",
     .help = "write the profile to FILE too, of several layers a recording; - is standard output; of several DIRs "
             "the layer fs to FILE.1, FILE.2 and so on",
     INTO(FILE, struct run_options, profile)},
    {.name = "report",
     .metavar = "FILE",
     .help =
         "also write a page of HTML to FILE, as 'osprof report' does; with --vs it begins with what has changed; - is "
         "standard output; not of several DIRs with the layer fs",
     INTO(FILE, struct run_options, report)},
    {.name = "quiet",
     .letter = 'q',
     .help = "print no page about the profile; what went wrong is reported",
     INTO(FLAG, struct run_options, is_quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "print all of the profile, as 'osprof show' does, instead of a screen of 20 lines",
     INTO(FLAG, struct run_options, is_verbose)},
    {.name = "charts", .help = "print a histogram of each operation too", INTO(FLAG, struct run_options, charts)},
    {.name = "user",
     .metavar = "NAME",
     .help = "as root: run COMMAND as that user, a name or number, while osprof stays root, for layers that need it",
     .completed_as = "user",
     INTO(TEXT, struct run_options, user_name)},
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
    ROW_FAIL_ON(
        parse_fail_on,
        "with --vs and --repeat: the exit status is 1 if the comparison finds this, and else 0, whatever that of "
        "the commands is; several with commas between: change, slower, calls, total, elapsed, as for 'osprof "
        "compare'"),
    ROW_ARGUMENTS(COMMAND, "[--] COMMAND [ARGUMENT]..."),
    {.kind = OPTION_END},
};

/* Joins several lists for -o with commas. Errors: -ENOMEM */
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

/* In a list for -o a comma ends an option, and a backslash escapes a character. */
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

/* Checks options that are valid only with some layers. Returns false, after reporting it, if one is not. */
static bool layers_fit(const struct command *command, const struct run_options *options) {
    bool has_fs = options->layers.wanted & LAYER_FS;
    if (options->layers.wanted != LAYER_FS && options->layers.wanted != LAYER_USER && options->other)
        usage_error(command, "--vs compares one layer, user or fs");
    else if (has_fs && options->layers.wanted & LAYER_DAEMON)
        usage_error(command, "--layers takes daemon or fs, not both: with fs, osproffs would be the daemon's caller");
    else if (!has_fs && options->layers.wanted != LAYER_USER && options->osproffs_lists.count > 0)
        usage_error(command, "--options is for the layers user and fs");
    else if (options->has_everything && !(options->layers.wanted & LAYER_USER))
        usage_error(command, "--everything is for the layer user");
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
    if (!run_layers_parse(command, options->layer_list, &options->layers) || !layers_fit(command, options) ||
        !user_options_take(command, &options->osproffs_lists, !(options->layers.wanted & LAYER_FS), &options->user))
        return STATUS_TROUBLE;
    if (options->is_quiet && (options->charts || options->is_verbose))
        return usage_error(command, "--%s is about what is printed, and --quiet prints nothing",
                           options->charts ? "charts" : "verbose");
    if (options->is_verbose && options->other)
        return usage_error(command, "--verbose is about a profile, and --vs prints a comparison");
    if (options->repeat_count == 0 && !options->other)
        return usage_error(command, "--repeat auto needs --vs: a single command has nothing to decide");
    if (options->fail_on && (!options->other || options->repeat_count == 1))
        return usage_error(command, "--fail-on needs --vs and --repeat: a single run of each proves nothing");
    const char *limit = options_given(arguments, "max-repeat max-time");
    if (limit && options->repeat_count != 0)
        return usage_error(command, "--%s is for --repeat auto", limit);
    if (options->other && options->repeat_count != 1 && !require_part(PART_STATISTICS, "compare sets of runs"))
        return STATUS_TROUBLE;
    if (!user_labels_valid(options->labels.texts, options->labels.count, complaint))
        return usage_error(command, "--label %s", complaint);
    options->command = (const char *const *)arguments->rest;
    const bool has_default = options->directories.count == 0 && options->layers.wanted != LAYER_USER;
    if ((has_default && option_list_add(&options->directories, ".") != 0) || join_osproffs_options(options) != 0 ||
        join_labels(options) != 0)
        return usage_error(command, "no memory");
    run_layers_choose(&options->layers, options->directories.texts, options->directories.count);
    size_t profile_count =
        (options->layers.wanted & LAYER_FS ? options->directories.count : 1) * (options->other ? VS_SIDES : 1);
    if (options->other && options->repeat_count > VS_RUNS_MAX)
        return usage_error(command, "--repeat takes at most %u with --vs", VS_RUNS_MAX);
    if (options->profile && output_is_stdout(options->profile) && profile_count > 1)
        return usage_error(command, "standard output takes one profile, not %zu", profile_count);
    if (options->report && options->layers.wanted & LAYER_FS && options->directories.count > 1)
        return usage_error(command, "--report writes one page: with the layer fs, give one DIR");
    if (options->report && options->profile && output_is_stdout(options->report) && output_is_stdout(options->profile))
        return usage_error(command, "standard output takes the profile or the page, not both");
    return STATUS_OK;
}

/* The mount of osproffs that a directory is in. NULL: none.
 * Owner:   the caller frees it */
static char *find_profiled_mount(const char *directory) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    CLEANUP_FREE char *path = realpath(directory, NULL);
    mounts_open(&table);
    const bool is_in_one = path && mounts_of_path(&table, path, &entry) && mounts_is_profiled(&entry);
    return is_in_one ? strdup(entry.path) : NULL;
}

static void tell_mounts(const struct run_options *options) {
    for (size_t i = 0; i < options->directories.count && !options->is_quiet; i++) {
        const char *directory = options->directories.texts[i];
        CLEANUP_FREE char *mount = find_profiled_mount(directory);
        if (mount)
            complain(
                "note: %s is in a mount of osproffs, %s: times contain what that mount takes; 'osprof show %s' shows "
                "what it has counted",
                directory, mount, mount);
    }
}

static enum status run_run(const struct command *command, int argc, char **argv) {
    struct run_options options = {.repeat_count = 1, .most_count = RUN_LOOKS_MOST_DEFAULT};
    struct arguments arguments;
    enum status status;
    int exit_status = STATUS_OK; /* of --help */
    if (options_parse(command, argc, argv, &options, &arguments, &status)) {
        status = settle_options(command, &arguments, &options);
        if (status == STATUS_OK)
            tell_mounts(&options);
        exit_status = status == STATUS_OK ? run_command(&options) : RUN_FAILED;
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
    .summary = "runs a command and tells which calls on files take its time",
    .help =
        "Runs COMMAND with a library preloaded into it and what it starts, which counts and times their file calls. "
        "When COMMAND ends, prints on standard error which calls took its time, and keeps the profile, which 'osprof "
        "show' "
        "shows again. That needs no privilege, and "
        "mounts nothing. With --layers fs, only for them an osproffs is mounted over each DIR, in place, which needs "
        "no privilege either where user namespaces are allowed and /dev/fuse is for everybody.",
    .notes = "Exit status: that of COMMAND, 128+n if signal n killed it; of several runs the first that is not 0; "
             "OTHER's is only told of. 125 if osprof failed, 126 if COMMAND cannot be executed, 127 if it is not "
             "found.",
    .options = rows,
    .run = run_run,
};
