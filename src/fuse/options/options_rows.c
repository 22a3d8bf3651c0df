/* The table of osproffs's options, used by parsing, --help and completion, and before it the functions of its rows. */
#include "options.h"

#include <string.h>

#include <fuse_lowlevel.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/words.h"
#include "base.h"
#include "config.h"
#include "control.h"
#include "ctl.h"
#include "slow_log.h"
#include "uring.h"

#define ROTATE_MAX_S 31536000 /* a year */
#define KEEP_MAX 1000000
#define EVENTS_BYTES_MIN (1U << 20)
#define EVENTS_BYTES_RULE "must be a number of bytes, 1M or more, such as 64M"
#define SLOW_LOG_RATE_MAX 1000000

/* ---- Values of several numbers or words --------------------------------------------------------- */

/* "read:size+readdir:past_eof" */
static const char *parse_joint(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    struct options *options = data;
    (void)why; /* errors have no text here */
    for (char *pair, *rest = *text; (pair = strsep(&rest, "+"));) {
        *text = pair;
        const char *wrong = session_parse_joint(prof_find_joint, pair, options->session.joint);
        if (wrong)
            return wrong;
    }
    return NULL;
}

static const char by_none[] = "none";
static const char *const by_words[] = {by_none, GROUPING_WORDS_OF_MOUNTS NULL};

/* "process+uid", or "none" */
static const char *parse_by(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    struct options *options = data;
    (void)why; /* errors have no text here */
    return strcmp(*text, by_none) == 0 ? NULL
                                       : control_parse_groups(*text, CONTROL_GROUPS_RULE("none"), &options->groups);
}

static const char *parse_rotate(const char *text, uint64_t *ret_ns) {
    return time_parse(text, (uint64_t)NS_PER_S, (uint64_t)ROTATE_MAX_S * NS_PER_S, ret_ns) && *ret_ns % NS_PER_S == 0
               ? NULL
               : "must be whole seconds, up to a year, such as 3600, 30m or 1h";
}

/* ---- Checks against other options --------------------------------------------------------------- */

static bool is_given(const struct options *options, const char *names) {
    return option_given(options_rows, options->given, names);
}

static bool is_log_of_system(const struct options *options) {
    return options->slow_log && strcmp(options->slow_log, SLOW_LOG_SYSTEM) == 0;
}

/* Defines a check of a row: the condition, and the message if it is false. */
#define CHECK(name, is_right, wrong)                                                                                   \
    static const char *name(const void *data, char why[OPTION_TEXT_SIZE]) {                                            \
        const struct options *options = data;                                                                          \
        (void)options, (void)why;                                                                                      \
        return (is_right) ? NULL : (wrong);                                                                            \
    }

CHECK(check_keep, is_given(options, "rotate"), "of what? Add rotate=TIME")
CHECK(check_rotate, options->profile &&strcmp(options->profile, "-") != 0, "say where profiles go, with profile=DIR")
CHECK(check_groups, options->groups.groupings != 0, "of what? Add by=process, for example")
CHECK(check_log_size, options->slow_log && !is_log_of_system(options), "of what? Add slowlog=FILE")
CHECK(check_log_rate, is_log_of_system(options), "is for the system log; add slowlog=" SLOW_LOG_SYSTEM)
CHECK(check_pseudo, geteuid() == 0, "only root may show others the kernel's own file systems")

static const char *check_timing(const void *data, char why[OPTION_TEXT_SIZE]) {
    const struct options *options = data;
    const char *besides = option_given(options_rows, options->given, "joint interval rotate slow events slowlog");
    if (!besides && options->groups.groupings != 0)
        besides = "by";
    if (options->timing == TIMING_FULL || !besides)
        return NULL;
    snprintf(why, OPTION_TEXT_SIZE, "nothing is recorded, so leave out %s", besides);
    return why;
}

static const char *check_data(const void *data, char why[OPTION_TEXT_SIZE]) {
    const struct options *options = data;
    if (!options->kernel_data)
        return NULL;
    if (options->cache == CACHE_NONE)
        return "the kernel uses the cache of the lower files, so leave out cache=none";
    if (options->session.joint[FS_OP_READ] || options->session.joint[FS_OP_WRITE])
        return "the kernel's reads and writes are not profiled, so leave out joint of them";
    if (OSPROFFS_HAS_PASSTHROUGH)
        return NULL;
    snprintf(why, OPTION_TEXT_SIZE, "this osproffs is built with libfuse %s; it takes 3.17", fuse_pkgversion());
    return why;
}

static const char *check_control(const void *data, char why[OPTION_TEXT_SIZE]) {
    const char *name = ((const struct options *)data)->control_name;
    bool is_directory = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (name[0] && strlen(name) <= CTL_NAME_MAX && !strchr(name, '/') && !is_directory)
        return NULL;
    snprintf(why, OPTION_TEXT_SIZE, "must be a plain file name of at most %d bytes, such as .osprof",
             (int)CTL_NAME_MAX);
    return why;
}

