/* osprof events profile: a profile of recorded calls, the one that was recorded or any other. */
#include <string.h>

#include "base.h"
#include "events_commands.h"
#include "events_profile.h"
#include "output.h"

#define JOINTS_MAX 64U
#define SEPARATORS "+"

struct profile_options {
    struct events_filter filter;
    const char *output;
    bool all;
    unsigned span;
    unsigned resolution;  /* index of the words, from 0; by options_given() */
    uint64_t interval_ns; /* 0: none */
    unsigned groupings;
    struct option_list joints;
};

/* ---- Options ------------------------------------------------------------------------------------ */

/* See option_row.parse */
static const char *parse_by(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    static const char *const words[] = {GROUPING_WORDS_OF_EVENTS NULL};
    struct profile_options *options = data;
    return options_parse_groupings(*text, words, &options->groupings, why);
}

static const char *parse_interval(const char *text, uint64_t *ret_ns) {
    return time_parse(text, 1, AGGSTATS_INTERVAL_MAX_NS, ret_ns) ? NULL : "must be a time such as 100ms or 1s";
}

static bool parse_values(const char *op, const char *values, struct events_joint joints[JOINTS_MAX], size_t *count) {
    while (*values) {
        char name[32];
        size_t length = strcspn(values, SEPARATORS);
        snprintf(name, sizeof(name), "%.*s", (int)length, values);
        int value = aggstats_value_of_name(name);
        if (value < 0 || value >= AGGSTATS_BLOCKED || *count == JOINTS_MAX)
            return false;
        joints[*count].value = (enum aggstats_value)value;
        snprintf(joints[(*count)++].op, AGGSTATS_NAME_SIZE, "%s", op);
        values += length + (values[length] != '\0');
    }
    return true;
}

/* "READ:size+offset" */
static enum status parse_joint(const struct command *command, const struct events_file *file, const char *text,
                               struct events_joint joints[JOINTS_MAX], size_t *count) {
    size_t length = strcspn(text, ":");
    const char *op = NULL;
    for (unsigned i = 0; i < EVENTS_OPS_MAX && !op; i++)
        if (file->ops[i].name && strlen(file->ops[i].name) == length &&
            strncasecmp(file->ops[i].name, text, length) == 0)
            op = file->ops[i].name;
    if (text[length] != ':' || !text[length + 1])
        return usage_error(command, "--joint must be OP:VALUE, not '%s'", text);
    if (!op)
        return usage_error(command, "--joint '%s': there is no such operation in the file", text);
    if (!parse_values(op, text + length + 1, joints, count))
        return usage_error(command, "--joint '%s': values are size, result, offset, error and past_eof", text);
    return STATUS_OK;
}

/* ---- Making it ---------------------------------------------------------------------------------- */

static enum status complain_unmade(const struct profile_options *options, const struct events_input *input, int err) {
    if (err == -ERANGE && options->span > events_window_count(input->file))
        complain("%s: there is no span %u: resets and rotations make %u", input->name, options->span,
                 events_window_count(input->file));
    else if (err == -ERANGE)
        complain("%s: more than %u intervals; choose longer ones", input->name, AGGSTATS_INTERVALS_MAX);
    else if (err == -EINVAL)
        complain("%s: it does not tell its clock's rate or its resolution, which intervals and buckets need",
                 input->name);
    else
        complain("cannot make a profile of %s: %s", input->name, strerror(-err));
    return STATUS_TROUBLE;
}

/* For a part of the time, sets the elapsed time to that part. Intervals are of the whole. */
static void clip_time(const struct profile_options *options, const struct events_file *file,
                      struct aggstats_profile *profile) {
    double ns_per_cycle = file->clock_hz ? 1e9 / (double)file->clock_hz : 1;
    int64_t end_ns = profile->start_ns + (int64_t)((double)profile->elapsed_cycles * ns_per_cycle);
    if ((!options->filter.from && !options->filter.to) || options->interval_ns > 0 || !profile->has_start)
        return;
    profile->start_ns = options->filter.from_ns > profile->start_ns ? options->filter.from_ns : profile->start_ns;
    end_ns = options->filter.to_ns < end_ns ? options->filter.to_ns : end_ns;
    profile->elapsed_cycles =
        end_ns > profile->start_ns ? (uint64_t)((double)(end_ns - profile->start_ns) / ns_per_cycle) : 0;
}

