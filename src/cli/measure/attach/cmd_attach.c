/* osprof attach: profiles the calls on a file system that is in use, without a mount over it or a restart. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggstats/caller_groups.h"
#include "aggstats/user_label.h"
#include "attach_watched.h"
#include "base.h"
#include "command.h"
#include "kept.h"
#include "live_dirs.h"
#include "live_files.h"
#include "log.h"
#include "option_table.h"
#include "output.h"
#include "path.h"
#include "recording.h"
#include "show.h"

#define GROUPINGS                                                                                                      \
    (1U << AGGSTATS_BY_PROCESS | 1U << AGGSTATS_BY_PROGRAM | 1U << AGGSTATS_BY_CGROUP | 1U << AGGSTATS_BY_FILE |       \
     1U << AGGSTATS_BY_DIRECTORY)
#define GROUPINGS_WORDS "process", "program", "cgroup", "file", "directory", "filesystem",
#define LINES_MAX 20 /* of the page */

struct attach_command {
    uint64_t for_ns; /* 0: until a signal asks to end */
    struct attach_watched watched;
    const char *cgroup;          /* NULL: all */
    const char *causes_file;     /* NULL: none */
    const char *slow_log_target; /* NULL: none */
    const char *events_file;     /* NULL: none */
    const char *layer;           /* "syscall" or "fuse" */
    const char *file;            /* where the profile is saved besides; NULL: nowhere */
    bool is_quiet;               /* no page */
    bool is_verbose;             /* all of it */
    bool json;                   /* instead */
    bool has_by;                 /* groups were chosen */
    bool has_stacks;
    struct thread_causes causes;
    struct attach_options options; /* also what is made for the profile */
};

/* See option_row.parse */
static const char *parse_by(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    static const char *const words[] = {GROUPINGS_WORDS NULL};
    struct attach_command *given = data;
    given->has_by = true;
    if (strcmp(*text, "none") != 0)
        return options_parse_groupings(*text, words, &given->options.session.groupings, why);
    given->options.session.groupings = 0;
    return NULL;
}

