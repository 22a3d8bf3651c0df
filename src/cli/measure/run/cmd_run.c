/* osprof run: a command with directories profiled, in one line. The directories are covered by mounts that only the
 * command sees, so it needs neither privilege nor set-up and leaves nothing behind.
 *
 * The mounts are in a mount namespace, which an ordinary user gets with a user namespace. Only the own uid and gid have
 * numbers there, and the kernel lets nobody write to a FUSE file whose owner has none: so the pass layer shows the
 * daemon's own uid instead (pass_owner.c), and asks the lower file system for permission. The command stays in osprof's
 * process group, which terminal and shell treat as one job; the daemons have sessions of their own. They die with
 * osprof (PR_SET_PDEATHSIG), and their mounts with the namespace. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/user_label.h"
#include "aggstats/words.h"
#include "base.h"
#include "command.h"
#include "compare_sets.h"
#include "mounts.h"
#include "option_list.h"
#include "option_table.h"
#include "output.h"
#include "path.h"
#include "run_options.h"
#include "run_served.h"
#include "session.h"
#include "str.h"
#include "versus.h"

/* ---- Layers ---------------------------------------------------------------------------------- */

struct layer_word {
    const char *word;
    unsigned layers;
};

#define WORD_AND_BIT(constant, word) {word, LAYER_##constant},
static const struct layer_word words[] = {LAYER_ROWS(WORD_AND_BIT, NOTHING_OF_ROW){"all", LAYERS_ALL}};

/* Reads a list, "user,fs"; NULL: user. Returns false, after reporting it, if it has another word */
static bool parse_layers(const struct command *command, const char *list, struct run_layers *ret_layers) {
    const char *rest = list ? list : "user";
    for (bool is_last = false; !is_last;) {
        const size_t length = strcspn(rest, ",");
        const struct layer_word *word = words;
        const struct layer_word *end = words + ARRAY_SIZE(words);
        while (word < end && (strlen(word->word) != length || strncmp(word->word, rest, length) != 0))
            word++;
        if (word == end) {
            char layers[OPTION_TEXT_SIZE] = "";
            option_add_words(layers, (const char *const[]){LAYER_WORDS_OF_RUN NULL}, "and");
            usage_error(command, "--layers takes %s, with commas between, or all, not '%s'", layers, list);
            return false;
        }
        ret_layers->wanted |= word->layers;
        ret_layers->are_optional |= word->layers == LAYERS_ALL;
        is_last = rest[length] == '\0';
        rest += length + 1;
    }
    return true;
}

/* ---- Groups ------------------------------------------------------------------------------------- */

#define GROUPINGS_UNASKED                                                                                              \
    (1U << AGGSTATS_BY_FILESYSTEM | 1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY | 1U << AGGSTATS_BY_PROGRAM)
#define GROUPINGS_OF_USER (GROUPINGS_UNASKED | 1U << AGGSTATS_BY_PROCESS)
#define DEPTH_MAX 32U

/* "program+directory:2", or "none". See option_row.parse */
static const char *parse_by(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    static const struct option_row depth_row = {
        .min = 1, .max = DEPTH_MAX, INTO(UNSIGNED, struct recorded_options, directory_depth)};
    static const char *const known[] = {GROUPING_WORDS NULL};
    struct run_options *options = data;
    struct recorded_options *recorded = &options->recorded;
    CLEANUP_FREE char *list = strcmp(*text, "none") != 0 ? strdup(*text) : NULL;
    char *rest = list;
    const char *wrong = NULL;
    recorded->session.groupings = 0;
    recorded->has_groups_unasked = false;
    for (char *name; !wrong && (name = strsep(&rest, "+"));) {
        char *depth = strchr(name, ':');
        if (depth)
            *depth++ = '\0';
        const enum aggstats_grouping grouping = aggstats_grouping_of_name(name);
        if (grouping == AGGSTATS_UNGROUPED) {
            why[0] = '\0';
            option_add_word(why, "must be ", "none", NULL);
            option_add_words(why, known, "or");
            option_add_word(why, "", "or several of them, such as program+file", NULL);
            return why;
        }
        recorded->session.groupings |= 1U << grouping;
        if (depth && grouping != AGGSTATS_BY_DIRECTORY)
            wrong = "only directory takes a depth";
        else if (depth)
            wrong = option_take(&depth_row, &depth, recorded, why);
    }
    return wrong;
}

