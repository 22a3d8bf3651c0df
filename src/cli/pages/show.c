/* A profile for people. First the answer page, then what was profiled, a table of the operations, and on request a
 * histogram of each, all by total latency. */
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggstats/user_label.h"
#include "aggstats/why.h"
#include "answer_model.h"
#include "base.h"
#include "calibration.h"
#include "chart.h"
#include "facts_text.h"
#include "figures.h"
#include "groups.h"
#include "groups_table.h"
#include "html.h"
#include "layers.h"
#include "outcome_line.h"
#include "peak_labels.h"
#include "screen.h"
#include "sheet.h"
#include "units.h"

/* State of all parts of the page. */
#define STOLEN_SHARE_MIN 0.01

struct page {
    const struct input *input;
    const struct aggstats_profile *profile;
    struct figures_sum sum; /* of the whole profile, even if only some ops are shown */
    struct units units;
    struct screen screen;
    const struct aggstats_op_profile **ops; /* those to show, largest total first */
    size_t op_count;
    struct calibration calibration; /* the times for naming peaks */
    const struct show_options *options;
};

/* ---- Heading ------------------------------------------------------------------------------------ */

/* False for labels that only say how to find the profile again. */
static bool is_shown(const char *key) {
    return strcmp(key, "control") != 0 && strcmp(key, "profile") != 0;
}

/* Prints an entry of the heading. */
static void print_entry(const struct page *page, const char *key, const char *text) {
    screen_print_entry(&page->screen, key, text);
}

/* Prints the groups that were chosen, with how many they are or how much latency of their calls may be missing. */
static void print_chosen(const struct page *page, const struct aggstats_label *label) {
    const struct aggstats_profile *profile = page->profile;
    CLEANUP_STR struct str text = {0};
    str_add(&text, label->value);
    if (profile->missed_cycles_max > 0)
        str_addf(&text, ", but for %" PRIu64 " cycles at most", profile->missed_cycles_max);
    else if (profile->chosen_groups > 1)
        str_addf(&text, ", %" PRIu64 " of them", profile->chosen_groups);
    print_entry(page, label->key, str_text(&text));
}

static void print_label(const struct page *page, const struct aggstats_label *label) {
    const char *user_key = user_label_of_key(label->key);
    CLEANUP_STR struct str text = {0};
    if (label == groups_chosen(page->profile)) {
        print_chosen(page, label);
    } else if (user_key) {
        str_addf(&text, "%s=%s", user_key, label->value);
        print_entry(page, "label", str_text(&text));
    } else {
        print_entry(page, label->key, label->value);
    }
}

static void print_labels(const struct page *page) {
    for (size_t i = 0; i < page->profile->label_count; i++) {
        const struct aggstats_label *label = &page->profile->labels[i];
        if (is_shown(label->key) && label->value[0])
            print_label(page, label);
    }
}

/* Where calls are timed by the machine's own counter if the kernel trusts it. */
static bool has_counter(const struct aggstats_profile *profile) {
    const char *layer = aggstats_profile_label(profile, "layer");
    return layer && (strcmp(layer, "fs") == 0 || strcmp(layer, "user") == 0 || strcmp(layer, "daemon") == 0);
}

static void print_clock(const struct page *page) {
    const struct aggstats_clock *clock = &page->profile->clock;
    const char *name = aggstats_clock_name(clock->kind);
    char rate[96];
    char buckets[48] = "a bucket per power of two";
    char text[160];
    if (clock->kind == AGGSTATS_CLOCK_MONOTONIC && clock->frequency_hz == 1000000000)
        snprintf(rate, sizeof(rate), "monotonic, in nanoseconds%s",
                 has_counter(page->profile) ? ": no cycle counter that the kernel trusts" : "");
    else if (clock->frequency_hz > 0)
        snprintf(rate, sizeof(rate), "%s, %.3f MHz", name ? name : "unknown", (double)clock->frequency_hz / 1e6);
    else
        snprintf(rate, sizeof(rate), "%s%sof unknown rate, latencies in cycles", name ? name : "", name ? " " : "");
    if (page->profile->resolution != 1)
        snprintf(buckets, sizeof(buckets), "%u buckets per power of two", page->profile->resolution);
    snprintf(text, sizeof(text), "%s; %s", rate, buckets);
    print_entry(page, "clock", text);
}