static const struct option_row rows[] = {
    {.name = "layers",
     .metavar = "LAYER",
     WORDS("syscall", "fuse"),
     .help = "what is counted: syscall, system calls of programs; fuse, requests to the daemon of the FUSE mount DIR, "
             "which takes Linux 6.11; default: syscall",
     INTO(WORD, struct attach_command, layer)},
    ROW_OUTPUT("write the profile to FILE too; - is standard output", struct attach_command, file),
    {.name = "quiet", .letter = 'q', .help = "print no summary", INTO(FLAG, struct attach_command, is_quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "print all of the profile, not only a summary",
     INTO(FLAG, struct attach_command, is_verbose)},
    {.name = "json",
     .help = "instead of the summary, print the profile as JSON, as 'osprof show --json' does",
     INTO(FLAG, struct attach_command, json)},
    ROW_FOR("end after TIME, such as 10s; default: at Ctrl-C", struct attach_command, for_ns),
    SESSION_ROW_RESOLUTION(struct attach_command, options.session, "1, 2 or 4", "4"),
    SESSION_ROWS(struct attach_command, options.session),
    ROW_PROCESSES("only calls of these processes and their descendants", struct attach_command, watched.processes),
    ROW_CGROUP("only calls of processes in that control group and below", struct attach_command, cgroup),
    {.name = "by",
     .metavar = "KIND[+KIND]...|none",
     WORDS_OF(GROUPINGS_WORDS "none", ),
     .help = "also a profile of each: {}; default: all kinds, filesystem without DIR only",
     .completed_as = "list",
     .kind = OPTION_PARSED,
     .parse = parse_by},
    {.name = "slow",
     .metavar = "TIME",
     .help = "find the causes of calls that take so long, such as 10ms",
     .parse_time = control_parse_slow,
     INTO(TIME, struct attach_command, options.session.slow_ns)},
    {.name = "stacks",
     .help = "of slow calls: find the functions of programs that made them",
     INTO(FLAG, struct attach_command, has_stacks)},
    {.name = "slowlog",
     .metavar = "FILE|" SLOW_LOG_SYSTEM,
     .help = "of slow calls: a line of JSON for each, in a file or in the system log",
     INTO(FILE, struct attach_command, slow_log_target)},
    {.name = "events",
     .metavar = "FILE",
     .help = "of slow calls: a record for each, in a file for osprof events",
     INTO(FILE, struct attach_command, events_file)},
    {.name = "causes",
     .metavar = "FILE",
     .help = "further lines for the table of causes, before its own",
     INTO(FILE, struct attach_command, causes_file)},
    {.name = "label",
     .metavar = "KEY=VALUE",
     .help = "a line of the profile's header, such as rack=7; may be repeated",
     INTO(TEXTS, struct attach_command, options.session.labels)},
    ROW_ARGUMENTS(DIRECTORIES, "[DIR]"),
    {.kind = OPTION_END},
};

/* The state of the command while it watches. */
struct watching {
    struct attach_command *given;
    char *path;     /* the name of what is watched */
    char *attached; /* the arguments that say what was watched */
    struct attach_profile profile;
    struct kept kept;
    bool is_beside_another; /* osprof attach, which was running when this one began: the cost cannot be measured */
    int lock_fd; /* until others find the live profile: of two that begin together one finds the other, and none measures
                  * what loading the other's programs costs */
};

/* ---- The end: the result is kept, saved and shown ----------------------------------------------- */

/* How many calls by names are not told, of how many requests the end, and of how many calls the beginning. */
static int add_not_told(const struct watching *watching, struct aggstats_profile *profile) {
    const struct attach_profile *of = &watching->profile;
    const struct attach_watched *watched = &watching->given->watched;
    const enum aggstats_untold whose = watched->processes.count > 0 ? AGGSTATS_UNTOLD_OF_PROCESSES
                                       : watched->cgroup.path       ? AGGSTATS_UNTOLD_OF_CGROUP
                                                                    : AGGSTATS_UNTOLD_OF_MACHINE;
    struct aggstats_profile beside = {0};
    if (watched->is_fuse)
        return 0;
    const int error = aggstats_recorder_snapshot(of->beside.recorder, &beside);
    if (error)
        return error;
    for (size_t i = 0; i < beside.op_count; i++) {
        const bool is_untimed = strcmp(beside.ops[i].name, COLLECTOR_UNTIMED) == 0;
        profile->not_told[is_untimed ? AGGSTATS_UNTOLD_UNTIMED : whose] += beside.ops[i].calls;
        profile->not_told[AGGSTATS_UNTOLD_FAILED] += aggstats_failed_calls(&beside.ops[i]);
    }
    aggstats_profile_finish(&beside);
    profile->not_told[AGGSTATS_UNTOLD_BEGUN] = collector_begun_before(of->collector);
    profile->not_told[AGGSTATS_UNTOLD_PROCESSES] = collector_processes_lost(of->collector);
    profile->not_told[AGGSTATS_UNTOLD_CAUSES] = attach_under_way_lost(of->under_way);
    return 0;
}

/* Where calls take the kernel's slow way already, it cannot be measured what that costs. */
static int add_cost(const struct watching *watching, struct aggstats_profile *profile) {
    struct call_cost cost;
    if (watching->given->watched.is_fuse || !collector_call_cost(watching->profile.collector, &cost))
        return 0;
    if (watching->is_beside_another)
        return aggstats_profile_add_label(profile, "cost",
                                          "not measured, as another osprof attach was running already");
    profile->has_cost = true;
    profile->cost_calls = cost.all_calls;
    profile->cost_ns.each = (uint64_t)(fmax(cost.other_ns, 0) + 0.5);
    profile->cost_ns.counted = (uint64_t)(fmax(cost.counted_ns, 0) + 0.5);
    return 0;
}

/* ret_is_lost: where it was to be there is nothing. A page that is printed is enough where no file was asked for */
static int save(const struct recording *recording, struct watching *watching, bool *ret_is_lost) {
    const struct attach_command *given = watching->given;
    struct kept *kept = &watching->kept;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = recording_format(recording, &text, &size_bytes);
    *ret_is_lost = error;
    if (error) {
        complain("cannot write the profile: %s", strerror(-error));
        return error;
    }
    kept_save(kept, 0, text, size_bytes);
    if (given->file)
        error = output_write(given->file, 0600, text, size_bytes);
    if (error)
        complain("cannot write %s: %s%s", given->file, output_error_text(error),
                 kept->error ? "" : "; it is kept: osprof show @1");
    *ret_is_lost = kept->error && (given->file ? error != 0 : given->is_quiet);
    return error;
}

/* Call when the recorders are complete, before they are finished. What can be saved nowhere stays in the live file.
 * Errors: reported to the user */
static int conclude(struct watching *watching) {
    const struct attach_command *given = watching->given;
    struct recording recording = {.layers = NULL};
    struct aggstats_profile profile = {0};
    bool is_lost = true;
    int error = aggstats_recorder_snapshot(watching->profile.session.recorder, &profile);
    if (error == 0)
        error = add_not_told(watching, &profile);
    if (error == 0)
        error = aggstats_profile_add_label(&profile, "attached", watching->attached);
    if (error == 0)
        error = add_cost(watching, &profile);
    if (error == 0)
        error = recording_add(&recording, &profile);
    aggstats_profile_finish(&profile);
    if (error)
        complain("cannot make the profile: %s", strerror(-error));
    else
        error = save(&recording, watching, &is_lost);
    if (is_lost)
        session_leave(&watching->profile.session);
    if (recording.count > 0 && given->json) {
        const int json_error = advice_json_write(&recording.layers[0], stdout);
        if (json_error)
            complain("cannot write JSON: %s", strerror(-json_error));
        error = error ? error : json_error;
    } else if (recording.count > 0 && !given->is_quiet) {
        const struct input input = {.profile = recording.layers[0]};
        const char *again = given->file ? given->file : watching->kept.error ? NULL : "";
        const struct show_options options = {.lines_max = given->is_verbose ? 0 : LINES_MAX,
                                             .source = {.profile = again, .has_groups_asked = given->has_by},
                                             .stream = stdout};
        show_page(&input, &options);
    }
    recording_finish(&recording);
    return error;
}

/* ---- Watching ----------------------------------------------------------------------------------- */

/* One at a time at a place: each would slow down what the other measures. Call under live_dirs_lock().
 * ret_has_other: whether there is any at all */
static bool is_watched(const char *path, bool *ret_has_other) {
    CLEANUP_LIVE_FILES struct live_files files = {.files = NULL};
    bool found = false;
    *ret_has_other = false;
    if (live_files_find(&files) < 0)
        return false;
    for (size_t i = 0; i < files.count && !found; i++) {
        const struct live_file *file = &files.files[i];
        const char *place = aggstats_profile_label(&file->profile, "mount");
        const char *layer = aggstats_profile_label(&file->profile, "layer");
        if (!file->info.recording || !layer || strcmp(layer, "syscall") != 0)
            continue;
        *ret_has_other = true;
        found = place && strcmp(place, path) == 0;
        if (found)
            complain("%s is watched already, by process %lld: osprof show %s", path, (long long)file->info.pid, path);
    }
    return found;
}

/* An attach_is_there_fn. */
static bool is_there(const void *context) {
    const struct watching *watching = context;
    return attach_watched_is_there(&watching->given->watched, watching->profile.collector);
}

/* Begins to count, tells the user, and waits for the end. Errors: reported to the user */
static int watch(struct watching *watching) {
    const struct attach_command *given = watching->given;
    const struct attach_target *target = &given->watched.target;
    const bool is_named = target->mountpoint; /* by the user, as the path */
    const struct attach_place place = {.path = watching->path,
                                       .type = target->mount.type,
                                       .source = given->watched.is_fuse ? target->mount.source
                                                                        : target->mountpoint, /* where paths begin */
                                       .root = target->mount.root}; /* no device: the profile may be saved there */
    struct attach_profile *profile = &watching->profile;
    struct collector *collector = NULL;
    struct signals signals;
    char why[COLLECTOR_WHY_SIZE];
    char until[48];
    int64_t end_ns = INT64_MAX;
    int error = signals_init(&signals);
    if (error)
        return error;
    error = attach_watched_start(&given->watched, &given->options, &collector, why);
    if (error == 0) {
        error = attach_profile_start(profile, &given->options, &place, collector, !given->watched.is_fuse);
        snprintf(why, sizeof(why), "%s", strerror(-error));
    }
    live_dirs_unlock(&watching->lock_fd);
    if (error) {
        complain("cannot watch %s: %s", watching->path, why);
        signals_finish(&signals);
        return error;
    }
    CLEANUP_FREE char *words = attach_watched_describe(&given->watched);
    snprintf(until, sizeof(until), "%s", given->watched.is_fuse ? "until it is unmounted, or Ctrl-C" : "until Ctrl-C");
    if (given->for_ns > 0)
        snprintf(until, sizeof(until), "for %g s", (double)given->for_ns / 1e9);
    complain("%s are counted %s%s%s", words ? words : "calls", until, is_named ? "" : "; meanwhile: osprof show ",
             is_named ? "" : watching->path);
    if (given->for_ns > 0)
        end_ns = read_clock_ns(CLOCK_MONOTONIC) + (int64_t)given->for_ns;
    attach_profile_follow(profile, &signals, end_ns, is_there, watching);
    attach_profile_stop(profile);
    error = conclude(watching);
    const int end_error = attach_profile_end(profile);
    attach_profile_finish(profile);
    signals_finish(&signals);
    return error ? error : end_error;
}

/* Opens the slow log and the events file, and keeps others from watching the same. Errors: reported to the user */
static int attach(struct attach_command *given) {
    struct attach_options *options = &given->options;
    struct watching watching = {.given = given,
                                .path = attach_watched_path(&given->watched),
                                .attached = attach_watched_arguments(&given->watched),
                                .kept = {.dir_fd = -1},
                                .lock_fd = live_dirs_lock()};
    int error = watching.path && watching.attached ? 0 : -ENOMEM;
    if (error == 0 && !given->watched.is_fuse && is_watched(watching.path, &watching.is_beside_another))
        error = -EBUSY;
    if (error == 0) {
        options->whose = attach_watched_label(&given->watched);
        options->mounts = given->watched.target.mountpoint ? NULL : &given->watched.mounts;
        if (given->watched.is_fuse)
            options->session.groupings = 0;
        else if (!given->has_by && options->mounts)
            options->session.groupings |= 1U << AGGSTATS_BY_FILESYSTEM;
        kept_open(&watching.kept);
    }
    if (error == 0 && given->slow_log_target) {
        const struct slow_log_options wanted = {
            .target = given->slow_log_target,
            .mountpoint = watching.path,
            .size_bytes_max = SLOW_LOG_SIZE_DEFAULT,
            .rate_max = SLOW_LOG_RATE_DEFAULT,
            .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S},
        };
        log_set_name("osprof");
        error = slow_log_start(&wanted, &options->slow_log);
    }
    if (error == 0 && given->events_file && (error = output_check(given->events_file)) != 0)
        complain("cannot record events to %s: %s", given->events_file, output_error_text(error));
    if (error == 0 && given->events_file)
        error = attach_events_open(given->events_file, &options->events);
    if (error == 0)
        error = watch(&watching);
    live_dirs_unlock(&watching.lock_fd);
    slow_log_destroy(options->slow_log);
    attach_events_finish(options->events);
    kept_finish(&watching.kept);
    free(options->whose.value);
    free(watching.attached);
    free(watching.path);
    return error;
}

