/* osprof events show: a line for each call, like a log. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_commands.h"
#include "screen.h"
#include "units.h"

#define TIME_COLUMNS 15 /* "18:20:04.123456" */
#define PROGRAM_COLUMNS 15
#define WIDTH_OF_PROGRAMS 100 /* screens of this width have a column for programs */
#define PATH_COLUMNS_MIN 12
#define HOST_COLUMNS 12

struct show_options {
    struct events_filter filter;
};

struct page {
    const struct events_file *file;
    struct events_filter *filter;
    const struct screen *screen;
    struct units units;
    struct events_order *order; /* NULL: the calls are of one host */
    size_t next_mark;
    bool any;    /* call was printed */
    int64_t day; /* of the previous line; in days since 1970 */
};

/* ---- Times -------------------------------------------------------------------------------------- */

/* With a line of its own for the date before it, if it differs from that of the previous line. */
static void print_time(struct page *page, uint64_t cycles) {
    char utc[UTC_TEXT_SIZE];
    int64_t unix_ns = events_unix_ns(page->file, cycles);
    int64_t day = unix_ns / (INT64_C(86400) * 1000000000);
    format_utc(unix_ns, utc);
    if (day != page->day) {
        screen_ink(page->screen, INK_FAINT);
        fprintf(page->screen->stream, "%.10s, times in UTC\n", utc);
        screen_ink(page->screen, INK_PLAIN);
    }
    page->day = day;
    fprintf(page->screen->stream, "%.*s", TIME_COLUMNS, utc + strlen("2026-11-25T"));
}

/* ---- Marks -------------------------------------------------------------------------------------- */

static const char *words_of_mark(uint32_t kind) {
    switch (kind) {
    case EVENTS_MARK_START:
        return "the trace begins";
    case EVENTS_MARK_STOP:
        return "the trace ends";
    case EVENTS_MARK_RESET:
        return "the profile is reset";
    case EVENTS_MARK_PAUSE:
        return "the profile is paused";
    case EVENTS_MARK_RESUME:
        return "the profile goes on";
    case EVENTS_MARK_ROTATE:
        return "the profile is rotated";
    case EVENTS_MARK_SLOW:
        return "a slow call has ended";
    default:
        return NULL; /* has no time of its own */
    }
}

static void print_mark(struct page *page, const struct events_mark *mark) {
    const char *words = words_of_mark(mark->kind);
    const char *only = mark->kind == EVENTS_MARK_START ? events_only(page->file) : NULL;
    print_time(page, mark->cycles);
    fputs("  ", page->screen->stream);
    screen_ink(page->screen, INK_FAINT);
    fprintf(page->screen->stream, "-- %s", words ? words : "");
    if (only) {
        fputs(", with only ", page->screen->stream);
        screen_print_untrusted(page->screen, INK_FAINT, only);
    }
    fputs(" --", page->screen->stream);
    screen_ink(page->screen, INK_PLAIN);
    putc('\n', page->screen->stream);
}

static void print_marks_before(struct page *page, uint64_t cycles) {
    for (; page->next_mark < page->file->mark_count; page->next_mark++) {
        const struct events_mark *mark = &page->file->marks[page->next_mark].mark;
        if (mark->cycles > cycles)
            return;
        int64_t unix_ns = events_unix_ns(page->file, mark->cycles);
        if (words_of_mark(mark->kind) && unix_ns >= page->filter->from_ns && unix_ns < page->filter->to_ns)
            print_mark(page, mark);
    }
}

/* ---- Calls -------------------------------------------------------------------------------------- */

/* Text in at least that many columns; bytes are columns. */
static int print_text(const struct page *page, const char *text, int columns) {
    int length = (int)strlen(text);
    screen_print_untrusted(page->screen, INK_PLAIN, text);
    return length < columns ? length + fprintf(page->screen->stream, "%*s", columns - length, "") : length;
}

static bool shows_programs(const struct page *page) {
    return page->screen->width >= WIDTH_OF_PROGRAMS;
}

static int print_program(const struct page *page, const struct event *event) {
    struct events_text name;
    char text[PROGRAM_COLUMNS + 1];
    uint64_t process = events_task(page->file, event, &name);
    int column = fprintf(page->screen->stream, "  %7" PRIu32,
                         events_thread_number(page->file, process ? process : event->thread));
    if (!shows_programs(page))
        return column;
    snprintf(text, sizeof(text), "%.*s", name.bytes ? (int)name.length : 0, name.bytes ? name.bytes : "");
    column += fprintf(page->screen->stream, " ");
    return column + print_text(page, event->thread == 0 ? "(kernel)" : text, PROGRAM_COLUMNS);
}

/* The host of a call, if there are several; with "~" before it if the call may have begun before one above it. */
static int print_host(const struct page *page, const struct event *event) {
    const struct events_host_seen *host = events_host_of(page->file, event->stream);
    char text[HOST_COLUMNS + 1];
    if (!page->order)
        return 0;
    snprintf(text, sizeof(text), "%s", host && host->name ? host->name : "?");
    fputs(events_is_unordered(page->order, event) ? " ~ " : "   ", page->screen->stream);
    return 3 + print_text(page, text, HOST_COLUMNS);
}

/* "4,096 B", "ENOENT" */
static void describe_outcome(const struct page *page, const struct event *event, char *ret_text, size_t size_bytes) {
    char moved[UNITS_TEXT_SIZE];
    const char *error = event->error ? strerrorname_np((int)event->error) : NULL;
    ret_text[0] = '\0';
    if (event->error && error)
        snprintf(ret_text, size_bytes, "%s", error);
    else if (event->error)
        snprintf(ret_text, size_bytes, "error %u", event->error);
    else if (page->file->ops[event->op].counts_bytes) {
        units_format_count(events_value(page->file, event, "result"), moved);
        snprintf(ret_text, size_bytes, "%s B", moved);
    }
}