/* Only if it matters: all latencies may include some of it. */
static void print_stolen(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    double hz = (double)profile->clock.frequency_hz;
    double cycles = (double)profile->stolen_ns / 1e9 * hz;
    char text[160];
    if (!profile->has_stolen || !profile->has_elapsed || cycles <= STOLEN_SHARE_MIN * (double)profile->elapsed_cycles)
        return;
    const struct units_text time = units_cycles(&page->units, cycles);
    snprintf(text, sizeof(text), "%s, %.1f %% of the time: the hypervisor ran others", time.text,
             100 * cycles / (double)profile->elapsed_cycles);
    print_entry(page, "stolen", text);
}

/* Calls in flight at that time are longer by it; callers that came then waited unseen. */
static void print_stopped(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    char text[160];
    if (profile->stopped_ns == 0)
        return;
    snprintf(text, sizeof(text), "%s: the daemon did not run; what requests waited for it is in no latency",
             units_seconds(&page->units, (double)profile->stopped_ns / 1e9).text);
    print_entry(page, "stopped", text);
}

static void print_span(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    char text[64];
    if (profile->has_start) {
        time_t seconds = (time_t)(profile->start_ns / 1000000000);
        struct tm tm;
        if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &tm) > 0)
            print_entry(page, "start", text);
    }
    if (profile->has_elapsed) {
        units_format_cycles(&page->units, (double)profile->elapsed_cycles, text);
        print_entry(page, "elapsed", text);
    }
    print_stolen(page);
    print_stopped(page);
    if (profile->interval_cycles > 0) {
        snprintf(text, sizeof(text), "%zu of %s", profile->interval_count,
                 units_cycles(&page->units, (double)profile->interval_cycles).text);
        print_entry(page, "intervals", text);
    }
}

static void print_sum(const struct page *page) {
    char text[160];
    const struct units_text total = units_cycles(&page->units, page->sum.total_cycles);
    snprintf(text, sizeof(text), "%s in %s call%s of %zu operation%s", total.text, units_count(page->sum.calls).text,
             units_plural(page->sum.calls), page->profile->op_count, units_plural(page->profile->op_count));
    print_entry(page, "total", page->sum.calls > 0 ? text : "nothing: no operation has been called");
}

/* For a live file: whether it still grows. */
static void print_state(const struct page *page) {
    const struct aggstats_live_info *live = &page->input->live;
    char text[96];
    if (!page->input->is_live)
        return;
    snprintf(text, sizeof(text), "%s by process %" PRId64 "%s", live->recording ? "being recorded" : "left behind",
             live->pid, live->paused ? ", paused" : "");
    print_entry(page, "state", text);
}

/* "3 calls never returned (FREAD 2, READ 1): a jump left them, or their process ended." */
static void print_left(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    const wide_count left_calls = figures_left(profile);
    CLEANUP_STR struct str ops = {0};
    CLEANUP_STR struct str text = {0};
    if (left_calls == 0)
        return;
    for (size_t i = 0; i < profile->op_count; i++) {
        if (profile->ops[i].left_calls == 0)
            continue;
        str_separate(&ops, ", ");
        str_addf(&ops, "%s %s", profile->ops[i].name, units_count(profile->ops[i].left_calls).text);
    }
    str_addf(&text,
             "%s call%s never returned (%s): a jump left them, or their process ended or executed another program.",
             units_count(left_calls).text, units_plural(left_calls), str_text(&ops));
    screen_print_in_ink(&page->screen, INK_PLAIN, str_text(&text));
}