/* Gives each layer its groups. Returns false, after reporting it, if no layer supports a group */
static bool share_groupings(const struct command *command, unsigned layers, struct recorded_options *recorded) {
    const unsigned wanted = recorded->session.groupings;
    const unsigned of_user = layers & LAYER_USER ? GROUPINGS_OF_USER : 0;
    const unsigned of_mounts = layers & LAYER_FS ? (unsigned)GROUPINGS_OF_MOUNTS : 0;
    const unsigned refused = wanted & ~(of_user | of_mounts);
    recorded->session.groupings = wanted & of_user;
    recorded->groupings_of_mounts = wanted & of_mounts;
    if (!refused || recorded->has_groups_unasked)
        return true;
    const char *name = aggstats_grouping_name((enum aggstats_grouping)__builtin_ctz(refused));
    if (GROUPINGS_OF_MOUNTS & refused)
        usage_error(command, "--by %s: the layer user does not know it; with --layers fs a mount does%s", name,
                    strcmp(name, "cgroup") == 0 ? ", and osprof attach" : "");
    else
        usage_error(command, "--by %s: a mount is of one file system; leave it out, or profile the layer user", name);
    return false;
}

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
     .help = "profile these layers: user, calls of the C library, without a mount; fuse, requests of the kernel to the "
             "FUSE "
             "file system of DIR; daemon, the same inside a daemon that osprof fuse profiles; fs, operations of DIR "
             "itself, by "
             "an osproffs mounted over it; block, requests to the disk below; several with commas between; all: all of "
             "them "
             "that work here; fuse and block take root; default: user",
     INTO(TEXT, struct run_options, layer_list)},
    ROW_OUTPUT(
        "write the profile to FILE too, of several layers all of them; - is standard output; of several DIRs the "
        "layer fs to FILE.1, FILE.2 and so on",
        struct run_options, output),
    SESSION_ROW_RESOLUTION(struct run_options, recorded.session, "1, 2, 4 or 8", "4"),
    SESSION_ROWS(struct run_options, recorded.session),
    {.name = "by",
     .metavar = "KIND[+KIND]...|none",
     WORDS_OF(GROUPING_WORDS "none", ),
     .help = "also a profile of each: {}; directory:N: of N components; cgroup and uid with --layers fs only; default: "
             "program, "
             "file, directory and filesystem",
     .completed_as = "list",
     .kind = OPTION_PARSED,
     .parse = parse_by},
    {.name = "slow",
     .metavar = "TIME",
     .help = "with --layers fs: find the causes of operations that take so long, such as 10ms",
     .parse_time = control_parse_slow,
     INTO(TIME, struct run_options, recorded.session.slow_ns)},
    {.name = "joint",
     .metavar = "OP:VALUE[+OP:VALUE]...",
     .help =
         "with --layers fs: relate the latency of OP to size, result, offset, error, past_eof, blocked or cpu; may be "
         "repeated",
     INTO(TEXTS, struct run_options, recorded.joints)},
    {.name = "mount-option",
     .metavar = "LIST",
     .help = "with --layers fs: further options for osproffs, such as cache=none; may be repeated",
     .completed_as = "options",
     INTO(TEXTS, struct run_options, mount_lists)},
    {.name = "report",
     .metavar = "FILE",
     .help =
         "also write a page of HTML to FILE, as 'osprof report' does; with --vs it begins with what has changed; - is "
         "standard output; not of several DIRs with the layer fs",
     INTO(FILE, struct run_options, report)},
    {.name = "quiet",
     .letter = 'q',
     .help = "print no summary; what went wrong is reported",
     INTO(FLAG, struct run_options, is_quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "print all of the profile, as 'osprof show' does, instead of a screen of 20 lines",
     INTO(FLAG, struct run_options, is_verbose)},
    {.name = "json",
     .help = "instead of the summary, print the profile as JSON on standard output, as 'osprof show --json' does",
     INTO(FLAG, struct run_options, json)},
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
             "until no operation is inconclusive",
     INTO(UNSIGNED, struct run_options, repeat_count)},
    {.name = "max-repeat",
     .metavar = "N",
     .min = RUN_LOOKS_FIRST,
     .max = VS_RUNS_MAX,
     .help = "with --repeat auto: run both at most N times, {}; default: 30",
     INTO(UNSIGNED, struct run_options, most_count)},
    ROW_FOR("with --repeat auto: begin no round after TIME, such as 5m", struct run_options, for_ns),
    {.name = "warmup",
     .metavar = "N",
     .max = 1000000,
     .help = "run it N times before, {}, which is not in the profile",
     INTO(UNSIGNED, struct run_options, warmup_count)},
    {.name = "vs",
     .metavar = "OTHER",
     .once = true,
     .help = "compare with OTHER, a command for the shell: run both in turn, and print what 'osprof compare' prints of "
             "their profiles, OTHER being A; -o writes FILE.a and FILE.b; with --repeat, FILE is a new directory for "
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

/* "by=file+directory:2" */
static void add_by(struct str *text, const struct recorded_options *recorded) {
    const char *before = ",by=";
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++) {
        if (!(recorded->groupings_of_mounts & 1U << grouping))
            continue;
        str_addf(text, "%s%s", before, aggstats_grouping_name((enum aggstats_grouping)grouping));
        if (grouping == AGGSTATS_BY_DIRECTORY && recorded->directory_depth > 0)
            str_addf(text, ":%u", recorded->directory_depth);
        before = "+";
    }
}

