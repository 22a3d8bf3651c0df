/* Parsing the command line with libfuse's parser, so that mount(8) and fstab work too. */
#include "options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <fuse_lowlevel.h>

#include "base.h"
#include "config.h"
#include "control.h"
#include "ctl.h"
#include "log.h"
#include "options_table.h"
#include "slow_log.h"
#include "uring.h"

#define ROTATE_MAX_S 31536000 /* a year */
#define KEEP_MAX 1000000
#define DEPTH_MAX 64
#define EVENTS_BYTES_MIN (1U << 20)
#define SLOW_LOG_SIZE_DEFAULT (16U << 20)
#define SLOW_LOG_RATE_DEFAULT 60
#define SLOW_LOG_RATE_MAX 1000000

static int take_path(struct options *options, const char *argument) {
    char **place = !options->lower ? &options->lower : !options->mountpoint ? &options->mountpoint : NULL;
    if (!place) {
        log_message("unexpected argument '%s': give one lower directory and one mount point", argument);
        return -1;
    }
    *place = strdup(argument);
    return *place ? 0 : -1;
}

/* Those beyond the first that is too many say nothing new. */
static int take_label(struct options *options, const char *label) {
    if (options->label_count == ARRAY_SIZE(options->labels))
        return 0;
    char *copy = strdup(label);
    if (copy)
        options->labels[options->label_count++] = copy;
    return copy ? 0 : -1;
}

static int take_argument(void *data, const char *argument, int key, struct fuse_args *args) {
    struct options *options = data;
    (void)args;
    switch (key) {
    case KEY_HELP:
        options->action = OPTIONS_HELP;
        return 0;
    case KEY_VERSION:
        options->action = OPTIONS_VERSION;
        return 0;
    case KEY_COMPLETE:
        options->action = OPTIONS_COMPLETE;
        return 0;
    case KEY_MAX_READ: /* the kernel would be told one size now and another later, and refuse everything */
        log_message("%s: osproffs takes reads as large as the kernel makes them; leave the option out", argument);
        return -1;
    case KEY_LABEL:
        return take_label(options, argument + strlen("label="));
    case FUSE_OPT_KEY_NONOPT:
        return take_path(options, argument);
    default:
        return 1; /* libfuse's, or nobody's: it will say so */
    }
}

/* The place of value among the option's words; -1 and a message if it is none of them. NULL: place_default. */
static int choose(const char *option, const char *value, int place_default) {
    const char *const *words = options_words(option);
    if (!value)
        return place_default;
    for (int place = 0; words[place]; place++) {
        if (strcmp(value, words[place]) == 0)
            return place;
    }
    char known[64] = "";
    for (size_t place = 0; words[place]; place++) {
        strncat(known, place == 0 ? "" : words[place + 1] ? ", " : " or ", sizeof(known) - strlen(known) - 1);
        strncat(known, words[place], sizeof(known) - strlen(known) - 1);
    }
    log_message("%s=%s: must be %s", option, value, known);
    return -1;
}

/* A whole number of an option. */
static bool parse_count(const char *text, unsigned least, unsigned most, unsigned *ret_count) {
    char *end;
    errno = 0;
    unsigned long count = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno != 0 || count < least || count > most)
        return false;
    *ret_count = (unsigned)count;
    return true;
}

/* Of a sampled profile: how long intervals are, and how many there may be. */
static int check_intervals(struct options *options, const struct raw_options *raw) {
    const char *why = raw->interval ? control_parse_interval(raw->interval, &options->interval_ns) : NULL;
    if (why) {
        log_message("interval=%s: %s", raw->interval, why);
        return -EINVAL;
    }
    if (!raw->intervals)
        return 0;
    if (parse_count(raw->intervals, 2, AGGSTATS_INTERVALS_MAX, &options->intervals_max) &&
        options->intervals_max % 2 == 0)
        return 0;
    log_message("intervals=%s: must be an even number from 2 to %u", raw->intervals, AGGSTATS_INTERVALS_MAX);
    return -EINVAL;
}

/* "directory:2" */
static int take_depth(struct options *options, const char *by, enum aggstats_grouping grouping, const char *depth) {
    if (grouping != AGGSTATS_BY_DIRECTORY)
        log_message("by=%s: only directory takes a depth", by);
    else if (!parse_count(depth, 1, DEPTH_MAX, &options->directory_depth))
        log_message("by=%s: the depth must be a number from 1 to %d, such as directory:2", by, DEPTH_MAX);
    else
        return 0;
    return -EINVAL;
}