static void print_warnings(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    const char *only = aggstats_profile_label(profile, "only"); /* of events of some calls */
    char text[128];
    snprintf(text, sizeof(text), "Incomplete: it has only %.80s.", only ? only : "");
    if (profile->incomplete && only)
        screen_print_in_ink(&page->screen, INK_WARNING, text);
    else if (profile->incomplete)
        screen_print_in_ink(&page->screen, INK_WARNING, SHOW_INCOMPLETE);
    print_left(page);
    if (profile->clamped == 0)
        return;
    snprintf(text, sizeof(text), "The clock ran backwards in %s call%s: counted as 0 cycles.",
             units_count(profile->clamped).text, units_plural(profile->clamped));
    screen_print_in_ink(&page->screen, INK_WARNING, text);
}

/* Whose mount it is, if it is not the own. */
static void print_owner(const struct page *page) {
    const struct passwd *user = page->input->has_owner ? getpwuid(page->input->owner) : NULL;
    char text[160];
    if (!page->input->has_owner || page->input->owner == geteuid())
        return;
    if (user)
        snprintf(text, sizeof(text), "%s (uid %u)", user->pw_name, (unsigned)page->input->owner);
    else
        snprintf(text, sizeof(text), "uid %u", (unsigned)page->input->owner);
    print_entry(page, "owner", text);
}

static void print_what_was_profiled(const struct page *page) {
    print_owner(page);
    print_labels(page);
    facts_text_print(page->profile, &page->units, &page->screen);
    print_clock(page);
    print_span(page);
    print_state(page);
    print_sum(page);
}

static void print_heading(const struct page *page) {
    print_what_was_profiled(page);
    print_warnings(page);
}

/* ---- Calls in flight ---------------------------------------------------------------------------- */

#define FLIGHT_INDENT 2
#define FLIGHT_NAME_COLUMNS 16
#define FLIGHT_AGE_COLUMNS 9
#define FLIGHT_PID_COLUMNS 9
#define FLIGHT_PROGRAM_COLUMNS 16
#define FLIGHT_PATH_COLUMNS_MIN 20

/* The column of paths. If the screen is too narrow, or the text before is too wide, they are on lines of their own. */
#define FLIGHT_PATH_COLUMN                                                                                             \
    (FLIGHT_INDENT + FLIGHT_NAME_COLUMNS + FLIGHT_AGE_COLUMNS + FLIGHT_PID_COLUMNS + 2 + FLIGHT_PROGRAM_COLUMNS)

static bool fits_columns(const struct page *page, const struct aggstats_call *call) {
    char age[UNITS_TEXT_SIZE];
    char pid[UNITS_TEXT_SIZE];
    units_format_cycles(&page->units, (double)call->latency_cycles, age);
    snprintf(pid, sizeof(pid), "%" PRIu64, call->pid);
    return strlen(call->op) < FLIGHT_NAME_COLUMNS && units_text_columns(age) < FLIGHT_AGE_COLUMNS &&
           strlen(pid) < FLIGHT_PID_COLUMNS && strlen(call->program) < FLIGHT_PROGRAM_COLUMNS;
}

static bool has_flight_columns(const struct page *page) {
    for (size_t i = 0; i < page->profile->in_flight_count; i++)
        if (!fits_columns(page, &page->profile->in_flight[i]))
            return false;
    return page->screen.width >= FLIGHT_PATH_COLUMN + FLIGHT_PATH_COLUMNS_MIN;
}

static void print_program(const struct page *page, const struct aggstats_call *call) {
    const char *program = call->program[0] ? call->program : "-";
    int columns = units_text_columns(program);
    fputs("  ", page->screen.stream);
    screen_print_untrusted(&page->screen, INK_PLAIN, program);
    fprintf(page->screen.stream, "%*s", columns < FLIGHT_PROGRAM_COLUMNS ? FLIGHT_PROGRAM_COLUMNS - columns : 1, "");
}