static void add_time(struct str *text, const char *name, uint64_t ns) {
    if (ns > 0)
        str_addf(text, ",%s=%llu.%09llus", name, (unsigned long long)(ns / NS_PER_S),
                 (unsigned long long)(ns % NS_PER_S));
}

/* The options of osproffs, and labels, each as one list. In a list a comma ends an option, and a backslash escapes a
 * character.
 * Errors: -ENOMEM */
static int join_options(struct run_options *options) {
    const struct option_list *lists = &options->mount_lists;
    const struct recorded_options *recorded = &options->recorded;
    CLEANUP_STR struct str given = {0};
    CLEANUP_STR struct str labels = {0};
    str_addf(&given, "resolution=%u", recorded->session.resolution);
    if (recorded->session.intervals_max > 0)
        str_addf(&given, ",intervals=%u", recorded->session.intervals_max);
    if (recorded->session.groups_max != AGGSTATS_GROUPS_DEFAULT)
        str_addf(&given, ",groups=%u", recorded->session.groups_max);
    add_time(&given, "interval", recorded->session.interval_ns);
    add_time(&given, "slow", recorded->session.slow_ns);
    if (!recorded->has_groups_unasked)
        add_by(&given, recorded);
    for (size_t i = 0; i < recorded->joints.count; i++)
        str_addf(&given, "%s%s", i == 0 ? ",joint=" : "+", recorded->joints.texts[i]);
    for (size_t i = 0; i < lists->count; i++)
        str_addf(&given, ",%s", lists->texts[i]);
    for (size_t i = 0; i < options->labels.count; i++) {
        str_addf(&labels, "%slabel=", i > 0 ? "," : "");
        for (const char *at = options->labels.texts[i]; *at; at++)
            str_addf(&labels, "%s%c", *at == ',' || *at == '\\' ? "\\" : "", *at);
    }
    options->osproffs_options = str_steal(&given);
    options->osproffs_labels = options->labels.count > 0 ? str_steal(&labels) : NULL;
    return given.failed || labels.failed ? -ENOMEM : 0;
}