/* ---- The command line --------------------------------------------------------------------------- */

/* The result is written when the daemon may have ended: so it must not lie in its mount, and commands that want it wait for
 * it, by its path in the live file. Errors: reported to the user */
static int find_result(struct attach_command *given) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    char directory[PATH_MAX];
    if (output_is_stdout(given->file))
        return 0;
    int error = session_check_place(given->file, given->watched.target.mount.device);
    if (error == 0)
        error = open_parent(AT_FDCWD, given->file, &dir_fd, &name);
    if (error == 0)
        error = path_of_open(dir_fd, directory);
    if (error == 0 && !(given->options.result = path_join(directory, name)))
        error = -ENOMEM;
    if (error)
        complain("cannot write %s: %s", given->file,
                 error == -ELOOP ? "it lies in the mount itself; name another file with -o" : output_error_text(error));
    return error;
}

/* Finds all that the arguments name, before anything is begun. Errors: reported to the user */
static int find(struct attach_command *given, const char *directory) {
    char causes_why[THREAD_CAUSES_WHY_SIZE] = "";
    char stacks_why[USER_STACKS_WHY_SIZE] = "osprof must run outside of this PID namespace";
    char why[COLLECTOR_WHY_SIZE];
    int error = output_check(given->file);
    if (error) {
        complain("cannot write %s: %s", given->file, output_error_text(error));
        return error;
    }
    error = thread_causes_init(&given->causes, given->causes_file, causes_why);
    if (error) {
        complain("--causes %s: %s", given->causes_file ? given->causes_file : "",
                 causes_why[0] ? causes_why : strerror(-error));
        return error;
    }
    given->options.causes = &given->causes;
    error = collector_check(why);
    if (error) {
        complain("cannot watch %s: %s%s",
                 directory       ? directory
                 : given->cgroup ? given->cgroup
                                 : "processes",
                 why, error == -EPERM && geteuid() != 0 ? COLLECTOR_PERMISSION_HINT : "");
        return error;
    }
    error = attach_watched_find(&given->watched, directory, given->cgroup);
    if (error == 0 && given->watched.is_fuse)
        error = find_result(given);
    if (error || !given->has_stacks)
        return error;
    error = collector_has_process_numbers() ? user_stacks_start(&given->options.stacks, stacks_why) : -ENOTSUP;
    if (error)
        complain("cannot find the functions of programs (--stacks): %s", stacks_why);
    return error;
}