/* "FSYNC for 3.20 s by dd 4711" */
static void print_who_in_words(const struct page *page, const struct aggstats_call *call, const char *age) {
    CLEANUP_FREE char *text = NULL;
    fprintf(page->screen.stream, "%*s", FLIGHT_INDENT, "");
    if (asprintf(&text, "%s for %s by %s %" PRIu64, call->op, age, call->program[0] ? call->program : "pid",
                 call->pid) >= 0)
        screen_print_wrapped(&page->screen, FLIGHT_INDENT, 2 * FLIGHT_INDENT, text);
    else
        text = NULL;
    fprintf(page->screen.stream, "%*s", 2 * FLIGHT_INDENT, "");
}

/* Returns the column where the path begins. */
static int print_who_is_in_flight(const struct page *page, const struct aggstats_call *call) {
    FILE *stream = page->screen.stream;
    const struct units_text age = units_cycles(&page->units, (double)call->latency_cycles);
    if (!has_flight_columns(page)) {
        print_who_in_words(page, call, age.text);
        return 2 * FLIGHT_INDENT;
    }
    fprintf(stream, "%*s%-*s", FLIGHT_INDENT, "", FLIGHT_NAME_COLUMNS, call->op);
    screen_print_right(&page->screen, INK_STRONG, age.text, FLIGHT_AGE_COLUMNS);
    fprintf(stream, "%*" PRIu64, FLIGHT_PID_COLUMNS, call->pid);
    print_program(page, call);
    return FLIGHT_PATH_COLUMN;
}

static void print_call_in_flight(const struct page *page, const struct aggstats_call *call) {
    int column = print_who_is_in_flight(page, call);
    /* the number of a node helps nobody */
    screen_print_wrapped(&page->screen, column, column, call->path ? call->path : "(not known)");
    char cause[AGGSTATS_WHY_TEXT_SIZE];
    if (!call->cause.words[0])
        return;
    fprintf(page->screen.stream, "%*s", column, "");
    screen_ink(&page->screen, INK_WARNING);
    screen_print_wrapped(&page->screen, column, column, aggstats_why_text(&call->cause, cause));
    screen_ink(&page->screen, INK_PLAIN);
}

static void put_calls_in_flight(const struct page *page) {
    static const char *const titles[] = {"operation", "program", "path", "cause"};
    FILE *stream = page->screen.stream;
    html_begin_table(stream);
    html_begin_row(stream);
    html_put_cell(stream, HTML_NUMBER_TITLE, "age");
    html_put_cell(stream, HTML_NUMBER_TITLE, "pid");
    for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
        html_put_cell(stream, HTML_TITLE, titles[i]);
    html_end_row(stream);
    for (size_t i = 0; i < page->profile->in_flight_count; i++) {
        const struct aggstats_call *call = &page->profile->in_flight[i];
        char pid[UNITS_TEXT_SIZE];
        char cause[AGGSTATS_WHY_TEXT_SIZE];
        snprintf(pid, sizeof(pid), "%" PRIu64, call->pid);
        html_begin_row(stream);
        html_put_cell(stream, HTML_NUMBER, units_cycles(&page->units, (double)call->latency_cycles).text);
        html_put_cell(stream, HTML_NUMBER, pid);
        html_put_cell(stream, HTML_NAME, call->op);
        html_put_cell(stream, HTML_TEXT, call->program);
        html_put_cell(stream, HTML_TEXT, call->path ? call->path : "(not known)");
        html_put_cell(stream, HTML_TEXT, aggstats_why_text(&call->cause, cause));
        html_end_row(stream);
    }
    html_end_table(stream);
}

