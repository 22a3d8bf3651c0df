/* osprof attach: profiles the calls on a file system that is in use, without a mount over it or a restart. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    const char *file;            /* where the profile is saved besides; NULL: nowhere */
    bool is_quiet;               /* no page */
    bool is_verbose;             /* all of it */
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
    {.name = "profile",
     .letter = 'p',
     .metavar = "FILE",
     .help = "write the profile to FILE too; {-} is standard output",
     INTO(FILE, struct attach_command, file)},
    {.name = "quiet", .letter = 'q', .help = "print no page", INTO(FLAG, struct attach_command, is_quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "print all of the profile, not only one screen",
     INTO(FLAG, struct attach_command, is_verbose)},
    ROW_FOR("end after TIME, such as 10s; default: at Ctrl-C", struct attach_command, for_ns),
    {.name = "resolution",
     .letter = 'r',
     .metavar = "N",
     .min = 1,
     .max = COLLECTED_RESOLUTION,
     .help = "buckets per power of two: 1, 2 or 4; default: 4",
     INTO(UNSIGNED, struct attach_command, options.session.resolution)},
    {.name = "interval",
     .metavar = "TIME",
     .help = "keep the profile of each interval of that length too",
     .parse_time = control_parse_interval,
     INTO(TIME, struct attach_command, options.session.interval_ns)},
    ROW_PROCESSES("only calls of these processes and their descendants", struct attach_command, watched.processes),
    ROW_CGROUP("only calls of processes in that control group and below", struct attach_command, cgroup),
    {.name = "by",
     .metavar = "KIND[+KIND]...|none",
     WORDS_OF(GROUPINGS_WORDS "none", ),
     .help = "whose calls, and on what: {}; default: all kinds, filesystem without DIR only",
     .completed_as = "list",
     .kind = OPTION_PARSED,
     .parse = parse_by},
    {.name = "groups",
     .metavar = "N",
     .min = AGGSTATS_GROUPS_MIN,
     .max = AGGSTATS_GROUPS_MAX,
     .help = "keep at most N of each kind, {}; default: 256",
     INTO(UNSIGNED, struct attach_command, options.session.groups_max)},
    {.name = "slow",
     .metavar = "TIME",
     .help = "find out what calls that take so long wait for, such as 10ms",
     .parse_time = control_parse_slow,
     INTO(TIME, struct attach_command, options.session.slow_ns)},
    {.name = "stacks",
     .help = "of slow calls: find out which functions of programs made them",
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
     .help = "lines of one's own before the table of causes",
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
    if (!collector_call_cost(watching->profile.collector, &cost))
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
        error = output_write_private(given->file, text, size_bytes);
    if (error)
        complain("cannot write the profile to %s: %s%s", given->file, strerror(-error),
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
    if (recording.count > 0 && !given->is_quiet) {
        const struct input input = {.profile = recording.layers[0]};
        const char *again = given->file ? given->file : watching->kept.error ? NULL : "";
        const struct show_options options = {
            .lines_max = given->is_verbose ? 0 : LINES_MAX, .source = {.profile = again}, .stream = stdout};
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
                                       .source = target->mountpoint, /* where paths begin */
                                       .root = target->mount.root};  /* no device: the profile may be saved there */
    struct attach_profile *profile = &watching->profile;
    struct collector *collector = NULL;
    struct signals signals;
    char why[COLLECTOR_WHY_SIZE];
    char until[40] = "until Ctrl-C";
    int64_t end_ns = INT64_MAX;
    int error = signals_init(&signals);
    if (error)
        return error;
    error = attach_watched_start(&given->watched, &given->options, &collector, why);
    if (error == 0) {
        error = attach_profile_start(profile, &given->options, &place, collector, true);
        snprintf(why, sizeof(why), "%s", strerror(-error));
    }
    live_dirs_unlock(&watching->lock_fd);
    if (error) {
        complain("cannot watch %s: %s", watching->path, why);
        signals_finish(&signals);
        return error;
    }
    CLEANUP_FREE char *words = attach_watched_describe(&given->watched);
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
    if (error == 0 && is_watched(watching.path, &watching.is_beside_another))
        error = -EBUSY;
    if (error == 0) {
        options->whose = attach_watched_label(&given->watched);
        options->mounts = given->watched.target.mountpoint ? NULL : &given->watched.mounts;
        if (!given->has_by && options->mounts)
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

/* Finds all that the arguments name, before anything is begun. Errors: reported to the user */
static int find(struct attach_command *given, const char *directory) {
    char causes_why[THREAD_CAUSES_WHY_SIZE] = "";
    char stacks_why[USER_STACKS_WHY_SIZE] = "osprof must run outside of this PID namespace";
    char why[COLLECTOR_WHY_SIZE];
    int error = thread_causes_init(&given->causes, given->causes_file, causes_why);
    if (error) {
        complain("--causes %s: %s", given->causes_file ? given->causes_file : "",
                 causes_why[0] ? causes_why : strerror(-error));
        return error;
    }
    given->options.causes = &given->causes;
    error = collector_check(why);
    if (error) {
        complain("cannot watch %s: %s", directory ? directory : given->cgroup ? given->cgroup : "processes", why);
        return error;
    }
    error = attach_watched_find(&given->watched, directory, given->cgroup);
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
    if (arguments->rest_count > 1)
        usage_error(command, "at most one directory may be given");
    else if (arguments->rest_count == 0 && given->watched.processes.count == 0 && !given->cgroup)
        usage_error(command, "a directory, --pid or --cgroup must be given");
    else if (of_slow && given->options.session.slow_ns == 0)
        usage_error(command, "--%s is of slow calls: give --slow TIME, too", of_slow);
    else if (!aggstats_resolution_valid(given->options.session.resolution))
        usage_error(command, "--resolution takes 1, 2 or 4");
    else if (!user_labels_valid(given->options.session.labels.texts, given->options.session.labels.count, complaint))
        usage_error(command, "--label %s", complaint);
    else
        return true;
    return false;
}

static enum status run_attach(const struct command *command, int argc, char **argv) {
    struct attach_command given = {.options = {
                                       .session = {.resolution = COLLECTED_RESOLUTION, .groupings = GROUPINGS},
                                       .layer = "syscall",
                                       .has_under_way = true,
                                   }};
    struct arguments arguments;
    enum status status;
    if (options_parse(command, argc, argv, &given, &arguments, &status))
        status = check(command, &given, &arguments) &&
                         find(&given, arguments.rest_count > 0 ? arguments.rest[0] : NULL) == 0 && attach(&given) == 0
                     ? STATUS_OK
                     : STATUS_TROUBLE;
    user_stacks_finish(given.options.stacks);
    attach_watched_finish(&given.watched);
    thread_causes_finish(&given.causes);
    option_list_finish(&given.options.session.labels);
    return status;
}

const struct command command_attach = {
    .name = "attach",
    .summary = "profiles calls on file systems in use, in place",
    .help = "Counts the system calls of all programs on the file system of DIR, in the kernel, from now on; or of some "
            "processes or a control group, there or on all file systems. Nothing is mounted over it, and no program is "
            "started anew. Meanwhile osprof show DIR, top, reset and rotate work as "
            "with a mount; at Ctrl-C a page is printed, and the result is kept as that of osprof run.",
    .notes = "Takes root, or the capabilities CAP_BPF and CAP_PERFMON. While it lasts, each system call of this "
             "machine takes longer: docs/benchmarks.md.",
    .options = rows,
    .run = run_attach,
};