/* Checks options that are valid only with some layers. Returns false after reporting an error */
static bool layers_fit(const struct command *command, const struct run_options *options,
                       const struct arguments *arguments) {
    const char *of_recorders = options_given(arguments, "resolution interval intervals by groups");
    const char *of_mounts = options_given(arguments, "slow joint mount-option");
    bool has_fs = options->layers.wanted & LAYER_FS;
    if (options->layers.wanted != LAYER_FS && options->layers.wanted != LAYER_USER && options->other)
        usage_error(command, "--vs compares one layer, user or fs");
    else if (has_fs && options->layers.wanted & LAYER_DAEMON)
        usage_error(command, "--layers takes daemon or fs, not both: with fs, osproffs would be the daemon's caller");
    else if (of_recorders && !(options->layers.wanted & (LAYER_USER | LAYER_FS)))
        usage_error(command, "--%s is for the layers user and fs", of_recorders);
    else if (of_mounts && !has_fs)
        usage_error(command, "--%s needs a mount, as with --layers fs%s", of_mounts,
                    strcmp(of_mounts, "slow") == 0 ? "; without one, as root, osprof attach --slow finds causes" : "");
    else if (!aggstats_resolution_valid(options->recorded.session.resolution))
        usage_error(command, "--resolution takes 1, 2, 4 or 8, not '%u'", options->recorded.session.resolution);
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
    struct run_layers *layers = &options->layers;
    const struct option_list *directories = &options->directories;
    if (!parse_layers(command, options->layer_list, layers) || !layers_fit(command, options, arguments) ||
        !share_groupings(command, layers->wanted, &options->recorded))
        return STATUS_TROUBLE;
    if (options->json && (options->is_quiet || options->charts || options->is_verbose || options->other))
        return usage_error(command, "--json goes without --quiet, --verbose, --charts and --vs");
    if (options->json && (options->layers.wanted & LAYER_FS && options->directories.count > 1))
        return usage_error(command, "--json is of one profile: with the layer fs, give one DIR");
    if (options->json && ((options->output && output_is_stdout(options->output)) ||
                          (options->report && output_is_stdout(options->report))))
        return usage_error(command, "standard output takes one of JSON, the profile and the page");
    if (options->is_quiet && (options->charts || options->is_verbose))
        return usage_error(command, "--%s is about what is printed, and --quiet prints nothing",
                           options->charts ? "charts" : "verbose");
    if (directories->count > USER_DIRECTORIES_MAX && layers->wanted & LAYER_USER)
        return usage_error(command, "--directory can be given %d times with the layer user, not %zu",
                           USER_DIRECTORIES_MAX, directories->count);
    if (options->is_verbose && options->other)
        return usage_error(command, "--verbose is about a profile, and --vs prints a comparison");
    if (options->repeat_count == 0 && !options->other)
        return usage_error(command, "--repeat auto needs --vs: a single command has nothing to decide");
    if (options->fail_on && (!options->other || options->repeat_count == 1))
        return usage_error(command, "--fail-on needs --vs and --repeat: a single run of each proves nothing");
    const char *limit = options_given(arguments, "max-repeat for");
    if (limit && options->repeat_count != 0)
        return usage_error(command, "--%s is for --repeat auto", limit);
    if (options->other && options->repeat_count != 1 && !require_part(PART_STATISTICS, "compare sets of runs"))
        return STATUS_TROUBLE;
    if (!user_labels_valid(options->labels.texts, options->labels.count, complaint))
        return usage_error(command, "--label %s", complaint);
    options->command = (const char *const *)arguments->rest;
    const bool has_default = options->directories.count == 0 && options->layers.wanted != LAYER_USER;
    if ((has_default && option_list_add(&options->directories, ".") != 0) || join_options(options) != 0)
        return usage_error(command, "no memory");
    /* "all" layers on a mount that osprof fuse profiles: a daemon that is profiled from inside is not profiled from above. */
    struct run_served served;
    const char *name;
    if (layers->are_optional && !(layers->wanted & LAYER_DAEMON) &&
        run_served_find(directories->texts, directories->count, &served, &name) == 0) {
        run_served_finish(&served);
        layers->wanted = (layers->wanted & ~(unsigned)LAYER_FS) | LAYER_DAEMON;
    }
    size_t profile_count =
        (options->layers.wanted & LAYER_FS ? options->directories.count : 1) * (options->other ? VS_SIDES : 1);
    if (options->other && options->repeat_count > VS_RUNS_MAX)
        return usage_error(command, "--repeat takes at most %u with --vs", VS_RUNS_MAX);
    if (options->output && output_is_stdout(options->output) && profile_count > 1)
        return usage_error(command, "standard output takes one profile, not %zu", profile_count);
    if (options->report && options->layers.wanted & LAYER_FS && options->directories.count > 1)
        return usage_error(command, "--report writes one page: with the layer fs, give one DIR");
    if (options->report && options->output && output_is_stdout(options->report) && output_is_stdout(options->output))
        return usage_error(command, "standard output takes the profile or the page, not both");
    return STATUS_OK;
}

static void tell_mounts(const struct run_options *options) {
    for (size_t i = 0; i < options->directories.count && !options->is_quiet; i++) {
        const char *directory = options->directories.texts[i];
        CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
        struct mounts_entry entry;
        CLEANUP_FREE char *path = realpath(directory, NULL);
        mounts_open(&table);
        if (path && mounts_of_path(&table, path, &entry) && mounts_is_profiled(&entry))
            complain(
                "note: %s is in a mount of osproffs, %s: times contain what that mount takes; 'osprof show %s' shows "
                "what it has counted",
                directory, entry.path, entry.path);
    }
}

static enum status run_run(const struct command *command, int argc, char **argv) {
    struct run_options options = {.repeat_count = 1,
                                  .most_count = RUN_LOOKS_MOST_DEFAULT,
                                  .recorded = {.session = {.resolution = RUN_RESOLUTION,
                                                           .groupings = GROUPINGS_UNASKED,
                                                           .groups_max = AGGSTATS_GROUPS_DEFAULT},
                                               .has_groups_unasked = true}};
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
    option_list_finish(&options.mount_lists);
    option_list_finish(&options.recorded.joints);
    option_list_finish(&options.labels);
    free(options.osproffs_options);
    free(options.osproffs_labels);
    return (enum status)exit_status;
}

const struct command command_run = {
    .name = "run",
    .summary = "runs a command, and tells which file calls take its time",
    .help = "Runs COMMAND with a library preloaded into it and what it starts, which counts and times their file "
            "calls. When "
            "COMMAND ends, prints on standard error which calls took its time, and keeps the profile: 'osprof show' "
            "prints it "
            "again. That needs no privilege, and mounts nothing. With --layers fs, an osproffs is mounted over each "
            "DIR, which "
            "only COMMAND sees; that needs no privilege either where user namespaces are allowed and /dev/fuse is for "
            "everybody.",
    .notes = "Exit status: that of COMMAND, 128+n if signal n killed it; of several runs the first that is not 0; "
             "OTHER's is printed. 125 if osprof failed, 126 if COMMAND cannot be executed, 127 if it is not "
             "found.",
    .options = rows,
    .common = COMMON_SCREEN | COMMON_FORCE,
    .run = run_run,
};