static void print_calls_in_flight(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    if (profile->in_flight_count == 0)
        return;
    screen_print_title(&page->screen, "Calls in flight");
    if (page->screen.html) {
        put_calls_in_flight(page);
        return;
    }
    if (has_flight_columns(page))
        fprintf(page->screen.stream, "%*s%-*s%*s%*s  %-*s%s\n", FLIGHT_INDENT, "", FLIGHT_NAME_COLUMNS, "operation",
                FLIGHT_AGE_COLUMNS, "age", FLIGHT_PID_COLUMNS, "pid", FLIGHT_PROGRAM_COLUMNS, "program", "path");
    for (size_t i = 0; i < profile->in_flight_count; i++)
        print_call_in_flight(page, &profile->in_flight[i]);
}

/* ---- Table of operations ------------------------------------------------------------------------ */

enum op_column { OP_NAME, OP_CALLS, OP_SHARE, OP_TOTAL, OP_MEAN, OP_P50, OP_P90, OP_P99, OP_P999, OP_LONGEST };

static const struct sheet_column op_columns[] = {
    [OP_NAME] = {"operation", SHEET_NAME, 0},   [OP_CALLS] = {"calls", SHEET_NUMBER, 1, 12},
    [OP_SHARE] = {"share", SHEET_NUMBER, 2, 8}, [OP_TOTAL] = {"total", SHEET_NUMBER, 3, 8},
    [OP_MEAN] = {"mean", SHEET_NUMBER, 8, 8},   [OP_P50] = {"p50", SHEET_NUMBER, 5, 8},
    [OP_P90] = {"p90", SHEET_NUMBER, 7, 8},     [OP_P99] = {"p99", SHEET_NUMBER, 6, 8},
    [OP_P999] = {"p99.9", SHEET_NUMBER, 9, 8},  [OP_LONGEST] = {"longest", SHEET_NUMBER, 4, 8},
};

/* Of the calls that have ended: the others have not added to the total yet. */
static double mean_cycles(const struct page *page, const struct aggstats_op_profile *op) {
    uint64_t finished = figures_finished(op, page->profile->resolution);
    return finished > 0 ? (double)op->total_cycles / (double)finished : NAN;
}

static double percentile_cycles(const struct page *page, const struct aggstats_op_profile *op, unsigned per_mille) {
    struct aggstats_percentile percentile;
    return aggstats_percentile(op, page->profile->resolution, per_mille, &percentile) ? percentile.cycles : NAN;
}

/* Where the longest call is not known, its bucket's upper bound is no figure of a call. */
static void add_op(const struct page *page, struct sheet_table *table, const struct aggstats_op_profile *op) {
    static const unsigned per_mille[] = {500, 900, 990, 999};
    const double all_cycles = page->sum.total_cycles;
    sheet_add(table, op->name);
    sheet_add_count(table, op->calls);
    sheet_add_share(table, all_cycles > 0 ? (double)op->total_cycles / all_cycles : 0);
    sheet_add_cycles(table, (double)op->total_cycles);
    sheet_add_cycles(table, mean_cycles(page, op));
    for (size_t i = 0; i < ARRAY_SIZE(per_mille); i++)
        sheet_add_cycles(table, percentile_cycles(page, op, per_mille[i]));
    sheet_add_cycles(table, op->longest_cycles > 0 ? (double)op->longest_cycles : NAN);
}

static bool is_any_longest_known(const struct page *page) {
    for (size_t i = 0; i < page->op_count; i++)
        if (page->ops[i]->longest_cycles > 0)
            return true;
    return false;
}

static void print_error_of_percentiles(const struct page *page) {
    char text[80];
    snprintf(text, sizeof(text), "Percentiles are exact to a factor of %.3g%s.",
             figures_percentile_error(page->profile->resolution),
             is_any_longest_known(page) ? "; the longest is exact" : "");
    screen_print_in_ink(&page->screen, INK_FAINT, text);
}

