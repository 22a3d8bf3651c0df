/* The subcommands of osprof events that read files, a file each, and what they share. */
#ifndef EVENTS_COMMANDS_H
#define EVENTS_COMMANDS_H

#include "command.h"
#include "events_reader.h"
#include "option_table.h"
#include "screen.h"

extern const struct command command_events_show;
extern const struct command command_events_profile;
extern const struct command command_events_export;

/* ---- The events file of a command line ---- */

struct events_input {
    const char *name;
    void *data;
    struct events_file *file;
};

/* Reads it; "-" is standard input. Missing events are reported on standard error.
 * Owner:   the caller finishes *ret_input; it keeps name
 * Errors:  the failed call's, already reported to the user; *ret_input untouched */
int events_input_open(const char *name, struct events_input *ret_input);

/* The same for several, which are put on one time line; by how much their clocks may be off is reported. */
int events_inputs_open(char *const *names, size_t count, struct events_input *ret_input);

void events_input_finish(struct events_input *input);

/* ---- Selecting calls ---- */

struct events_filter {
    /* as on the command line */
    struct option_list ops;
    struct option_list paths;
    uint64_t slow_ns;
    const char *from;
    const char *to;
    unsigned pid; /* 0: any */
    bool failed;

    /* once the file is open */
    const struct events_file *file;
    uint64_t slow_cycles;
    uint64_t wanted_count; /* calls that were selected so far */
    int64_t from_ns;
    int64_t to_ns;
};

/* Rows of an option table; member: a struct events_filter. */
#define EVENTS_FILTER_ROWS(type, member)                                                                               \
    ROW_OP(type, member.ops),                                                                                          \
        {.name = "slow",                                                                                               \
         .metavar = "TIME",                                                                                            \
         .help = "only calls that took at least so long: 10ms, 1.5s",                                                  \
         .parse_time = events_parse_threshold,                                                                         \
         INTO(TIME, type, member.slow_ns)},                                                                            \
        {.name = "path",                                                                                               \
         .metavar = "PATH",                                                                                            \
         .help = "only calls on this file, or on what is below this directory of the mount; may be a pattern as of a " \
                 "shell, and be repeated",                                                                             \
         INTO(TEXTS, type, member.paths)},                                                                             \
        {.name = "pid",                                                                                                \
         .metavar = "PID",                                                                                             \
         .min = 1,                                                                                                     \
         .max = 4194304,                                                                                               \
         .help = "only calls of this process, or of this thread",                                                      \
         INTO(UNSIGNED, type, member.pid)},                                                                            \
        {.name = "failed", .help = "only calls that failed", INTO(FLAG, type, member.failed)},                         \
        {.name = "from",                                                                                               \
         .metavar = "WHEN",                                                                                            \
         .help = "only calls that ended then or later: 2026-11-25T18:20:00Z, or +1.5s from the beginning",             \
         INTO(TEXT, type, member.from)},                                                                               \
    {                                                                                                                  \
        .name = "to", .metavar = "WHEN", .help = "only calls that ended before then", INTO(TEXT, type, member.to)      \
    }

/* True if anything is selected. */
bool events_filter_is_set(const struct events_filter *filter);

/* True if a call is selected; an events_wants_fn. filter: a struct events_filter, once the file is open */
bool events_filter_wants(void *filter, const struct event *event);

/* A time with its unit: "10ms", "1.5s", "250us". See option_row.parse_time */
const char *events_parse_threshold(const char *text, uint64_t *ret_ns);

/* Reports that no call was selected. Returns STATUS_NOT_SO */
enum status events_complain_none(const struct events_input *input);

/* ---- Subcommands about selected calls ---- */

struct events_work {
    void *options;                /* the command's, with its defaults */
    struct events_filter *filter; /* the member of these */
    /* Looks at the options, before the file is opened; NULL: all are right. */
    enum status (*check)(const struct command *command, const void *options);
    enum status (*run)(const struct command *command, void *options, const struct events_input *input);
};

/* Parses the command line, opens the files that it names, with whole paths, prepares the filter, and runs. */
enum status events_work_run(const struct events_work *work, const struct command *command, int argc, char **argv);

#endif
