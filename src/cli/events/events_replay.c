/* osprof events replay: repeats recorded operations in another directory. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base.h"
#include "calibration.h"
#include "comparison.h"
#include "events_commands.h"
#include "output.h"
#include "path.h"
#include "replay.h"

#define LONG_NS (INT64_C(6) * 3600 * 1000000000) /* the user is warned of longer replays */
#define DAYS_MAX 31

struct options {
    const char *profile;
    const char *max_bytes;
    bool fast;
    bool existing;
    bool sparse;
    bool privileged;
    bool ascii;
    unsigned width;
    const char *directory;
};

static volatile sig_atomic_t is_ended;

static void end(int signal) {
    (void)signal;
    is_ended = 1;
}

/* Signals let operations in flight end, and the report says what was done. */
static void end_by_signals(void) {
    const struct sigaction action = {.sa_handler = end};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- The directory ---- */

/* Returns 1 if it is, 0 if not, or -errno. */
static int is_empty(int dir_fd) {
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory)
        return negative_errno();
    unsigned count = 0;
    while (count < 3 && readdir(directory))
        count++;
    closedir(directory);
    return count <= 2; /* "." and ".." */
}

static int open_directory(const struct options *options) {
    int fd = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int empty = fd < 0 ? negative_errno() : is_empty(fd);
    if (empty < 0) {
        complain("cannot replay in %s: %s", options->directory, strerror(-empty));
    } else if (!empty && !options->existing) {
        complain("cannot replay in %s: it is not empty; take an empty directory, or --existing, which may change and "
                 "remove what is there",
                 options->directory);
        close_fd(&fd);
    }
    return fd;
}

/* A number with K, M, G or T behind it, of 1024 each. */
static bool read_size(const char *text, uint64_t *ret_bytes) {
    static const char letters[] = "KMGT";
    char *rest;
    errno = 0;
    unsigned long long number = strtoull(text, &rest, 10);
    const char *letter = *rest ? strchr(letters, toupper((unsigned char)*rest)) : NULL;
    unsigned shift = letter ? 10U * (unsigned)(letter - letters + 1) : 0;
    if (!isdigit((unsigned char)text[0]) || errno != 0 || (*rest && (!letter || rest[1])) ||
        number > UINT64_MAX >> shift)
        return false;
    *ret_bytes = number << shift;
    return true;
}

/* Half of the free space by default. */
static uint64_t free_bytes(int dir_fd) {
    struct statvfs statfs;
    return fstatvfs(dir_fd, &statfs) < 0 ? 0 : (uint64_t)statfs.f_bavail * statfs.f_frsize / 2;
}

/* ---- The result ---- */

static void print_comparison(const struct screen *screen, const struct aggstats_profile *recorded,
                             const struct aggstats_profile *replayed) {
    const struct compare_options options = compare_defaults(DISTANCE_METHOD_DEFAULT);
    struct compare_result result;
    struct calibration recorded_times = {0};
    struct calibration replayed_times = {0};
    if (compare_profiles(recorded, replayed, &options, &result) < 0)
        return;
    calibration_for_pair(recorded, replayed, &recorded_times, &replayed_times);
    const struct comparison comparison = {
        .result = &result,
        .a_name = "recorded",
        .b_name = "replayed",
        .a_times = &recorded_times,
        .b_times = &replayed_times,
    };
    putchar('\n');
    comparison_print(&comparison, screen);
    calibration_finish(&recorded_times);
    calibration_finish(&replayed_times);
    compare_finish(&result);
}

static int add_labels(struct aggstats_profile *profile, const struct options *options, const char *file) {
    char host[HOST_NAME_MAX + 1] = "";
    CLEANUP_FREE char *lower = path_normalise(options->directory);
    int err = lower ? aggstats_profile_add_label(profile, "lower", lower) : -ENOMEM;
    if (err == 0 && gethostname(host, sizeof(host) - 1) == 0)
        err = aggstats_profile_add_label(profile, "host", host);
    return err < 0 ? err : aggstats_profile_add_label(profile, "replay", file);
}

static enum status tell_profiles(const struct options *options, const struct screen *screen, const char *file,
                                 const struct replay *replay) {
    struct aggstats_profile recorded = {0};
    struct aggstats_profile replayed = {0};
    int err = replay_recorded_profile(replay, &recorded);
    if (err == 0)
        err = replay_replayed_profile(replay, &replayed);
    if (err == 0)
        err = add_labels(&replayed, options, file);
    if (err == 0)
        print_comparison(screen, &recorded, &replayed);
    if (err == 0 && options->profile)
        err = output_write_profile(options->profile, &replayed);
    if (err < 0)
        complain("cannot write the profile %s: %s", options->profile ? options->profile : "", strerror(-err));
    aggstats_profile_finish(&recorded);
    aggstats_profile_finish(&replayed);
    return err < 0 ? STATUS_TROUBLE : STATUS_OK;
}