static int take_grouping(struct options *options, const char *by, char *name) {
    char *depth = strchr(name, ':');
    if (depth)
        *depth++ = '\0';
    enum aggstats_grouping grouping = aggstats_grouping_of_name(name);
    if (grouping == AGGSTATS_UNGROUPED) {
        log_message(
            "by=%s: must be none, process, program, cgroup, uid, file or directory, or several of them, such as "
            "process+uid",
            by);
        return -EINVAL;
    }
    if (options->groupings & 1U << grouping) {
        log_message("by=%s: give %s once", by, name);
        return -EINVAL;
    }
    options->groupings |= 1U << grouping;
    return depth ? take_depth(options, by, grouping, depth) : 0;
}

/* "process+uid", or "none" */
static int check_by(struct options *options, const char *by) {
    CLEANUP_FREE char *list = by && strcmp(by, "none") != 0 ? strdup(by) : NULL;
    char *rest = list;
    int err = 0;
    for (char *name = strsep(&rest, "+"); name && err == 0; name = strsep(&rest, "+"))
        err = take_grouping(options, by, name);
    return err;
}

/* Whose calls are profiled apart, and of how many at most. */
static int check_groups(struct options *options, const struct raw_options *raw) {
    if (check_by(options, raw->by) < 0)
        return -EINVAL;
    if (!raw->groups)
        return 0;
    if (options->groupings == 0) {
        log_message("groups=%s: of what? Add by=process, for example", raw->groups);
        return -EINVAL;
    }
    if (parse_count(raw->groups, AGGSTATS_GROUPS_MIN, AGGSTATS_GROUPS_MAX, &options->groups_max))
        return 0;
    log_message("groups=%s: must be a number from %u to %u", raw->groups, AGGSTATS_GROUPS_MIN, AGGSTATS_GROUPS_MAX);
    return -EINVAL;
}

/* "read:size+readdir:past_eof" */
static int check_joint(struct options *options, const struct raw_options *raw) {
    CLEANUP_FREE char *list = raw->joint ? strdup(raw->joint) : NULL;
    char *rest = list;
    for (char *pair = strsep(&rest, "+"); pair; pair = strsep(&rest, "+")) {
        char *value_name = strchr(pair, ':');
        enum fs_op op = FS_OP_COUNT;
        enum aggstats_value value = AGGSTATS_VALUE_COUNT;
        if (value_name)
            *value_name++ = '\0';
        const char *why =
            value_name ? prof_find_joint(pair, value_name, &op, &value) : "must be OP:VALUE, such as read:size";
        if (why) {
            log_message("joint=%s%s%s: %s", pair, value_name ? ":" : "", value_name ? value_name : "", why);
            return -EINVAL;
        }
        options->joint[op] |= 1U << value;
    }
    return 0;
}

static int check_slow(struct options *options, const struct raw_options *raw) {
    const char *why = raw->slow ? control_parse_slow(raw->slow, &options->slow_ns) : NULL;
    if (why) {
        log_message("slow=%s: %s", raw->slow, why);
        return -EINVAL;
    }
    return 0;
}

/* "64M" */
static bool parse_bytes(const char *text, uint64_t least, uint64_t *ret_bytes) {
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (text[0] < '0' || text[0] > '9' || errno != 0 || (*end && (!unit || end[1])) || number > UINT64_MAX >> shift ||
        (uint64_t)number << shift < least)
        return false;
    *ret_bytes = (uint64_t)number << shift;
    return true;
}

static int check_events(struct options *options, const struct raw_options *raw) {
    static const char rule[] = "must be a number of bytes, 1M or more, such as 64M";
    if (options->events && !options->events[0])
        log_message("events=: the name is missing");
    else if (raw->events_size && raw->events_ring)
        log_message("events_size and events_ring exclude each other: a ring goes on, and keeps the last calls");
    else if (raw->events_size && !parse_bytes(raw->events_size, EVENTS_BYTES_MIN, &options->events_size_bytes))
        log_message("events_size=%s: %s", raw->events_size, rule);
    else if (raw->events_ring && !parse_bytes(raw->events_ring, EVENTS_BYTES_MIN, &options->events_ring_bytes))
        log_message("events_ring=%s: %s", raw->events_ring, rule);
    else
        return 0;
    return -EINVAL;
}