static bool check(const struct command *command, const struct attach_command *given,
                  const struct arguments *arguments) {
    char complaint[USER_LABEL_COMPLAINT_SIZE];
    const char *of_slow = options_given(arguments, "stacks slowlog events");
    const char *of_calls = options_given(arguments, "by groups pid cgroup slow stacks slowlog events causes");
    const bool is_fuse = given->watched.is_fuse;
    if (is_fuse && of_calls)
        usage_error(command, "--%s is of system calls: requests that the kernel reports tell neither %s", of_calls,
                    strchr("sc", of_calls[0]) && strcmp(of_calls, "cgroup") != 0 ? "causes nor stacks"
                                                                                 : "programs nor files");
    else if (is_fuse && arguments->rest_count == 0)
        usage_error(command, "the mount must be given");
    else if (given->is_quiet && given->is_verbose)
        usage_error(command, "--verbose is about what is printed, and --quiet prints nothing");
    else if (given->json && (given->is_quiet || given->is_verbose || (given->file && output_is_stdout(given->file))))
        usage_error(command, "--json goes without --quiet, --verbose and --output -");
    else if (arguments->rest_count > 1)
        usage_error(command, "at most one directory may be given");
    else if (arguments->rest_count == 0 && given->watched.processes.count == 0 && !given->cgroup)
        usage_error(command, "a directory, --pid or --cgroup must be given");
    else if (of_slow && given->options.session.slow_ns == 0)
        usage_error(command, "--%s is of slow calls: give --slow TIME, too", of_slow);
    else if (!aggstats_resolution_valid(given->options.session.resolution) ||
             given->options.session.resolution > COLLECTED_RESOLUTION)
        usage_error(command, "--resolution takes 1, 2 or 4, not '%u'", given->options.session.resolution);
    else if (!user_labels_valid(given->options.session.labels.texts, given->options.session.labels.count, complaint))
        usage_error(command, "--label %s", complaint);
    else
        return true;
    return false;
}