static enum status tell(const struct options *options, const struct replay_options *replay_options, const char *file,
                        const struct replay *replay) {
    const struct screen screen = screen_of_stdout((int)options->width, options->ascii);
    const struct replay_page page = {
        .screen = &screen,
        .report = replay_report_of(replay),
        .options = replay_options,
        .file = file,
        .directory = options->directory,
    };
    replay_page_print(&page);
    enum status status = tell_profiles(options, &screen, file, replay);
    return status == STATUS_OK && replay_page_unlike(page.report) > 0 ? STATUS_NOT_SO : status;
}

/* ---- Replaying ---- */

static enum status run_in(const struct options *options, struct replay *replay, const char *file, int dir_fd) {
    struct replay_options replay_options = {
        .is_fast = options->fast,
        .is_existing = options->existing,
        .is_sparse = options->sparse,
        .is_privileged = options->privileged,
        .max_bytes = free_bytes(dir_fd),
    };
    if (options->max_bytes)
        read_size(options->max_bytes, &replay_options.max_bytes); /* has been checked before */
    end_by_signals();
    int err = replay_run(replay, dir_fd, &replay_options, &is_ended);
    if (err == 0)
        return tell(options, &replay_options, file, replay);
    complain("cannot replay %s in %s: %s", file, options->directory, strerror(-err));
    return STATUS_TROUBLE;
}

/* Nobody waits so long; a recording with inconsistent times is that long. */
static bool may_take(const char *file, int64_t length_ns) {
    const double days = (double)length_ns / 86400e9;
    if (length_ns >= LONG_NS)
        complain("%s %s: with the recorded gaps that takes %.1f days, which --fast leaves out",
                 days > DAYS_MAX ? "cannot replay" : "replaying", file, days);
    return days <= DAYS_MAX;
}

static enum status replay_file(const struct options *options, const struct events_input *input) {
    struct replay *replay;
    CLEANUP_FD int dir_fd = open_directory(options);
    if (dir_fd < 0)
        return STATUS_TROUBLE;
    if (!(input->file->flags & EVENTS_NAMES))
        complain("%s has no names: only what works on nodes whose paths are known can be done; record with -o "
                 "events_names",
                 input->name);
    int err = replay_create(input->file, &replay);
    if (err == -ENODATA)
        complain("cannot replay %s: there is no call in it, or it does not tell the rate of its clock", input->name);
    else if (err == -ERANGE)
        complain("cannot replay %s: all its calls have impossible times", input->name);
    else if (err < 0)
        complain("cannot replay %s: %s", input->name, strerror(-err));
    if (err < 0)
        return STATUS_TROUBLE;
    if (!options->fast && !may_take(input->name, replay_recorded_length_ns(replay))) {
        replay_destroy(replay);
        return STATUS_TROUBLE;
    }
    enum status status = run_in(options, replay, input->name, dir_fd);
    replay_destroy(replay);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {.name = "fast", .help = "as fast as possible; default: with the recorded gaps", INTO(FLAG, struct options, fast)},
    {.name = "profile",
     .letter = 'p',
     .metavar = "FILE",
     .help = "write the profile of the replay to FILE, whole or not at all",
     INTO(FILE, struct options, profile)},
    {.name = "existing",
     .help = "DIR may hold something: it is used, and changed and removed as recorded",
     INTO(FLAG, struct options, existing)},
    {.name = "sparse",
     .help = "files that were there before are one hole each; default: filled with a pattern",
     INTO(FLAG, struct options, sparse)},
    {.name = "max-bytes",
     .metavar = "SIZE",
     .help = "how much all files together may hold at a time, 500M or 2G; default: half of what is free",
     INTO(TEXT, struct options, max_bytes)},
    {.name = "privileged",
     .help = "also owners, set-user-ID bits and devices, as recorded; default: without",
     INTO(FLAG, struct options, privileged)},
    ROW_ASCII(struct options, ascii),
    ROW_WIDTH(struct options, width),
    ROW_ARGUMENTS(FILE, "FILE DIR"),
    {.kind = OPTION_END},
};

static enum status run_replay(const struct command *command, int argc, char **argv) {
    struct options options = {0};
    struct arguments arguments;
    struct events_input input;
    enum status status;
    uint64_t max_bytes;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count != 2)
        return usage_error(command, "FILE and DIR are expected");
    if (options.max_bytes && !read_size(options.max_bytes, &max_bytes))
        return usage_error(command, "--max-bytes takes a number of bytes, or one with K, M, G or T behind it, not '%s'",
                           options.max_bytes);
    options.directory = arguments.rest[1];
    if (events_input_open(arguments.rest[0], &input) < 0)
        return STATUS_TROUBLE;
    status = replay_file(&options, &input);
    events_input_finish(&input);
    return status;
}

const struct command command_events_replay = {
    .name = "events replay",
    .summary = "does recorded operations again, in another directory",
    .help = "Does the operations that FILE holds again, in DIR, and compares what they took with what was recorded. "
            "DIR must be empty; nothing outside of it is touched, whatever FILE says. What files hold is not recorded: "
            "a pattern is written instead.",
    .notes = "Exit status: 0 if all operations were done and came out as recorded, 1 if not, 2 for trouble.",
    .options = rows,
    .run = run_replay,
};
