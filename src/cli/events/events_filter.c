/* Filters: parsing them, and matching calls. */
#include "events_commands.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"

/* ---- Times ---- */

bool events_duration_of(const char *text, int64_t *ret_ns) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
    char *unit;
    if (strspn(text, "0123456789.") == 0)
        return false;
    double number = strtod(text, &unit);
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        if (strcmp(unit, units[i].name) != 0)
            continue;
        double ns = number * units[i].ns;
        *ret_ns = (int64_t)ns;
        return isfinite(ns) && ns < 9e18;
    }
    return false;
}

/* "2026-11-25T18:20:00.5Z"; a blank for the T, no seconds and no Z are accepted too. */
static bool parse_date(const char *text, int64_t *ret_ns) {
    struct tm tm = {0};
    int64_t fraction_ns = 0;
    const char *rest = strptime(text, "%Y-%m-%d", &tm);
    if (rest && (*rest == 'T' || *rest == ' '))
        rest = strptime(rest + 1, "%H:%M", &tm);
    if (rest && *rest == ':')
        rest = strptime(rest + 1, "%S", &tm);
    if (rest && *rest == '.') {
        size_t digits = strspn(rest + 1, "0123456789");
        fraction_ns = (int64_t)(strtod(rest, NULL) * NS_PER_S);
        rest += 1 + digits;
    }
    if (!rest || (strcmp(rest, "") != 0 && strcmp(rest, "Z") != 0))
        return false;
    *ret_ns = (int64_t)timegm(&tm) * NS_PER_S + fraction_ns;
    return true;
}

static int take_start(void *ret_cycles, const struct event *event) {
    *(uint64_t *)ret_cycles = event->start_cycles;
    return 1; /* the first is enough */
}

static int64_t beginning_of(const struct events_file *file) {
    uint64_t cycles = file->mark_count > 0 ? file->marks[0].mark.cycles : 0;
    if (file->mark_count == 0 && events_each(file, take_start, &cycles) != 1)
        return 0;
    return events_unix_ns(file, cycles);
}

static bool parse_when(const char *text, const struct events_file *file, int64_t *ret_ns) {
    int64_t after_ns;
    if (text[0] != '+')
        return parse_date(text, ret_ns);
    if (!events_duration_of(text + 1, &after_ns))
        return false;
    *ret_ns = beginning_of(file) + after_ns;
    return true;
}

static uint64_t cycles_of(const struct events_file *file, int64_t ns) {
    double hz = file->clock_hz ? (double)file->clock_hz : NS_PER_S;
    return (uint64_t)ceil((double)ns * hz / NS_PER_S);
}

/* ---- Preparing ---- */

static enum status refuse_when(const struct command *command, const char *option, const char *text) {
    return usage_error(command, "--%s must be a time like 2026-11-25T18:20:00Z or +1.5s, not '%s'", option, text);
}

static enum status prepare(struct events_filter *filter, const struct command *command,
                           const struct events_file *file) {
    int64_t slower_ns = 0;
    filter->file = file;
    filter->from_ns = INT64_MIN;
    filter->to_ns = INT64_MAX;
    if (filter->slower && !events_duration_of(filter->slower, &slower_ns))
        return usage_error(command, "--slower must be a time like 10ms or 1.5s, not '%s'", filter->slower);
    if (filter->from && !parse_when(filter->from, file, &filter->from_ns))
        return refuse_when(command, "from", filter->from);
    if (filter->to && !parse_when(filter->to, file, &filter->to_ns))
        return refuse_when(command, "to", filter->to);
    filter->slower_cycles = cycles_of(file, slower_ns);
    return STATUS_OK;
}

bool events_filter_is_set(const struct events_filter *filter) {
    return filter->ops.count > 0 || filter->paths.count > 0 || filter->slower || filter->from || filter->to ||
           filter->pid > 0 || filter->failed;
}

/* ---- Calls ---- */

static bool fits_path(const char *wanted, const char *path) {
    size_t length = strlen(wanted);
    while (length > 0 && wanted[length - 1] == '/')
        length--;
    if (strncmp(path, wanted, length) == 0 && (path[length] == '\0' || path[length] == '/'))
        return true;
    return strpbrk(wanted, "*?[") && fnmatch(wanted, path, 0) == 0;
}

static bool has_wanted_path(const struct events_filter *filter, const struct event *event) {
    char path[EVENTS_PATH_SIZE];
    if (filter->paths.count == 0)
        return true;
    events_path_of(filter->file, event, path);
    for (size_t i = 0; i < filter->paths.count; i++)
        if (path[0] && fits_path(filter->paths.texts[i], path))
            return true;
    return false;
}

static bool has_wanted_time(const struct events_filter *filter, const struct event *event) {
    if (!filter->from && !filter->to)
        return true;
    int64_t end_ns = events_unix_ns(filter->file, event->end_cycles);
    return end_ns >= filter->from_ns && end_ns < filter->to_ns;
}

static bool has_wanted_caller(const struct events_filter *filter, const struct event *event) {
    struct events_text name;
    if (filter->pid == 0)
        return true;
    uint64_t process = events_task(filter->file, event, &name);
    return events_thread_number(filter->file, event->thread) == filter->pid ||
           events_thread_number(filter->file, process) == filter->pid;
}

bool events_filter_wants(void *context, const struct event *event) {
    const struct events_filter *filter = context;
    return event->latency_cycles >= filter->slower_cycles && (event->error > 0 || !filter->failed) &&
           option_list_wants(&filter->ops, filter->file->ops[event->op].name) && has_wanted_time(filter, event) &&
           has_wanted_caller(filter, event) && has_wanted_path(filter, event);
}

/* ---- Subcommands about selected calls of one file ---- */

static enum status run_on_file(const struct events_work *work, const struct command *command, const char *name) {
    struct events_input input;
    if (events_input_open_with_paths(name, &input) < 0)
        return STATUS_TROUBLE;
    enum status status = prepare(work->filter, command, input.file);
    if (status == STATUS_OK)
        status = work->run(command, work->options, &input);
    events_input_finish(&input);
    return status;
}

enum status events_work_run(const struct events_work *work, const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, work->options, &arguments, &status))
        return status;
    status = arguments.rest_count == 1 ? STATUS_OK : usage_error(command, "one FILE is expected");
    if (status == STATUS_OK && work->check)
        status = work->check(command, work->options);
    if (status == STATUS_OK)
        status = run_on_file(work, command, arguments.rest[0]);
    option_list_finish(&work->filter->ops);
    option_list_finish(&work->filter->paths);
    return status;
}
