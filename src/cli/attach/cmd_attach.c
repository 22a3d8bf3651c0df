/* osprof attach: profiles the calls on a file system that is in use, without a mount over it or a restart. */
#include <string.h>

#include "aggstats/caller_groups.h"
#include "aggstats/user_label.h"
#include "attach_page.h"
#include "attach_watched.h"
#include "base.h"
#include "command.h"
#include "groupings.h"
#include "live_dirs.h"
#include "live_files.h"
#include "log.h"
#include "option_table.h"

#define GROUPINGS                                                                                                      \
    (1U << AGGSTATS_BY_PROCESS | 1U << AGGSTATS_BY_PROGRAM | 1U << AGGSTATS_BY_CGROUP | 1U << AGGSTATS_BY_FILE |       \
     1U << AGGSTATS_BY_DIRECTORY)
#define GROUPINGS_WORDS "process", "program", "cgroup", "file", "directory", "filesystem",

struct attach_command {
    uint64_t for_ns; /* 0: until a signal asks to end */
    struct attach_processes processes;
    const char *cgroup;          /* NULL: all */
    const char *causes_file;     /* NULL: none */
    const char *slow_log_target; /* NULL: none */
    const char *events_file;     /* NULL: none */
    struct thread_causes causes;
    bool has_by; /* groups were chosen */
    bool has_stacks;
    struct attach_options options;
    struct attach_report report;
};

/* See option_row.parse */
static const char *parse_by(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    static const char *const words[] = {GROUPINGS_WORDS NULL};
    struct attach_command *given = data;
    given->has_by = true;
    if (strcmp(*text, "none") != 0)
        return groupings_parse(*text, words, &given->options.session.groupings, why);
    given->options.session.groupings = 0;
    return NULL;
}

static const struct option_row rows[] = {
    {.name = "profile",
     .letter = 'p',
     .metavar = "FILE",
     .help = "write the profile to FILE too; {-} is standard output",
     INTO(FILE, struct attach_command, report.file)},
    {.name = "quiet", .letter = 'q', .help = "print no page", INTO(FLAG, struct attach_command, report.is_quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "print all of the profile, not only one screen",
     INTO(FLAG, struct attach_command, report.is_verbose)},
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
    ROW_PROCESSES("only calls of these processes and their descendants", struct attach_command, processes),
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

/* ---- Beginning and end -------------------------------------------------------------------------- */

static bool is_of_attach(const struct live_file *file) {
    const char *layer = aggstats_profile_label(&file->profile, "layer");
    return file->info.recording && layer && strcmp(layer, "syscall") == 0;
}

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
        if (!is_of_attach(file))
            continue;
        *ret_has_other = true;
        found = place && strcmp(place, path) == 0;
        if (found)
            complain("%s is watched already, by process %lld: osprof show %s", path, (long long)file->info.pid, path);
    }
    return found;
}

static void tell_beginning(const struct attach_watched *watched, const char *path, uint64_t for_ns) {
    CLEANUP_FREE char *words = attach_watched_describe(watched);
    char until[40] = "until Ctrl-C";
    if (for_ns > 0)
        snprintf(until, sizeof(until), "for %g s", (double)for_ns / 1e9);
    const bool is_named = watched->target.mountpoint; /* by the user, as the path */
    complain("%s are counted %s%s%s", words ? words : "calls", until, is_named ? "" : "; meanwhile: osprof show ",
             is_named ? "" : path);
}

/* What is watched, and what becomes of it. */
struct watching {
    const struct attach_watched *watched;
    const char *path; /* its name */
    struct attach_options options;
    struct attach_report report;
    struct attach_profile profile;
    int lock_fd; /* until others find the live profile: of two that begin together one finds the other, and none measures
                  * what loading the other's programs costs */
};

/* Errors: reported to the user */
static int begin(struct watching *watching, uint64_t for_ns) {
    const struct attach_target *target = &watching->watched->target;
    const struct attach_place place = {.path = watching->path,
                                       .type = target->mount.type,
                                       .source = target->mountpoint, /* where paths begin */
                                       .root = target->mount.root};  /* no device: the profile may be saved there */
    char why[COLLECTOR_WHY_SIZE];
    struct collector *collector = NULL;
    int error = attach_watched_start(watching->watched, &watching->options, &collector, why);
    if (error == 0) {
        error = attach_profile_start(&watching->profile, &watching->options, &place, collector, true);
        snprintf(why, sizeof(why), "%s", strerror(-error));
    }
    live_dirs_unlock(&watching->lock_fd);
    if (error)
        complain("cannot watch %s: %s", watching->path, why);
    else
        tell_beginning(watching->watched, watching->path, for_ns);
    return error;
}

/* An attach_is_there_fn. */
static bool is_there(const void *context) {
    const struct watching *watching = context;
    return attach_watched_is_there(watching->watched, watching->profile.collector);
}