static enum status run_attach(const struct command *command, int argc, char **argv) {
    struct attach_command given = {.options = {
                                       .session = {.resolution = COLLECTED_RESOLUTION, .groupings = GROUPINGS},
                                   }};
    struct arguments arguments;
    enum status status;
    given.layer = "syscall";
    if (options_parse(command, argc, argv, &given, &arguments, &status)) {
        given.options.layer = given.layer;
        given.watched.is_fuse = strcmp(given.layer, "fuse") == 0;
        given.options.has_under_way = !given.watched.is_fuse;
        status = check(command, &given, &arguments) &&
                         find(&given, arguments.rest_count > 0 ? arguments.rest[0] : NULL) == 0 && attach(&given) == 0
                     ? STATUS_OK
                     : STATUS_TROUBLE;
    }
    free(given.options.result);
    user_stacks_finish(given.options.stacks);
    attach_watched_finish(&given.watched);
    thread_causes_finish(&given.causes);
    option_list_finish(&given.options.session.labels);
    return status;
}

const struct command command_attach = {
    .name = "attach",
    .summary = "profiles the calls on a file system in use, in place",
    .help = "Counts the system calls of all programs on the file system of DIR, in the kernel, from now on; or of some "
            "processes or a control group, there or on all file systems. Nothing is mounted over it, and no program is "
            "started anew. Meanwhile osprof show DIR, top, ctl and save work as with a mount; at Ctrl-C a summary is "
            "printed, and the result is kept as that of osprof run.",
    .notes =
        "Takes root, or the capabilities CAP_BPF and CAP_PERFMON. While it lasts, each system call of this machine "
        "takes longer: docs/internals/benchmarks.md. Exit status: 0; 2 it failed.",
    .options = rows,
    .common = COMMON_SCREEN | COMMON_FORCE,
    .run = run_attach,
};