/* The end of a path that is too long; if no path is known, the node. */
static void print_path(const struct page *page, const struct event *event, int columns) {
    char path[EVENTS_PATH_SIZE];
    events_path_of(page->file, event, path);
    const struct events_text new_name = events_text_of(page->file, event, "new_name");
    if (new_name.bytes)
        snprintf(path + strlen(path), sizeof(path) - strlen(path), " -> %.*s", (int)new_name.length, new_name.bytes);
    const struct events_text attribute = events_text_of(page->file, event, "attribute");
    if (attribute.bytes)
        snprintf(path + strlen(path), sizeof(path) - strlen(path), " [%.*s]", (int)attribute.length, attribute.bytes);
    if (!path[0])
        snprintf(path, sizeof(path), "(node %" PRIu64 ")", events_node_number(page->file, event->node));
    columns = columns < PATH_COLUMNS_MIN ? PATH_COLUMNS_MIN : columns;
    int length = units_text_columns(path);
    const char *shown = path;
    for (int left_out = length > columns ? length - columns + 3 : 0; left_out > 0 && *shown; left_out--)
        do
            shown++;
        while ((*shown & 0xc0) == 0x80);
    fputs(shown > path ? "..." : "", page->screen->stream);
    screen_print_untrusted(page->screen, INK_PLAIN, shown);
}

static void print_call(struct page *page, const struct event *event) {
    char text[UNITS_TEXT_SIZE + 16];
    print_time(page, event->start_cycles);
    int column = TIME_COLUMNS + print_host(page, event);
    units_format_cycles(&page->units, (double)event->latency_cycles, text);
    screen_print_right(page->screen, INK_PLAIN, text, 10);
    column += 10 + fprintf(page->screen->stream, "  ");
    screen_print_untrusted(page->screen, INK_STRONG, page->file->ops[event->op].name);
    int length = (int)strlen(page->file->ops[event->op].name);
    column += length + fprintf(page->screen->stream, "%*s", length < 12 ? 12 - length : 1, "");
    column += print_program(page, event);
    describe_outcome(page, event, text, sizeof(text));
    screen_print_right(page->screen, event->error ? INK_WARNING : INK_PLAIN, text, 13);
    column += 13 + fprintf(page->screen->stream, "  ");
    print_path(page, event, page->screen->width - column);
    putc('\n', page->screen->stream);
}

static void print_head(const struct page *page) {
    screen_ink(page->screen, INK_FAINT);
    fprintf(page->screen->stream, "%-15s", "begun");
    if (page->order)
        fprintf(page->screen->stream, "   %-*s", HOST_COLUMNS, "host");
    fprintf(page->screen->stream, "%10s  %-12s  %7s", "latency", "operation", "process");
    if (shows_programs(page))
        fprintf(page->screen->stream, " %-*s", PROGRAM_COLUMNS, "program");
    fprintf(page->screen->stream, "%13s  %s\n", "outcome", "path");
    screen_ink(page->screen, INK_PLAIN);
}

static int print_wanted(void *context, const struct event *event) {
    struct page *page = context;
    if (ferror(page->screen->stream))
        return 1; /* nobody reads the rest */
    if (!events_filter_wants(page->filter, event))
        return 0;
    print_marks_before(page, event->start_cycles);
    print_call(page, event);
    page->any = true;
    return 0;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    EVENTS_FILTER_ROWS(struct show_options, filter),
    ROW_ARGUMENTS(FILE, "FILE..."),
    {.kind = OPTION_END},
};

static enum status show(const struct command *command, void *given, const struct events_input *input) {
    struct show_options *options = given;
    (void)command;
    /* For another program nothing is cut. */
    struct screen screen = screen_of_stdout();
    if (screen_choice()->width == 0 && !isatty(STDOUT_FILENO))
        screen.width = SCREEN_WIDTH_MAX;
    struct page page = {.file = input->file,
                        .filter = &options->filter,
                        .screen = &screen,
                        .units = {.frequency_hz = input->file->clock_hz, .ascii = screen.ascii},
                        .day = -1};
    int err = page.file->host_count > 0 ? events_order_create(page.file, &page.order) : 0;
    if (err == 0) {
        print_head(&page);
        err = events_each(page.file, print_wanted, &page);
    }
    if (err < 0)
        complain("cannot sort calls: %s", strerror(-err));
    else
        print_marks_before(&page, UINT64_MAX);
    free(page.order);
    return err < 0 ? STATUS_TROUBLE : page.any ? STATUS_OK : events_complain_none(input);
}

static enum status run_show(const struct command *command, int argc, char **argv) {
    struct show_options options = {.filter.pid = 0};
    const struct events_work work = {.options = &options, .filter = &options.filter, .run = show};
    return events_work_run(&work, command, argc, argv);
}

const struct command command_events_show = {
    .name = "events show",
    .summary = "prints calls, a line each, in the order in which they began",
    .help =
        "Prints the calls that FILE holds, in the order in which they began: when, how long, what, who, what came "
        "of it, and the path if it is known. Between them stands what was done to the profile meanwhile. FILE is what "
        "osproffs -o events=FILE has written; - is standard input. Several FILEs are put on one time line by the "
        "clocks of their machines.",
    .options = rows,
    .common = COMMON_SCREEN,
    .run = run_show,
};
