/* osprof top: what a mount does now, or what threads wait for, updated continuously: on the screen of a terminal, or as
 * text. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "attach_processes.h"
#include "base.h"
#include "command.h"
#include "option_table.h"
#include "top_page.h"
#include "top_waits.h"
#include "wait_watch.h"

struct top_options {
    bool batch;
    unsigned count; /* of reports; 0: until the mount ends */
    uint64_t delay_ns;
    const char *order_name;
    const char *by_name;       /* grouping of callers to show; NULL: the operations */
    enum aggstats_grouping by; /* the grouping of that name */
    const char *argument;      /* NULL: the only mount */
    bool has_all;              /* of the machine, not of a mount; the next two go with it only */
    struct attach_processes processes;
    const char *cgroup; /* NULL: all */
};

/* ---- Text --------------------------------------------------------------------------------------- */

/* When the next report is due: intervals that were missed become one. */
static int64_t next_after(int64_t before_ns, uint64_t delay_ns) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const int64_t next_ns = before_ns + (int64_t)delay_ns;
    return next_ns < now_ns ? now_ns : next_ns;
}

/* What the mount has not answered yet is in a later report. */
static void print_report(const struct top_watch *watch) {
    const struct top_callers *callers = &watch->callers;
    const struct screen screen = screen_of_stdout();
    CLEANUP_SHEET struct sheet sheet = sheet_of(&screen, 0);
    if (!watch->is_fresh) {
        top_page_put_notices(&sheet, watch);
    } else {
        top_page_put_heading(&sheet, watch);
        sheet_gap(&sheet);
    }
    if (watch->is_fresh && callers->wanted == TOP_CALLERS_UNWANTED) {
        top_views[TOP_SUMMARY].put(&sheet, watch);
        sheet_gap(&sheet);
        top_views[TOP_OPERATIONS].put(&sheet, watch);
    } else if (watch->is_fresh && callers->is_fresh && !callers->error && !watch->has_ended) {
        top_views[TOP_CALLERS].put(&sheet, watch);
    } else if (watch->is_fresh) {
        top_page_put_notices_of_callers(&sheet, watch);
    }
    sheet_print(&sheet);
}

/* A report for each interval; without a count until the mount ends. main() reports errors of output. */
static enum status print_reports(struct top_watch *watch, const struct top_options *options) {
    int64_t next_ns = read_clock_ns(CLOCK_MONOTONIC);
    for (unsigned number = 0; options->count == 0 || number < options->count; number++) {
        next_ns = next_after(next_ns, options->delay_ns);
        const struct timespec next = timespec_of(next_ns);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
            ;
        int error = top_watch_refresh(watch);
        if (error) {
            complain("cannot go on watching %s: %s", watch->source.path, top_source_reason(error));
            return STATUS_TROUBLE;
        }
        top_watch_await_callers(watch);
        if (number > 0)
            putchar('\n');
        print_report(watch);
        if (fflush(stdout) != 0 || watch->has_ended)
            break;
    }
    return STATUS_OK;
}

/* ---- Waits of all threads ------------------------------------------------------------------------ */

/* Errors: as top_waits_refresh() */
static int wait_until(struct top_waits *waits, int64_t end_ns) {
    int error = 0;
    for (int64_t left_ns; error == 0 && (left_ns = end_ns - read_clock_ns(CLOCK_MONOTONIC)) > 0;) {
        const int64_t due_ns = top_waits_due_ns(waits);
        const int64_t wait_ns = left_ns < due_ns ? left_ns : due_ns;
        const struct timespec time = timespec_of(wait_ns);
        nanosleep(&time, NULL);
        error = top_waits_read(waits);
    }
    return error ? error : top_waits_refresh(waits);
}