static void print_kernels(const struct page *page) {
    for (size_t i = 0; i < page->op_count; i++)
        if (answer_is_kernels(page->profile, page->ops[i]))
            screen_print_in_ink(&page->screen, INK_FAINT,
                                "GETXATTR: the kernel's own, before a file's first write (security.capability).");
}

static void print_queued(const struct page *page) {
    for (size_t i = 0; i < page->op_count; i++)
        if (layers_is_queued(layers_of_name(layers_name(page->profile)), page->ops[i]->name)) {
            screen_print_in_ink(&page->screen, INK_FAINT, ANSWER_QUEUED);
            return;
        }
}

/* Prints the object of the longest call of all. */
static void print_longest(const struct page *page) {
    const struct aggstats_op_profile *longest = NULL;
    for (size_t i = 0; i < page->op_count; i++)
        if (!longest || page->ops[i]->longest_cycles > longest->longest_cycles)
            longest = page->ops[i];
    if (!longest || !longest->longest_path)
        return;
    CLEANUP_FREE char *text = NULL;
    const char *article = strchr("AEIOU", longest->name[0]) ? "an" : "a";
    if (asprintf(&text, "The longest call, %s %s, worked on %s", article, longest->name, longest->longest_path) >= 0)
        screen_print_wrapped(&page->screen, 0, 2, text);
    else
        text = NULL;
}

static void print_table(const struct page *page) {
    const unsigned inexact = 1U << OP_MEAN | 1U << OP_P50 | 1U << OP_P90 | 1U << OP_P99 | 1U << OP_P999;
    CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(op_columns, &page->units);
    table.hidden = is_any_longest_known(page) ? 0 : 1U << OP_LONGEST;
    table.gap = 1;
    table.fills = true;
    for (size_t i = 0; i < page->op_count; i++)
        add_op(page, &table, page->ops[i]);
    screen_print_gap(&page->screen);
    const unsigned shown = sheet_print(&table, &page->screen);
    print_kernels(page);
    print_queued(page);
    if (shown & inexact)
        print_error_of_percentiles(page);
    print_longest(page);
}

/* ---- Histograms --------------------------------------------------------------------------------- */

static void print_scale(const struct page *page, const struct chart_axis *axis) {
    char text[160] = "Calls by latency: a row per bucket, with its lower bound. Bars are logarithmic.";
    char merged[48] = "";
    if (axis->merged > axis->resolution)
        snprintf(merged, sizeof(merged), ", a column is %u powers of two", axis->merged / axis->resolution);
    if (!page->options->buckets)
        snprintf(text, sizeof(text), "Calls by latency, both logarithmic: a row of a bar is a factor of 10 in calls%s.",
                 merged);
    putc('\n', page->screen.stream);
    screen_print_sentence(&page->screen, 0, text);
}

/* If there is only one, the chart suffices. */
static void print_peaks(const struct page *page, const struct aggstats_op_profile *op) {
    struct peak peaks[PEAKS_MAX];
    size_t count = peaks_find(op, page->profile->resolution, peaks);
    for (size_t i = 0; count > 1 && i < count; i++)
        peak_labels_print_place(&peaks[i], page->profile->resolution, &page->units, &page->screen);
}

/* Prints the names of peaks, or why there is only an explanation. */
static void print_peak_labels(const struct page *page, const struct aggstats_op_profile *op) {
    const struct peak_times times = peak_labels_times(page->profile, &page->calibration);
    if (page->options->explain)
        peak_labels_explain_all(op, &times, &page->units, &page->screen);
    else
        peak_labels_print(op, &times, &page->units, &page->screen);
}

static void print_histogram(const struct page *page, const struct aggstats_op_profile *op,
                            const struct chart_axis *axis) {
    putc('\n', page->screen.stream);
    screen_print(&page->screen, INK_STRONG, op->name);
    putc('\n', page->screen.stream);
    outcome_line_print(op, &page->screen);
    print_peaks(page, op);
    if (figures_finished(op, page->profile->resolution) == 0)
        fputs("  no call has ended yet\n", page->screen.stream);
    else if (page->options->buckets)
        chart_print_buckets(op, page->profile->resolution, &page->units, &page->screen);
    else
        chart_print(axis, op, &page->units, &page->screen);
    peak_labels_print_waits(page->profile, op, &page->units, &page->screen);
    print_peak_labels(page, op);
}