static int watch(struct watching *watching, uint64_t for_ns, struct kept *kept) {
    struct attach_profile *profile = &watching->profile;
    struct signals signals;
    int error = signals_init(&signals);
    if (error)
        return error;
    error = begin(watching, for_ns);
    if (error == 0) {
        const int64_t end_ns = for_ns > 0 ? read_clock_ns(CLOCK_MONOTONIC) + (int64_t)for_ns : INT64_MAX;
        attach_profile_follow(profile, &signals, end_ns, is_there, watching);
        attach_profile_stop(profile);
        error = attach_page(profile, kept, &watching->report);
        int end_error = attach_profile_end(profile);
        error = error ? error : end_error;
        attach_profile_finish(profile);
    }
    signals_finish(&signals);
    return error;
}

/* Errors: reported to the user */
static int start_slow_log(const struct attach_command *given, const char *path, struct slow_log **ret_log) {
    const struct slow_log_options wanted = {
        .target = given->slow_log_target,
        .mountpoint = path,
        .size_bytes_max = SLOW_LOG_SIZE_DEFAULT,
        .rate_max = SLOW_LOG_RATE_DEFAULT,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S},
    };
    log_set_name("osprof");
    return wanted.target ? slow_log_start(&wanted, ret_log) : 0;
}

static int attach_watched(const struct attach_command *given, const struct attach_watched *watched) {
    CLEANUP_FREE char *path = attach_watched_path(watched);
    struct watching watching = {
        .watched = watched, .path = path, .options = given->options, .report = given->report, .lock_fd = -1};
    struct attach_options *options = &watching.options;
    struct kept kept = {.dir_fd = -1};
    if (!path)
        return -ENOMEM;
    watching.lock_fd = live_dirs_lock();
    if (is_watched(path, &watching.report.is_beside_another)) {
        live_dirs_unlock(&watching.lock_fd);
        return -EBUSY;
    }
    options->whose = attach_watched_label(watched);
    options->mounts = watched->target.mountpoint ? NULL : &watched->mounts;
    if (!given->has_by && options->mounts)
        options->session.groupings |= 1U << AGGSTATS_BY_FILESYSTEM;
    watching.report.attached = attach_watched_arguments(watched);
    watching.report.whose = attach_watched_untold(watched);
    kept_open(&kept);
    int error = watching.report.attached ? start_slow_log(given, path, &options->slow_log) : -ENOMEM;
    if (error == 0 && given->events_file)
        error = attach_events_open(given->events_file, &options->events);
    if (error == 0)
        error = watch(&watching, given->for_ns, &kept);
    live_dirs_unlock(&watching.lock_fd);
    slow_log_destroy(options->slow_log);
    attach_events_finish(options->events);
    kept_finish(&kept);
    free(options->whose.value);
    free(watching.report.attached);
    return error;
}

/* Errors: reported to the user */
static int settle_causes(struct attach_command *given) {
    char why[THREAD_CAUSES_WHY_SIZE] = "";
    int error = thread_causes_init(&given->causes, given->causes_file, why);
    if (error)
        complain("--causes %s: %s", given->causes_file ? given->causes_file : "", why[0] ? why : strerror(-error));
    given->options.causes = &given->causes;
    return error;
}

/* Errors: reported to the user */
static int settle_stacks(struct attach_command *given) {
    char why[USER_STACKS_WHY_SIZE] = "osprof must run outside of this PID namespace";
    int error = !given->has_stacks                 ? 0
                : !collector_has_process_numbers() ? -ENOTSUP
                                                   : user_stacks_start(&given->options.stacks, why);
    if (error)
        complain("cannot find the functions of programs (--stacks): %s", why);
    return error;
}

static int attach(struct attach_command *given, const char *directory) {
    char why[COLLECTOR_WHY_SIZE];
    struct attach_watched watched;
    int error = collector_check(why);
    if (error)
        complain("cannot watch %s: %s", directory ? directory : given->cgroup ? given->cgroup : "processes", why);
    else
        error = attach_watched_find(directory, &given->processes, given->cgroup, &watched);
    if (error)
        return error;
    error = settle_stacks(given);
    if (error == 0)
        error = attach_watched(given, &watched);
    user_stacks_finish(given->options.stacks);
    attach_watched_finish(&watched);
    return error;
}

static bool check(const struct command *command, const struct attach_command *given,
                  const struct arguments *arguments) {
    char complaint[USER_LABEL_COMPLAINT_SIZE];
    if (arguments->rest_count > 1)
        usage_error(command, "at most one directory may be given");
    else if (arguments->rest_count == 0 && given->processes.count == 0 && !given->cgroup)
        usage_error(command, "a directory, --pid or --cgroup must be given");
    else if (given->has_stacks && given->options.session.slow_ns == 0)
        usage_error(command, "--stacks is of slow calls: give --slow TIME, too");
    else if (given->slow_log_target && given->options.session.slow_ns == 0)
        usage_error(command, "--slowlog is of slow calls: give --slow TIME, too");
    else if (given->events_file && given->options.session.slow_ns == 0)
        usage_error(command, "--events is of slow calls: give --slow TIME, too");
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
        status = check(command, &given, &arguments) && settle_causes(&given) == 0 &&
                         attach(&given, arguments.rest_count > 0 ? arguments.rest[0] : NULL) == 0
                     ? STATUS_OK
                     : STATUS_TROUBLE;
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