/* A report for each interval. main() reports errors of output. */
static enum status print_all_waits(struct top_waits *waits, const struct top_options *options) {
    int64_t next_ns = waits->taken_ns;
    int error = 0;
    for (unsigned number = 0; options->count == 0 || number < options->count; number++) {
        next_ns = next_after(next_ns, options->delay_ns);
        error = wait_until(waits, next_ns);
        if (error)
            break;
        if (number > 0)
            putchar('\n');
        const struct screen screen = screen_of_stdout();
        CLEANUP_SHEET struct sheet sheet = sheet_of(&screen, 1);
        top_waits_page_put_heading(&sheet, waits);
        sheet_gap(&sheet);
        top_waits_page_put_report(&sheet, waits, options->by_name ? waits->by : WAIT_BY_NOBODY);
        sheet_print(&sheet);
        if (fflush(stdout) != 0)
            break;
    }
    if (!error)
        return STATUS_OK;
    complain("cannot go on watching what threads wait for: %s", strerror(-error));
    return STATUS_TROUBLE;
}

static enum status top_all(const struct top_options *options) {
    struct wait_scope scope;
    struct top_waits waits;
    enum status status = STATUS_TROUBLE;
    if (wait_scope_find(&options->processes, options->cgroup, &scope) != 0)
        return status;
    const enum wait_by by = options->by_name ? wait_by_of_word(options->by_name)
                            : options->batch ? WAIT_BY_PROGRAM
                                             : WAIT_BY_PROCESS;
    if (top_waits_start(&scope, by, &waits) == 0) {
        status = options->batch ? print_all_waits(&waits, options)
                                : top_waits_screen_run(&waits, (int64_t)options->delay_ns);
        top_waits_finish(&waits);
    }
    wait_scope_finish(&scope);
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

/* Reports why there will be no callers, if that is known: a mount that does not answer now may do so later. */
static enum status begin_with_callers(struct top_watch *watch, const struct top_options *options) {
    const char *by = aggstats_grouping_name(options->by);
    watch->callers.by = options->by;
    top_watch_want_callers(watch, TOP_CALLERS_WANTED);
    top_watch_await_callers(watch);
    const int error = watch->callers.error;
    if (error == -ENODATA || error == -EBUSY) { /* the very first calls may not be assigned to groups yet */
        top_watch_ask_callers(watch);
        top_watch_await_callers(watch);
    }
    if (watch->callers.error == -ENODATA || watch->callers.error == -EBUSY) {
        char commands[TOP_COMMANDS_SIZE];
        top_page_format_commands(watch, commands);
        complain("no calls by %s in %s; osproffs -o by=%s records them; from now on: '%s'", by, watch->callers.path, by,
                 commands);
        return STATUS_NOT_SO;
    }
    if (watch->callers.error != -ENOTCONN)
        return STATUS_OK;
    complain("no calls by %s in %s: only the control file of a mount tells them, and there is none", by,
             watch->source.path);
    return STATUS_NOT_SO;
}

static enum status run_watch(struct top_watch *watch, const struct top_options *options) {
    int error = top_watch_refresh(watch);
    if (error == 0 && !watch->is_fresh)
        error = watch->has_ended ? -ENOTCONN : -EAGAIN;
    if (error) {
        complain("cannot watch %s: %s", watch->source.path, top_source_reason(error));
        return STATUS_TROUBLE;
    }
    calibration_for_profile(&watch->latest.profile, &watch->calibration); /* prints errors before there is a screen */
    enum status status = options->by == AGGSTATS_UNGROUPED ? STATUS_OK : begin_with_callers(watch, options);
    if (status != STATUS_OK)
        return status;
    if (options->batch)
        return print_reports(watch, options);
    if (options->by == AGGSTATS_UNGROUPED)
        top_watch_want_callers(watch, top_views[TOP_SUMMARY].callers);
    return top_mount_screen_run(watch, options->by == AGGSTATS_UNGROUPED ? TOP_SUMMARY : TOP_CALLERS,
                                (int64_t)options->delay_ns);
}

static enum status top(const struct top_options *options) {
    struct top_source source;
    if (top_source_open(options->argument, &source) != 0)
        return STATUS_TROUBLE;
    struct top_watch watch;
    unsigned order = 0;
    while (order + 1 < TOP_ORDER_COUNT && strcmp(options->order_name, top_orders[order].name) != 0)
        order++;
    top_watch_init(&watch, &source, (enum top_order)order);
    enum status status = run_watch(&watch, options);
    calibration_finish(&watch.calibration);
    top_watch_finish(&watch);
    return status;
}

static const struct option_row rows[] = {
    {.name = "all",
     .letter = 'a',
     .help = "what all threads of this machine wait for, and who waits longest",
     INTO(FLAG, struct top_options, has_all)},
    ROW_PROCESSES("of -a: only these processes and their descendants", struct top_options, processes),
    ROW_CGROUP("of -a: only processes in that control group and below", struct top_options, cgroup),
    {.name = "by",
     .metavar = "KIND",
     WORDS_OF(GROUPING_WORDS "thread", ),
     .help =
         "begin with the callers by KIND; with --batch print these and no operations; of -a: who waits, by process, "
         "program, thread or cgroup",
     INTO(WORD, struct top_options, by_name)},
    {.name = "delay",
     .metavar = "TIME",
     .help = "between snapshots, from 100ms to 24h; default: 2s",
     .parse_time = options_parse_for,
     INTO(TIME, struct top_options, delay_ns)},
    {.name = "sort",
     .metavar = "ORDER",
     WORDS("share", "calls", "mean", "max", "name"),
     .help = "order of operations or callers: {}; default: share",
     INTO(WORD, struct top_options, order_name)},
    {.name = "batch",
     .help = "print text, a report per interval, until the mount ends",
     INTO(FLAG, struct top_options, batch)},
    {.name = "count",
     .metavar = "N",
     .min = 1,
     .help = "of --batch: end after so many reports, {}",
     INTO(UNSIGNED, struct top_options, count)},
    ROW_MOUNT_ARGUMENTS(FILE, "[MOUNT|LIVE]"),
    {.kind = OPTION_END},
};

/* What goes with -a, and what without. */
static enum status check_all(const struct command *command, const struct top_options *options,
                             const struct arguments *arguments) {
    const char *other = options_given(arguments, options->has_all ? "sort" : "pid cgroup");
    if (other)
        return usage_error(command, "--%s %s", other, options->has_all ? "does not go with -a" : "goes with -a only");
    if (options->has_all && arguments->rest_count > 0)
        return usage_error(command, "-a takes no mount: it looks at the whole machine");
    if (options->has_all && options->processes.count > 0 && options->cgroup)
        return usage_error(command, "--pid and --cgroup exclude each other");
    const bool can_be_by =
        !options->by_name || (options->has_all ? wait_by_of_word(options->by_name) != WAIT_BY_NOBODY
                                               : aggstats_grouping_of_name(options->by_name) != AGGSTATS_UNGROUPED);
    if (!can_be_by)
        return usage_error(command, "--by %s %s", options->by_name,
                           options->has_all ? "does not go with -a" : "goes with -a only");
    return STATUS_OK;
}

static enum status run_top(const struct command *command, int argc, char **argv) {
    struct top_options options = {.delay_ns = UINT64_C(2000000000), .order_name = "share"};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count > 1)
        return usage_error(command, "one mount at a time, not %d", arguments.rest_count);
    if (options.count > 0 && !options.batch)
        return usage_error(command, "--count goes with --batch only");
    status = check_all(command, &options, &arguments);
    if (status != STATUS_OK || options.has_all)
        return status != STATUS_OK ? status : top_all(&options);
    if (options.by_name)
        options.by = aggstats_grouping_of_name(options.by_name);
    options.argument = arguments.rest[0];
    return top(&options);
}

const struct command command_top = {
    .name = "top",
    .summary = "shows live what a mount does, or what threads wait for",
    .help = "Watches a mount of osproffs, or whatever records into the live file LIVE, and shows what has happened "
            "since the last snapshot. Without either: the only mount that there is. With -a: what all threads of this "
            "machine wait for. Key h on the screen lists the keys.",
    .options = rows,
    .common = COMMON_SCREEN,
    .run = run_top,
};