/* Of one op. */
static void print_joints(const struct page *page, const struct aggstats_op_profile *op) {
    const struct aggstats_profile *profile = page->profile;
    for (size_t i = 0; i < profile->joint_count; i++)
        if (strcmp(profile->joints[i].op, op->name) == 0)
            peak_labels_print_joint(&profile->joints[i], op, profile->resolution, &page->units, &page->screen);
}

static void print_charts(const struct page *page) {
    struct chart_axis axis = chart_axis_of(page->ops, page->op_count, page->profile->resolution, &page->screen);
    print_scale(page, &axis);
    for (size_t i = 0; i < page->op_count; i++)
        print_histogram(page, page->ops[i], &axis);
}

/* For chosen ops the answer page is left out. */
static bool is_whole(const struct page *page) {
    return page->options->ops.count == 0;
}

static bool has_charts(const struct page *page) {
    return page->options->charts || page->options->buckets || !is_whole(page);
}

static void print_answer(const struct page *page, unsigned lines_max) {
    const struct answer_page answer = {.profile = page->profile,
                                       .calibration = &page->calibration,
                                       .source = &page->options->source,
                                       .no_labels = page->options->no_labels,
                                       .explain = page->options->explain && !has_charts(page),
                                       .lines_max = lines_max};
    answer_page_print(&answer, &page->units, &page->screen);
}

static void print_warnings_on(const void *context, const struct screen *screen) {
    struct page page = *(const struct page *)context;
    page.screen = *screen;
    print_warnings(&page);
}

/* One screen. */
static void print_brief(const struct page *page) {
    const unsigned warning_lines = (unsigned)screen_count_lines(&page->screen, print_warnings_on, page);
    const unsigned lines_max = page->options->lines_max;
    print_answer(page, lines_max > warning_lines ? lines_max - warning_lines : 1);
    print_warnings(page);
    if (page->options->charts && page->op_count > 0)
        print_charts(page);
}

