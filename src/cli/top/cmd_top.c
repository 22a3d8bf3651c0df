/* osprof top: what a mount does now, again and again: on the screen of a terminal, or as text. */
#include <getopt.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "top_callers_page.h"
#include "top_page.h"
#include "top_screen.h"

#define DELAY_SECONDS_DEFAULT 2
#define DELAY_SECONDS_MIN 0.1
#define DELAY_SECONDS_MAX 86400.0

struct top_options {
    bool batch;
    bool ascii;
    bool has_count;
    unsigned long count; /* of reports */
    double delay_seconds;
    enum top_order order;
    enum aggstats_grouping by; /* whose calls to show; AGGSTATS_UNGROUPED: the operations */
    const char *argument;      /* NULL: the only mount that there is */
};

/* ---- Text --------------------------------------------------------------------------------------- */

static void add_ns(struct timespec *time, int64_t ns) {
    int64_t sum_ns = time->tv_nsec + ns;
    time->tv_sec += sum_ns / 1000000000;
    time->tv_nsec = sum_ns % 1000000000;
}

/* What the mount has not told yet is in a later report. */
static void draw_callers(const struct top_watch *watch, struct canvas *canvas) {
    if (watch->callers.is_fresh && !watch->callers.error && !watch->has_ended)
        top_callers_page_draw(watch, canvas);
    else
        top_callers_page_draw_notices(watch, canvas);
}

static bool is_before(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Reports that are due at one time, after the mount was waited for, are one. */
static void wait_for_next(struct timespec *next, double delay_seconds) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    add_ns(next, llround(delay_seconds * 1e9));
    if (is_before(next, &now))
        *next = now;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
        ;
}

static void print_report(const struct top_watch *watch, bool ascii) {
    const struct screen screen = screen_of_stdout(0, ascii);
    struct canvas_stream stream;
    canvas_stream_init(&stream, &screen);
    if (!watch->is_fresh) {
        top_page_draw_notices(watch, &stream.canvas);
        return;
    }
    top_page_draw_heading(watch, &stream.canvas);
    canvas_end_line(&stream.canvas);
    if (watch->callers.is_wanted)
        draw_callers(watch, &stream.canvas);
    else
        top_views[0].draw(watch, &stream.canvas);
}

/* Reports of an interval each; without a count until the mount ends. main() tells if they cannot be written. */
static enum status print_reports(struct top_watch *watch, const struct top_options *options) {
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (unsigned long number = 0; !options->has_count || number < options->count; number++) {
        wait_for_next(&next, options->delay_seconds);
        int error = top_watch_refresh(watch);
        if (error) {
            complain("cannot go on watching %s: %s", watch->source.path, top_source_reason(error));
            return STATUS_TROUBLE;
        }
        top_watch_await_callers(watch);
        if (number > 0)
            putchar('\n');
        print_report(watch, options->ascii);
        if (fflush(stdout) != 0 || watch->has_ended)
            break;
    }
    return STATUS_OK;
}

/* ---- The command -------------------------------------------------------------------------------- */

/* Why there will be none, as far as that is known: a mount that does not answer now may do so later. */
static enum status begin_with_callers(struct top_watch *watch, const struct top_options *options) {
    const char *by = aggstats_grouping_name(options->by);
    watch->callers.by = options->by;
    top_watch_want_callers(watch, true);
    top_watch_await_callers(watch);
    if (watch->callers.error == -ENODATA) { /* the very first calls may not have come to a group yet */
        top_watch_ask_callers(watch);
        top_watch_await_callers(watch);
    }
    if (watch->callers.error == -ENODATA) {
        complain("no calls by %s in %s; osproffs -o by=%s records them", by, watch->callers.path, by);
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
    enum status status = options->by == AGGSTATS_UNGROUPED ? STATUS_OK : begin_with_callers(watch, options);
    if (status != STATUS_OK)
        return status;
    if (options->batch)
        return print_reports(watch, options);
    return top_screen_run(watch, options->by == AGGSTATS_UNGROUPED ? top_views : top_view_of_callers(),
                          llround(options->delay_seconds * 1e9), options->ascii);
}

static enum status top(const struct top_options *options) {
    struct top_source source;
    if (top_source_open(options->argument, &source) != 0)
        return STATUS_TROUBLE;
    struct top_watch watch;
    top_watch_init(&watch, &source, options->order);
    enum status status = run_watch(&watch, options);
    top_watch_finish(&watch);
    return status;
}

static bool parse_delay(const char *text, double *ret_seconds) {
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= DELAY_SECONDS_MIN && seconds <= DELAY_SECONDS_MAX))
        return false;
    *ret_seconds = seconds;
    return true;
}