static enum status make(const struct profile_options *options, const struct events_input *input,
                        const struct events_profile_options *wanted) {
    struct aggstats_profile profile;
    int err = events_profile(input->file, wanted, &profile);
    if (err < 0)
        return complain_unmade(options, input, err);
    if (wanted->wants && options->filter.wanted_count == 0) {
        aggstats_profile_finish(&profile);
        return events_complain_none(input);
    }
    clip_time(options, input->file, &profile);
    err = output_write_profile(options->output, &profile);
    const unsigned count = events_window_count(input->file);
    if (err < 0)
        complain("cannot write %s: %s", options->output, output_error_text(err));
    else if (count > 1 && !options->span && !options->all) /* the last span may be a moment only */
        complain("note: resets and rotations make %u spans in %s, and this is the last one; --span N makes a profile "
                 "of another, --all of all calls",
                 count, input->name);
    aggstats_profile_finish(&profile);
    return err < 0 ? STATUS_TROUBLE : STATUS_OK;
}

static enum status profile(const struct command *command, void *given, const struct events_input *input) {
    struct profile_options *options = given;
    struct events_joint joints[JOINTS_MAX];
    struct events_profile_options wanted = {
        .window = options->span,
        .all = options->all,
        .resolution = options->resolution,
        .interval_ns = options->interval_ns,
        .groupings = options->groupings,
        .joints = joints,
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < options->joints.count && status == STATUS_OK; i++)
        status = parse_joint(command, input->file, options->joints.texts[i], joints, &wanted.joint_count);
    if (events_filter_is_set(&options->filter)) {
        wanted.wants = events_filter_wants;
        wanted.context = &options->filter;
    }
    return status == STATUS_OK ? make(options, input, &wanted) : status;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    ROW_OUTPUT("write the profile to FILE, whole or not at all", struct profile_options, output),
    {.name = "all",
     .help = "of all calls in FILE, whatever was reset, rotated or paused meanwhile",
     INTO(FLAG, struct profile_options, all)},
    {.name = "span",
     .metavar = "N",
     .min = 1,
     .help = "of the N-th of the spans that resets and rotations make; default: the last one",
     INTO(UNSIGNED, struct profile_options, span)},
    {.name = "resolution",
     .metavar = "R",
     .min = 1,
     .rule = "must be 1, 2, 4 or 8",
     .help = "buckets for each power of two, 1, 2, 4 or 8; default: as recorded",
     INTO(UNSIGNED, struct profile_options, resolution)},
    {.name = "interval",
     .metavar = "TIME",
     .help = "also the profile of each interval of this length",
     .parse_time = parse_interval,
     INTO(TIME, struct profile_options, interval_ns)},
    {.name = "by",
     .metavar = "KIND[+KIND]...",
     WORDS_OF(GROUPING_WORDS_OF_EVENTS),
     .help = "also a profile for each process, program, user, file or directory; several with + between them",
     .completed_as = "list",
     .kind = OPTION_PARSED,
     .parse = parse_by},
    {.name = "joint",
     .metavar = "OP:VALUE",
     .help = "also how latencies of OP go together with size, result, offset, error or past_eof; may be repeated",
     INTO(TEXTS, struct profile_options, joints)},
    {.kind = OPTION_HEADING, .help = "Of some calls only:"},
    EVENTS_FILTER_ROWS(struct profile_options, filter),
    ROW_ARGUMENTS(FILE, "FILE..."),
    {.kind = OPTION_END},
};

static enum status check(const struct command *command, const void *given) {
    const struct profile_options *options = given;
    if (options->all && options->span)
        return usage_error(command, "--all and --span exclude each other");
    if (options->resolution && !aggstats_resolution_valid(options->resolution))
        return usage_error(command, "--resolution must be 1, 2, 4 or 8, not %u", options->resolution);
    return STATUS_OK;
}

static enum status run_profile(const struct command *command, int argc, char **argv) {
    struct profile_options options = {.all = false};
    const struct events_work work = {.options = &options, .filter = &options.filter, .check = check, .run = profile};
    enum status status = events_work_run(&work, command, argc, argv);
    option_list_finish(&options.joints);
    return status;
}

const struct command command_events_profile = {
    .name = "events profile",
    .summary = "makes a profile of calls: the recorded one, or any other",
    .help = "Writes the profile of the calls that FILE holds to standard output. Without options it is the one that "
            "osproffs recorded itself: of the calls since the last reset or rotation, without those that ended in a "
            "pause. Where calls are missing in FILE, it is incomplete, and says so. Several FILEs are summed.",
    .notes = "Exit status: 0; 1 no call is as asked for, and no file is written; 2 trouble.",
    .options = rows,
    .common = COMMON_FORCE,
    .run = run_profile,
};
