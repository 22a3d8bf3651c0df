/* Which calls of an events file are selected. */
#ifndef EVENTS_FILTER_H
#define EVENTS_FILTER_H

#include "command.h"
#include "events_reader.h"
#include "option_table.h"

struct events_filter {
    /* as on the command line */
    struct option_list ops;
    struct option_list paths;
    const char *slower;
    const char *from;
    const char *to;
    unsigned pid; /* 0: any */
    bool failed;

    /* set by events_filter_prepare() */
    const struct events_file *file;
    uint64_t slower_cycles;
    int64_t from_ns;
    int64_t to_ns;
};

/* Rows of an option table; member: a struct events_filter. */
#define EVENTS_FILTER_ROWS(type, member)                                                                               \
    ROW_OP(type, member.ops),                                                                                          \
        {.name = "slower",                                                                                             \
         .metavar = "TIME",                                                                                            \
         .help = "only calls that took at least so long: 10ms, 1.5s",                                                  \
         INTO(TEXT, type, member.slower)},                                                                             \
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

/* Reads the options, for a file. Returns STATUS_TROUBLE, after reporting it, if one is wrong */
enum status events_filter_prepare(struct events_filter *filter, const struct command *command,
                                  const struct events_file *file);
void events_filter_finish(struct events_filter *filter);

/* True if anything is selected. */
bool events_filter_is_set(const struct events_filter *filter);

/* True if a call is selected; an events_wants_fn. filter: a prepared struct events_filter */
bool events_filter_wants(void *filter, const struct event *event);

/* "10ms", "1.5s", "250us"; a number alone is in seconds. Returns false if it is none, or below 0. */
bool events_duration_of(const char *text, int64_t *ret_ns);

#endif