static bool parse_count(const char *text, unsigned long *ret_count) {
    char *end;
    errno = 0;
    unsigned long count = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || count == 0)
        return false;
    *ret_count = count;
    return true;
}

static bool parse_by(const char *text, enum aggstats_grouping *ret_by) {
    static const enum aggstats_grouping groupings[] = {AGGSTATS_BY_PROCESS, AGGSTATS_BY_UID};
    for (size_t i = 0; i < ARRAY_SIZE(groupings); i++) {
        if (strcmp(text, aggstats_grouping_name(groupings[i])) == 0) {
            *ret_by = groupings[i];
            return true;
        }
    }
    return false;
}

static bool parse_order(const char *text, enum top_order *ret_order) {
    for (unsigned i = 0; i < TOP_ORDER_COUNT; i++) {
        if (strcmp(text, top_orders[i].name) == 0) {
            *ret_order = (enum top_order)i;
            return true;
        }
    }
    return false;
}

enum { OPTION_BATCH = 256, OPTION_DELAY, OPTION_COUNT, OPTION_SORT, OPTION_BY, OPTION_ASCII };

static const struct option long_options[] = {
    {"batch", no_argument, NULL, OPTION_BATCH},
    {"delay", required_argument, NULL, OPTION_DELAY},
    {"count", required_argument, NULL, OPTION_COUNT},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"by", required_argument, NULL, OPTION_BY},
    {"ascii", no_argument, NULL, OPTION_ASCII},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static enum status take_option(const struct command *command, int option, char **argv, struct top_options *options) {
    switch (option) {
    case OPTION_BATCH:
        options->batch = true;
        return STATUS_OK;
    case OPTION_ASCII:
        options->ascii = true;
        return STATUS_OK;
    case OPTION_DELAY:
        if (parse_delay(optarg, &options->delay_seconds))
            return STATUS_OK;
        return usage_error(command, "--delay must be a number of seconds from %g to %g, not '%s'", DELAY_SECONDS_MIN,
                           DELAY_SECONDS_MAX, optarg);
    case OPTION_COUNT:
        options->has_count = parse_count(optarg, &options->count);
        return options->has_count ? STATUS_OK
                                  : usage_error(command, "--count must be a number from 1 on, not '%s'", optarg);
    case OPTION_SORT:
        if (parse_order(optarg, &options->order))
            return STATUS_OK;
        return usage_error(command, "--sort must be share, calls, mean, max or name, not '%s'", optarg);
    case OPTION_BY:
        if (parse_by(optarg, &options->by))
            return STATUS_OK;
        return usage_error(command, "--by must be process or uid, not '%s'", optarg);
    default:
        return option_error(command, option, argv, long_options);
    }
}

static enum status run_top(const struct command *command, int argc, char **argv) {
    struct top_options options = {.delay_seconds = DELAY_SECONDS_DEFAULT};
    int option;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == 'h') {
            command_print_help(command);
            return STATUS_OK;
        }
        enum status status = take_option(command, option, argv, &options);
        if (status != STATUS_OK)
            return status;
    }
    if (argc - optind > 1)
        return usage_error(command, "one mount at a time, not %d", argc - optind);
    if (options.has_count && !options.batch)
        return usage_error(command, "--count goes with --batch only");
    options.argument = argv[optind]; /* NULL behind the last one */
    return top(&options);
}

const struct command command_top = {
    .name = "top",
    .summary = "shows what a mount does now: operations by latency, callers, calls in flight",
    .arguments = "[--by process|uid] [--delay SECONDS] [--sort ORDER] [--ascii] [MOUNT|LIVE]\n"
                 "       osprof top --batch [--count N] [--by process|uid] [--delay SECONDS] [--sort ORDER]\n"
                 "                  [--ascii] [MOUNT|LIVE]",
    .help = "Watches a mount of osproffs, or whatever records into the live file LIVE, and shows\n"
            "what has happened since the last snapshot. Without either: the only mount that there\n"
            "is. Key h on the screen lists the keys.\n\n"
            "  --by WHOM        begin with the callers, processes or users (uid); with --batch print\n"
            "                   these and no operations\n"
            "  --delay SECONDS  between snapshots, 0.1 to 86400; default: 2\n"
            "  --sort ORDER     order of operations or callers: share (default), calls, mean, max or name\n"
            "  --ascii          only ASCII characters\n"
            "  --batch          print text, a report per interval, until the mount ends\n"
            "  --count N        of --batch: end after so many reports\n",
    .run = run_top,
};