/* libfuse would continue without it. */
static const char *check_ring(const void *data, char why[OPTION_TEXT_SIZE]) {
    (void)data;
    const char *before = OSPROFFS_HAS_IO_URING ? "" : "this osproffs is built with ";
    const char *after = !OSPROFFS_HAS_IO_URING ? "; it takes 3.18.2, built with io_uring"
                        : !ring_is_built_in()  ? " is built without it here; build libfuse with -Denable-io-uring=true"
                        : !ring_is_sound() ? " may use memory there that it has freed (CVE-2026-33150); it takes 3.18.2"
                                           : NULL;
    if (!after)
        return NULL;
    snprintf(why, OPTION_TEXT_SIZE, "%slibfuse %s%s", before, fuse_pkgversion(), after);
    return why;
}

/* ---- The table ---------------------------------------------------------------------------------- */

static const char *const cache_words[] = {
    [CACHE_AUTO] = "auto", [CACHE_NONE] = "none", [CACHE_ALWAYS] = "always", [CACHE_ALWAYS + 1] = NULL};
static const char *const timing_words[] = {[TIMING_OFF] = "off", [TIMING_FULL] = "full", [TIMING_FULL + 1] = NULL};

const char *cache_mode_name(enum cache_mode mode) {
    return cache_words[mode];
}

#define FLAG(option, member, text) .name = (option), .help = (text), INTO(FLAG, struct options, member)
#define ACTION(option, value) .name = (option), .constant = (value), INTO(CONSTANT, struct options, action)
#define VALUE(option_kind, option, value, member, text)                                                                \
    .name = (option), .metavar = (value), .help = (text), INTO(option_kind, struct options, member)
#define PARSED(option, value, function, text)                                                                          \
    .name = (option), .metavar = (value), .help = (text), .kind = OPTION_PARSED, .parse = (function)
#define BOUNDS(least, most) .min = (least), .max = (most)