static int check_slow_log(struct options *options, const struct raw_options *raw) {
    bool is_system = options->slow_log && strcmp(options->slow_log, SLOW_LOG_SYSTEM) == 0;
    const char *size = raw->slow_log_size;
    const char *rate = raw->slow_log_rate;
    options->slow_log_size_bytes = SLOW_LOG_SIZE_DEFAULT;
    options->slow_log_rate = SLOW_LOG_RATE_DEFAULT;
    if (options->slow_log && !options->slow_log[0])
        log_message("slowlog=: the name is missing");
    else if (size && (!options->slow_log || is_system))
        log_message("slowlog_size=%s: of what? Add slowlog=FILE", size);
    else if (rate && !is_system)
        log_message("slowlog_rate=%s: is for the system log; add slowlog=" SLOW_LOG_SYSTEM, rate);
    else if (size && !parse_bytes(size, 0, &options->slow_log_size_bytes))
        log_message("slowlog_size=%s: must be a number of bytes, such as 16M; 0: the file is not rotated", size);
    else if (rate && !parse_count(rate, 1, SLOW_LOG_RATE_MAX, &options->slow_log_rate))
        log_message("slowlog_rate=%s: must be a number of lines a minute from 1 to %d", rate, SLOW_LOG_RATE_MAX);
    else
        return 0;
    return -EINVAL;
}

/* What is recorded besides. */
static int check_dimensions(struct options *options, const struct raw_options *raw) {
    if (check_intervals(options, raw) < 0 || check_joint(options, raw) < 0 || check_groups(options, raw) < 0 ||
        check_slow(options, raw) < 0 || check_events(options, raw) < 0 || check_slow_log(options, raw) < 0)
        return -EINVAL;
    const char *besides = raw->joint                ? "joint"
                          : raw->interval           ? "interval"
                          : raw->rotate             ? "rotate"
                          : raw->slow               ? "slow"
                          : options->events         ? "events"
                          : options->slow_log       ? "slowlog"
                          : options->groupings != 0 ? "by"
                                                    : NULL;
    if (options->timing != PROF_TIMING_FULL && besides) {
        log_message("timing=%s: nothing is recorded, so leave out %s", raw->timing, besides);
        return -EINVAL;
    }
    return 0;
}

/* How often profiles are saved, and how many are kept. */
static int check_rotation(struct options *options, const struct raw_options *raw) {
    if (raw->keep && !raw->rotate)
        log_message("keep=%s: of what? Add rotate=SECONDS", raw->keep);
    else if (raw->rotate && !parse_count(raw->rotate, 1, ROTATE_MAX_S, &options->rotate_s))
        log_message("rotate=%s: must be a number of seconds from 1 to %d", raw->rotate, ROTATE_MAX_S);
    else if (raw->rotate && (!options->profile || strcmp(options->profile, "-") == 0))
        log_message("rotate=%s: say where profiles go, with profile=DIR", raw->rotate);
    else if (raw->keep && !parse_count(raw->keep, 1, KEEP_MAX, &options->keep))
        log_message("keep=%s: must be a number from 1 to %d", raw->keep, KEEP_MAX);
    else
        return 0;
    return -EINVAL;
}

static int check_labels(const struct options *options) {
    char complaint[USER_LABEL_COMPLAINT_SIZE];
    if (user_labels_valid((const char *const *)options->labels, options->label_count, complaint))
        return 0;
    log_message("label=%s", complaint);
    return -EINVAL;
}

static int check_values(struct options *options, const struct raw_options *raw) {
    int resolution = choose("resolution", raw->resolution, 0);
    int cache = choose("cache", raw->cache, CACHE_AUTO);
    int timing = choose("timing", raw->timing, PROF_TIMING_FULL);
    int data = choose("data", raw->data, 0);
    int workers = choose("workers", raw->workers, 0);
    if (resolution < 0 || cache < 0 || timing < 0 || data < 0 || workers < 0)
        return -EINVAL;
    if (data == 1 && !OSPROFFS_HAS_PASSTHROUGH) {
        log_message("data=passthrough: this osproffs is built with libfuse %s; it takes 3.17", fuse_pkgversion());
        return -EINVAL;
    }
    options->kernel_data = data == 1;
    options->plain_workers = workers == 1;
    options->resolution = 1U << resolution;
    options->cache = (enum cache_mode)cache;
    options->timing = (enum prof_timing)timing;
    if (check_dimensions(options, raw) < 0 || check_rotation(options, raw) < 0 || check_labels(options) < 0)
        return -EINVAL;

    if ((options->live_directory && !options->live_directory[0]) || (options->profile && !options->profile[0])) {
        log_message("%s=: the name is missing", options->profile && !options->profile[0] ? "profile" : "live");
        return -EINVAL;
    }
    const char *name = options->control_name;
    if (name && (name[0] == '\0' || strlen(name) > CTL_NAME_MAX || strchr(name, '/') || strcmp(name, ".") == 0 ||
                 strcmp(name, "..") == 0)) {
        log_message("control=%s: must be a plain file name of at most %d bytes, such as .osprof", name,
                    (int)CTL_NAME_MAX);
        return -EINVAL;
    }
    return 0;
}