static void print_page(const struct page *page) {
    if (page->options->lines_max > 0) {
        print_brief(page);
        return;
    }
    if (page->options->warning)
        screen_print_in_ink(&page->screen, INK_WARNING, page->options->warning);
    if (is_whole(page)) {
        print_answer(page, 0);
        putc('\n', page->screen.stream);
    }
    print_heading(page);
    print_calls_in_flight(page);
    if (page->op_count == 0)
        return;
    print_table(page);
    if (has_charts(page))
        print_charts(page);
    for (size_t i = 0; page->options->joint && i < page->op_count; i++)
        print_joints(page, page->ops[i]);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

static struct page page_of(const struct input *input, const struct show_options *options, struct screen screen) {
    struct page page = {
        .input = input,
        .profile = &input->profile,
        .sum = figures_sum(&input->profile),
        .screen = screen,
        .options = options,
    };
    page.units = (struct units){.frequency_hz = page.profile->clock.frequency_hz, .ascii = page.screen.ascii};
    return page;
}

/* The operations that are wanted, and the times that name their peaks. */
static int prepare(struct page *page, const struct aggstats_op_profile ***ret_ops) {
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are meant */
    *ret_ops = calloc(page->profile->op_count + 1, sizeof(**ret_ops));
    if (!*ret_ops)
        return -ENOMEM;
    page->ops = *ret_ops;
    for (size_t i = 0; i < page->profile->op_count; i++) {
        if (option_list_wants(&page->options->ops, page->profile->ops[i].name))
            (*ret_ops)[page->op_count++] = &page->profile->ops[i];
    }
    if (!page->options->no_labels)
        calibration_for_profile(page->profile, &page->calibration);
    return 0;
}

int show_page(const struct input *input, const struct show_options *options) {
    struct page page = page_of(input, options, screen_of(options->stream, options->width, options->ascii));
    CLEANUP_FREE const struct aggstats_op_profile **ops = NULL;
    int error = prepare(&page, &ops);
    if (error)
        return error;
    print_page(&page);
    calibration_finish(&page.calibration);
    return 0;
}

static void print_grouping(const struct page *page, enum aggstats_grouping grouping) {
    const size_t row_max = page->options->group_rows_max > 0 ? page->options->group_rows_max : SIZE_MAX;
    size_t left_out = groups_table_print(page->profile, grouping, row_max, &page->units, &page->screen);
    if (left_out > 0)
        groups_table_print_left_out(grouping, left_out, page->options->how_all_groups, &page->screen);
}

static void print_groups(const struct page *page, unsigned groupings) {
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        if (groupings & 1U << grouping)
            print_grouping(page, (enum aggstats_grouping)grouping);
}

void show_groups(const struct input *input, unsigned groupings, const struct show_options *options) {
    const struct page page = page_of(input, options, screen_of(options->stream, options->width, options->ascii));
    if (options->warning)
        screen_print_in_ink(&page.screen, INK_WARNING, options->warning);
    print_heading(&page);
    print_groups(&page, groupings);
}

int show_all(const struct input *input, const struct show_options *options) {
    struct show_options all = *options;
    all.joint = input->profile.joint_count > 0;
    const struct page page = page_of(input, &all, screen_of(options->stream, options->width, options->ascii));
    int error = show_page(input, &all);
    if (error == 0)
        print_groups(&page, input->profile.groupings);
    return error;
}

/* ---- Its parts ---------------------------------------------------------------------------------- */

struct show_parts {
    struct page page;
    const struct aggstats_op_profile **ops;
};

int show_parts_init(const struct input *input, const struct show_options *options, const struct screen *screen,
                    struct show_parts **ret_parts) {
    struct show_parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        return -ENOMEM;
    parts->page = page_of(input, options, *screen);
    int error = prepare(&parts->page, &parts->ops);
    if (error)
        free(parts);
    else
        *ret_parts = parts;
    return error;
}

void show_parts_answer(const struct show_parts *parts) {
    const struct page *page = &parts->page;
    if (page->options->warning)
        screen_print_in_ink(&page->screen, INK_WARNING, page->options->warning);
    print_answer(page, 0);
    print_warnings(page);
}

void show_parts_heading(const struct show_parts *parts) {
    print_what_was_profiled(&parts->page);
}

void show_parts_in_flight(const struct show_parts *parts) {
    print_calls_in_flight(&parts->page);
}

void show_parts_table(const struct show_parts *parts) {
    if (parts->page.op_count > 0)
        print_table(&parts->page);
}

void show_parts_op(const struct show_parts *parts, const struct aggstats_op_profile *op) {
    const struct page *page = &parts->page;
    outcome_line_print(op, &page->screen);
    print_peaks(page, op);
    peak_labels_print_waits(page->profile, op, &page->units, &page->screen);
    print_peak_labels(page, op);
}

void show_parts_joints(const struct show_parts *parts) {
    for (size_t i = 0; i < parts->page.op_count; i++)
        print_joints(&parts->page, parts->page.ops[i]);
}

void show_parts_groups(const struct show_parts *parts) {
    const struct aggstats_profile *profile = parts->page.profile;
    unsigned groupings = 0;
    for (size_t i = 0; i < profile->group_count; i++)
        groupings |= 1U << profile->groups[i].grouping;
    print_groups(&parts->page, profile->groupings & groupings);
}

void show_parts_finish(struct show_parts *parts) {
    calibration_finish(&parts->page.calibration);
    free(parts->ops);
    free(parts);
}