const struct option_row options_rows[] = {
    {FLAG("-f", foreground, "stay in the foreground")},
    {FLAG("-s", single_threaded, "one request at a time")},
    {FLAG("debug", debug, "print libfuse's debugging messages (implies -f)"), .letter = 'd', .for_libfuse = true},
    {ACTION("--help", OPTIONS_HELP), .letter = 'h', .help = "print this help"},
    {ACTION("--version", OPTIONS_VERSION), .letter = 'V', .help = "print versions"},
    {ACTION("--complete", OPTIONS_COMPLETE), .is_hidden = true}, /* for completions/ */
    {.kind = OPTION_HEADING, .help = "Where the profile goes:"},
    {VALUE(FILE, "profile", "FILE", profile, "where the final profile goes (osprof.out; - with -f: standard output)"),
     .min = 1},
    {VALUE(TIME, "rotate", "TIME", rotate_ns,
           "save a profile each TIME (1h, 30m), in the directory that profile= names"),
     .parse_time = parse_rotate, .check = check_rotate},
    {VALUE(UNSIGNED, "keep", "N", keep, "of these only the latest N"), BOUNDS(1, KEEP_MAX), .check = check_keep},
    {VALUE(CHOICE, "resolution", "R", resolution_power, "buckets per power of two: {} (1)"), WORDS("1", "2", "4", "8")},
    {.kind = OPTION_HEADING, .help = "What the kernel and the workers do:"},
    {VALUE(CHOICE, "cache", "MODE", cache, "what the kernel may answer by itself: auto, none, always (auto)"),
     .words = cache_words},
    {VALUE(CHOICE, "timing", "HOW", timing, "whether calls are timed and counted: full, off (full)"),
     .words = timing_words, .check = check_timing},
    {VALUE(EITHER, "data", "HOW", kernel_data,
           "who reads and writes: copy, or passthrough: the kernel, unprofiled (copy)"),
     WORDS("copy", "passthrough"), .check = check_data},
    {VALUE(EITHER, "workers", "HOW", plain_workers,
           "adaptive: bound to the CPUs of callers while requests are short; plain: never"),
     WORDS("adaptive", "plain")},
    {FLAG("io_uring", over_ring, "requests come over io_uring (libfuse 3.18.2, Linux 6.14)"), .for_libfuse = true,
     .excludes = "-s", .why_excluded = "there is a ring, and a worker for it, for each CPU", .check = check_ring},
    {.kind = OPTION_HEADING, .help = "What is recorded beside the whole:"},
    {VALUE(TIME, "interval", "TIME", session.interval_ns,
           "a sampled profile: cut into intervals of that length (100ms, 0.5s)"),
     .parse_time = control_parse_interval},
    {VALUE(UNSIGNED, "intervals", "N", session.intervals_max, "at most so many; then they become twice as long (1024)"),
     BOUNDS(2, AGGSTATS_INTERVALS_MAX), .step = 2},
    {PARSED("joint", "OP:VALUE[+...]", parse_joint,
            "relate latencies to size, result, offset, error, past_eof, blocked or cpu")},
    {PARSED("by", "KIND[+KIND...]", parse_by,
            "a profile for each process, program, cgroup, uid, file or\ndirectory (directory:N: of N components), too"),
     .words = by_words, .completed_as = "list"},
    {VALUE(UNSIGNED, "groups", "N", session.groups_max, "of so many at most of each kind (256); others are added up"),
     BOUNDS(AGGSTATS_GROUPS_MIN, AGGSTATS_GROUPS_MAX), .check = check_groups},
    {.kind = OPTION_HEADING, .help = "Slow calls, and each call by itself:"},
    {VALUE(TIME, "slow", "TIME", session.slow_ns,
           "tell what calls that take so long (10ms, 0.5s) have waited for: osprof why"),
     .parse_time = control_parse_slow},
    {VALUE(FILE, "events", "FILE", events, "record each call: when, whose, what came of it: osprof events"), .min = 1},
    {FLAG("events_names", events_names, "and its names, paths and arguments")},
    {VALUE(BYTES, "events_size", "BYTES", events_size_bytes, "until the file is so large (64M, 2G)"),
     .min = EVENTS_BYTES_MIN, .rule = EVENTS_BYTES_RULE, .excludes = "events_ring",
     .why_excluded = "a ring goes on, and keeps the last calls"},
    {VALUE(BYTES, "events_ring", "BYTES", events_ring_bytes,
           "keep the last so many in memory: for events FILE, the end, and slow calls"),
     .min = EVENTS_BYTES_MIN, .rule = EVENTS_BYTES_RULE},
    {VALUE(FILE, "causes", "FILE", causes, "more names of what they wait for; see osprof-why(1)")},
    {VALUE(FILE, "slowlog", "FILE|" SLOW_LOG_SYSTEM, slow_log,
           "a line of JSON for each slow call, in a file or in the system log"),
     .min = 1},
    {VALUE(BYTES, "slowlog_size", "SIZE", slow_log_size_bytes,
           "of the file, which then becomes FILE.1 (16M); 0: leave that to others"),
     .rule = "must be a number of bytes, such as 16M; 0: the file is not rotated", .check = check_log_size},
    {VALUE(UNSIGNED, "slowlog_rate", "N", slow_log_rate, "at most so many lines a minute in the system log (60)"),
     BOUNDS(1, SLOW_LOG_RATE_MAX), .unit = "lines a minute", .check = check_log_rate},
    {.kind = OPTION_HEADING, .help = "Names and places:"},
    {VALUE(TEXTS, "label", "KEY=VALUE", session.labels,
           "a line of the profile's header, such as label=rack=7; may be repeated")},
    {VALUE(TEXT, "control", "NAME", control_name,
           "name of the control file (.osprof); NAME.json and NAME.metrics stand beside it"),
     .check = check_control},
    {VALUE(FILE, "live", "DIR|none", live_directory, "where the live file is kept (see osproffs(1))"), .min = 1,
     WORDS("none"), .completed_as = "directory"},
    {.kind = OPTION_HEADING, .help = "As a file system; see also those of libfuse:"},
    {FLAG("posix_lock", forward_posix_locks, "pass record locks on to LOWER (default: local to this mount)")},
    {FLAG("flock", forward_flocks, "pass flock(2) locks on to LOWER (default: local to this mount)")},
    {FLAG("noatime", no_atime, "reading leaves access times in LOWER as they are; of directories only"),
     .metavar = ", nodiratime"},
    {FLAG("nodiratime", no_directory_atime, NULL)},
    {.name = "atime", .is_hidden = true, INTO(UNFLAG, struct options, no_atime)}, /* as in mount(8) */
    {.name = "diratime", .is_hidden = true, INTO(UNFLAG, struct options, no_directory_atime)},
    {FLAG("defaults", defaults, NULL), .is_hidden = true}, /* as in mount(8): no option at all */
    {FLAG("remount", remount, "change ro, rw, nosuid, suid and the like of a mount that is there")},
    {FLAG("no_default_permissions", no_default_permissions,
          "with allow_other: LOWER checks permissions, not the kernel")},
    {FLAG("pseudofs", shows_pseudo, "with allow_other: others also get into /proc, /sys and the like (unsafe)"),
     .check = check_pseudo},
    {FLAG("allow_other", allow_other, NULL), .for_libfuse = true}, /* libfuse's help lists these two */
    {FLAG("default_permissions", default_permissions, NULL), .for_libfuse = true, .excludes = "no_default_permissions",
     .why_excluded = "give one"},
    /* the kernel would get different sizes at different times, and refuse everything */
    {.name = "max_read",
     .kind = OPTION_REFUSED,
     .is_hidden = true,
     .rule = "osproffs takes reads as large as the kernel makes them; leave the option out"},
    {.kind = OPTION_END},
};