/* libfuse would go on without. */
static int check_ring(const struct options *options) {
    if (!options->over_ring)
        return 0;
    if (options->single_threaded)
        log_message("io_uring and -s exclude each other: there is a ring, and a worker for it, for each CPU");
    else if (!OSPROFFS_HAS_IO_URING)
        log_message("io_uring: this osproffs is built with libfuse %s; it takes 3.18.2, built with io_uring",
                    fuse_pkgversion());
    else if (!ring_is_built_in())
        log_message("io_uring: libfuse %s is built without it here; build libfuse with -Denable-io-uring=true",
                    fuse_pkgversion());
    else if (!ring_is_sound())
        log_message("io_uring: libfuse %s may use memory there that it has freed (CVE-2026-33150); it takes 3.18.2",
                    fuse_pkgversion());
    else
        return 0;
    return -EINVAL;
}

static int check_paths(const struct options *options) {
    if (options->mountpoint)
        return 0;
    log_message("%s: usage: osproffs [options] LOWER MOUNTPOINT (osproffs -h for help)",
                options->lower ? "no mount point given" : "no lower directory given");
    return -EINVAL;
}

/* Kernel-side permission checks belong to every mount that others may use, unless told otherwise. */
static int settle(struct options *options) {
    if (options->default_permissions && options->no_default_permissions) {
        log_message("default_permissions and no_default_permissions exclude each other: give one");
        return -EINVAL;
    }
    if (options->shows_pseudo && geteuid() != 0) {
        log_message("pseudofs: only root may show others the kernel's own file systems");
        return -EINVAL;
    }
    if (!options->allow_other)
        options->shows_pseudo = 1;                    /* to who mounted they are no more than below */
    bool is_new = options->action != OPTIONS_REMOUNT; /* else the mount has what it was made with */
    if (is_new && options->allow_other && !options->no_default_permissions && !options->default_permissions) {
        options->default_permissions = 1;
        if (fuse_opt_add_arg(&options->fuse_args, "-odefault_permissions") < 0)
            return -ENOMEM;
    }
    if (options->no_atime && fuse_opt_add_arg(&options->fuse_args, "-onoatime") < 0)
        return -ENOMEM; /* the mount tells of it; nodiratime and atime are no words of libfuse's */
    if (options->debug)
        options->foreground = 1;
    if (!options->control_name)
        options->control_name = strdup(".osprof");
    if (!options->control_name)
        log_message("cannot read the options: %s", strerror(ENOMEM));
    return options->control_name ? 0 : -ENOMEM;
}

int options_parse(int argc, char **argv, struct options *ret_options) {
    struct options *options = ret_options;
    struct raw_options raw = {.options = options};
    *options = (struct options){.fuse_args = FUSE_ARGS_INIT(0, NULL)};
    for (int index = 0; index < argc; index++) {
        if (fuse_opt_add_arg(&options->fuse_args, argv[index]) < 0)
            return -ENOMEM;
    }
    int err = 0;
    if (fuse_opt_parse(&options->fuse_args, &raw, options_raw_table, NULL) < 0 ||
        fuse_opt_parse(&options->fuse_args, options, options_table, take_argument) < 0)
        err = -EINVAL;
    bool is_of_mount = options->action == OPTIONS_MOUNT;
    if (is_of_mount && options->remount)
        options->action = OPTIONS_REMOUNT;
    if (err == 0 && is_of_mount)
        err = check_values(options, &raw);
    if (err == 0 && is_of_mount)
        err = check_ring(options);
    if (err == 0 && is_of_mount)
        err = check_paths(options);
    if (err == 0)
        err = settle(options);
    free(raw.resolution);
    free(raw.cache);
    free(raw.timing);
    free(raw.data);
    free(raw.workers);
    free(raw.interval);
    free(raw.intervals);
    free(raw.slow);
    free(raw.events_size);
    free(raw.events_ring);
    free(raw.slow_log_size);
    free(raw.slow_log_rate);
    free(raw.joint);
    free(raw.by);
    free(raw.groups);
    free(raw.rotate);
    free(raw.keep);
    return err;
}

void options_finish(struct options *options) {
    free(options->lower);
    free(options->mountpoint);
    free(options->profile);
    free(options->control_name);
    free(options->live_directory);
    free(options->causes);
    free(options->events);
    free(options->slow_log);
    for (size_t index = 0; index < options->label_count; index++)
        free(options->labels[index]);
    fuse_opt_free_args(&options->fuse_args);
}
