/* A profile for the eye. First the page that answers, then what was profiled, a table of the operations, and where that
 * is asked for a histogram of each, all by total latency. */
#include "show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer_model.h"
#include "base.h"
#include "calibration.h"
#include "chart.h"
#include "figures.h"
#include "groups_table.h"
#include "joint_table.h"
#include "outcome_line.h"
#include "peak_labels.h"
#include "peak_line.h"
#include "screen.h"
#include "units.h"
#include "user_label.h"

/* What all parts of the page need. */
struct page {
    const struct input *input;
    const struct aggstats_profile *profile;
    struct figures_sum sum; /* of the whole profile, also if only some ops are shown */
    struct units units;
    struct screen screen;
    const struct aggstats_op_profile **ops; /* those to show, largest total first */
    size_t op_count;
    struct calibration calibration; /* the times that peaks are labelled with */
    const struct show_options *options;
};

/* ---- Heading ------------------------------------------------------------------------------------ */

/* How to reach the profile again does not belong to what it says. */
static bool is_shown(const char *key) {
    return strcmp(key, "control") != 0 && strcmp(key, "profile") != 0;
}

static void print_labels(const struct page *page) {
    for (size_t i = 0; i < page->profile->label_count; i++) {
        const struct aggstats_label *label = &page->profile->labels[i];
        if (!is_shown(label->key) || !label->value[0])
            continue;
        const char *user_key = user_label_of_key(label->key);
        screen_print_key(&page->screen, user_key ? "label" : label->key);
        if (user_key)
            fprintf(page->screen.stream, "%s=", user_key);
        screen_print_untrusted(&page->screen, INK_PLAIN, label->value);
        putc('\n', page->screen.stream);
    }
}

static void print_clock(const struct page *page) {
    const struct aggstats_clock *clock = &page->profile->clock;
    const char *name = aggstats_clock_name(clock->kind);
    screen_print_key(&page->screen, "clock");
    if (clock->frequency_hz > 0)
        fprintf(page->screen.stream, "%s, %.3f MHz; ", name ? name : "unknown", (double)clock->frequency_hz / 1e6);
    else
        fprintf(page->screen.stream, "%s%sof unknown rate, latencies in cycles; ", name ? name : "", name ? " " : "");
    if (page->profile->resolution == 1)
        fputs("a bucket per power of two\n", page->screen.stream);
    else
        fprintf(page->screen.stream, "%u buckets per power of two\n", page->profile->resolution);
}

static void print_span(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    char text[64];
    if (profile->has_start) {
        time_t seconds = (time_t)(profile->start_ns / 1000000000);
        struct tm tm;
        if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &tm) > 0) {
            screen_print_key(&page->screen, "start");
            fprintf(page->screen.stream, "%s\n", text);
        }
    }
    if (profile->has_elapsed) {
        units_format_cycles(&page->units, (double)profile->elapsed_cycles, text);
        screen_print_key(&page->screen, "elapsed");
        fprintf(page->screen.stream, "%s\n", text);
    }
    if (profile->interval_cycles > 0) {
        units_format_cycles(&page->units, (double)profile->interval_cycles, text);
        screen_print_key(&page->screen, "intervals");
        fprintf(page->screen.stream, "%zu of %s\n", profile->interval_count, text);
    }
}

static void print_sum(const struct page *page) {
    char total[UNITS_TEXT_SIZE];
    char calls[UNITS_TEXT_SIZE];
    screen_print_key(&page->screen, "total");
    if (page->sum.calls == 0) {
        fputs("nothing: no operation has been called\n", page->screen.stream);
        return;
    }
    units_format_cycles(&page->units, page->sum.total_cycles, total);
    units_format_count(page->sum.calls, calls);
    fprintf(page->screen.stream, "%s in %s call%s of %zu operation%s\n", total, calls, units_plural(page->sum.calls),
            page->profile->op_count, units_plural(page->profile->op_count));
}

/* Of a live file: whether it still grows. */
static void print_state(const struct page *page) {
    const struct aggstats_live_info *live = &page->input->live;
    if (!page->input->is_live)
        return;
    screen_print_key(&page->screen, "state");
    fprintf(page->screen.stream, "%s by process %" PRId64 "%s\n", live->recording ? "being recorded" : "left behind",
            live->pid, live->paused ? ", paused" : "");
}

static void print_warnings(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    char count[UNITS_TEXT_SIZE];
    if (profile->incomplete)
        screen_print(&page->screen, INK_WARNING, "Incomplete: memory or disk space ran out, some calls are missing.\n");
    if (profile->clamped > 0) {
        units_format_count(profile->clamped, count);
        screen_ink(&page->screen, INK_WARNING);
        fprintf(page->screen.stream, "The clock ran backwards in %s call%s: counted as 0 cycles.\n", count,
                units_plural(profile->clamped));
        screen_ink(&page->screen, INK_PLAIN);
    }
}

static void print_heading(const struct page *page) {
    print_labels(page);
    print_clock(page);
    print_span(page);
    print_state(page);
    print_sum(page);
    print_warnings(page);
}

/* ---- Calls in flight ---------------------------------------------------------------------------- */

static void print_calls_in_flight(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    FILE *stream = page->screen.stream;
    if (profile->in_flight_count == 0)
        return;
    fprintf(stream, "\nCalls in flight:\n  %-20s%12s%12s  %s\n", "operation", "age", "pid", "path");
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        const struct aggstats_call_in_flight *call = &profile->in_flight[i];
        char age[UNITS_TEXT_SIZE];
        units_format_cycles(&page->units, (double)call->age_cycles, age);
        fprintf(stream, "  %-20s", call->op);
        screen_print_right(&page->screen, INK_STRONG, age, 12);
        fprintf(stream, "%12" PRIu64 "  ", call->pid);
        if (call->path) /* the number of a node tells nobody anything */
            screen_print_untrusted(&page->screen, INK_PLAIN, call->path);
        else
            screen_print(&page->screen, INK_FAINT, "(not known)");
        putc('\n', stream);
        if (!call->cause[0])
            continue;
        fprintf(stream, "%48s", "");
        screen_print_untrusted(&page->screen, INK_WARNING, call->cause);
        putc('\n', stream);
    }
}

/* ---- Table of operations ------------------------------------------------------------------------ */

typedef void (*format_cell_fn)(const struct page *page, const struct aggstats_op_profile *op,
                               char ret_text[UNITS_TEXT_SIZE]);

static void format_calls(const struct page *page, const struct aggstats_op_profile *op,
                         char ret_text[UNITS_TEXT_SIZE]) {
    (void)page;
    units_format_count(op->calls, ret_text);
}

static void format_share(const struct page *page, const struct aggstats_op_profile *op,
                         char ret_text[UNITS_TEXT_SIZE]) {
    units_format_share(page->sum.total_cycles > 0 ? (double)op->total_cycles / page->sum.total_cycles : 0, ret_text);
}

static void format_total(const struct page *page, const struct aggstats_op_profile *op,
                         char ret_text[UNITS_TEXT_SIZE]) {
    units_format_cycles(&page->units, (double)op->total_cycles, ret_text);
}

/* Of the calls that have ended: the others have not added to the total yet. */
static void format_mean(const struct page *page, const struct aggstats_op_profile *op, char ret_text[UNITS_TEXT_SIZE]) {
    uint64_t finished = figures_finished(op, page->profile->resolution);
    if (finished > 0)
        units_format_cycles(&page->units, (double)op->total_cycles / (double)finished, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

static void format_percentile(const struct page *page, const struct aggstats_op_profile *op, unsigned per_mille,
                              char ret_text[UNITS_TEXT_SIZE]) {
    struct aggstats_percentile percentile;
    if (aggstats_percentile(op, page->profile->resolution, per_mille, &percentile))
        units_format_cycles(&page->units, percentile.cycles, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

static void format_p50(const struct page *page, const struct aggstats_op_profile *op, char ret_text[UNITS_TEXT_SIZE]) {
    format_percentile(page, op, 500, ret_text);
}

static void format_p90(const struct page *page, const struct aggstats_op_profile *op, char ret_text[UNITS_TEXT_SIZE]) {
    format_percentile(page, op, 900, ret_text);
}

static void format_p99(const struct page *page, const struct aggstats_op_profile *op, char ret_text[UNITS_TEXT_SIZE]) {
    format_percentile(page, op, 990, ret_text);
}

static void format_p999(const struct page *page, const struct aggstats_op_profile *op, char ret_text[UNITS_TEXT_SIZE]) {
    format_percentile(page, op, 999, ret_text);
}

/* Where the longest call is not known, its bucket's upper bound is no figure of a call. */
static void format_longest(const struct page *page, const struct aggstats_op_profile *op,
                           char ret_text[UNITS_TEXT_SIZE]) {
    if (op->longest_cycles > 0)
        units_format_cycles(&page->units, (double)op->longest_cycles, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

/* In this order. Those that fit are shown, the least ranks first. */
static const struct table_column {
    const char *title;
    int width;
    int rank;
    format_cell_fn format;
} table_columns[] = {
    {"calls", 12, 0, format_calls}, {"share", 8, 1, format_share}, {"total", 8, 2, format_total},
    {"mean", 8, 7, format_mean},    {"p50", 8, 4, format_p50},     {"p90", 8, 6, format_p90},
    {"p99", 8, 5, format_p99},      {"p99.9", 8, 8, format_p999},  {"longest", 8, 3, format_longest},
};

#define FIRST_LATENCY_RANK 3 /* from here on one call's */

static int name_width(const struct page *page) {
    int width = (int)strlen("operation");
    for (size_t i = 0; i < page->op_count; i++) {
        int length = (int)strlen(page->ops[i]->name);
        width = length > width ? length : width;
    }
    return width;
}

static bool is_any_longest_known(const struct page *page) {
    for (size_t i = 0; i < page->op_count; i++)
        if (page->ops[i]->longest_cycles > 0)
            return true;
    return false;
}

static const struct table_column *column_of_rank(int rank) {
    for (size_t i = 0; i < ARRAY_SIZE(table_columns); i++)
        if (table_columns[i].rank == rank)
            return &table_columns[i];
    return NULL;
}

/* As bits by rank. */
static unsigned fitting_columns(const struct page *page) {
    int used = name_width(page);
    unsigned fitting = 0;
    for (int rank = 0; rank < (int)ARRAY_SIZE(table_columns); rank++) {
        const struct table_column *column = column_of_rank(rank);
        if (column->format == format_longest && !is_any_longest_known(page))
            continue;
        if (used + column->width > page->screen.width)
            break;
        used += column->width;
        fitting |= 1U << rank;
    }
    return fitting;
}

static void print_error_of_percentiles(const struct page *page) {
    char text[80];
    snprintf(text, sizeof(text), "Percentiles are exact to a factor of %.3g%s.\n",
             figures_percentile_error(page->profile->resolution),
             is_any_longest_known(page) ? "; the longest is exact" : "");
    screen_print(&page->screen, INK_FAINT, text);
}

static void print_kernels(const struct page *page) {
    for (size_t i = 0; i < page->op_count; i++)
        if (answer_is_kernels(page->ops[i], page->profile->resolution))
            screen_print(&page->screen, INK_FAINT,
                         "GETXATTR: the kernel's own, before a file's first write (security.capability).\n");
}

/* What the longest call of all worked on. */
static void print_longest(const struct page *page) {
    const struct aggstats_op_profile *longest = NULL;
    for (size_t i = 0; i < page->op_count; i++)
        if (!longest || page->ops[i]->longest_cycles > longest->longest_cycles)
            longest = page->ops[i];
    if (!longest || !longest->longest_path)
        return;
    fprintf(page->screen.stream, "The longest call, a %s, worked on ", longest->name);
    screen_print_untrusted(&page->screen, INK_PLAIN, longest->longest_path);
    putc('\n', page->screen.stream);
}

static void print_table(const struct page *page) {
    const struct screen *screen = &page->screen;
    const unsigned columns = fitting_columns(page);
    const int names = name_width(page);
    fprintf(screen->stream, "\n%-*s", names, "operation");
    for (size_t i = 0; i < ARRAY_SIZE(table_columns); i++)
        if (columns & 1U << table_columns[i].rank)
            screen_print_right(screen, INK_FAINT, table_columns[i].title, table_columns[i].width);
    putc('\n', screen->stream);
    for (size_t row = 0; row < page->op_count; row++) {
        screen_print(screen, INK_STRONG, page->ops[row]->name);
        fprintf(screen->stream, "%*s", names - (int)strlen(page->ops[row]->name), "");
        for (size_t i = 0; i < ARRAY_SIZE(table_columns); i++) {
            if (!(columns & 1U << table_columns[i].rank))
                continue;
            char text[UNITS_TEXT_SIZE];
            table_columns[i].format(page, page->ops[row], text);
            screen_print_right(screen, INK_PLAIN, text, table_columns[i].width);
        }
        putc('\n', screen->stream);
    }
    print_kernels(page);
    if (columns >> (FIRST_LATENCY_RANK + 1))
        print_error_of_percentiles(page);
    print_longest(page);
}

/* ---- Histograms --------------------------------------------------------------------------------- */

static void print_scale(const struct page *page, const struct chart_axis *axis) {
    FILE *stream = page->screen.stream;
    if (page->options->buckets) {
        fputs("\nCalls by latency: a row per bucket, with its lower bound. Bars are logarithmic.\n", stream);
        return;
    }
    fputs("\nCalls by latency, both logarithmic: a row of a bar is a factor of 10 in calls", stream);
    if (axis->merged > 1)
        fprintf(stream, ",\na column is %u buckets", axis->merged);
    fputs(".\n", stream);
}

/* Where there is only one, the chart says it all. */
static void print_peaks(const struct page *page, const struct aggstats_op_profile *op) {
    struct peak peaks[PEAKS_MAX];
    size_t count = peaks_find(op, page->profile->resolution, peaks);
    for (size_t i = 0; count > 1 && i < count; i++)
        peak_line_print(&peaks[i], page->profile->resolution, &page->units, &page->screen);
}

/* What they may be, or why that is said and nothing else. */
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
    print_peak_labels(page, op);
}

/* Those of one op. */
static void print_joints(const struct page *page, const struct aggstats_op_profile *op) {
    const struct aggstats_profile *profile = page->profile;
    for (size_t i = 0; i < profile->joint_count; i++)
        if (strcmp(profile->joints[i].op, op->name) == 0)
            joint_table_print(&profile->joints[i], op, profile->resolution, &page->units, &page->screen);
}

static void print_charts(const struct page *page) {
    struct chart_axis axis = chart_axis_of(page->ops, page->op_count, page->profile->resolution, &page->screen);
    print_scale(page, &axis);
    for (size_t i = 0; i < page->op_count; i++)
        print_histogram(page, page->ops[i], &axis);
}

/* Of chosen ops there is nothing to answer: they are looked at. */
static bool is_whole(const struct page *page) {
    return page->options->ops.count == 0;
}

static bool has_charts(const struct page *page) {
    return page->options->charts || page->options->buckets || !is_whole(page);
}

static void print_answer(const struct page *page) {
    const struct answer_page answer = {.profile = page->profile,
                                       .calibration = &page->calibration,
                                       .source = &page->options->source,
                                       .no_labels = page->options->no_labels,
                                       .explain = page->options->explain && !has_charts(page)};
    answer_page_print(&answer, &page->units, &page->screen);
    putc('\n', page->screen.stream);
}

static void print_page(const struct page *page) {
    if (is_whole(page))
        print_answer(page);
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

static struct page page_of(const struct input *input, const struct show_options *options) {
    struct page page = {
        .input = input,
        .profile = &input->profile,
        .sum = figures_sum(&input->profile),
        .screen = screen_of(options->stream, options->width, options->ascii),
        .options = options,
    };
    page.units = (struct units){.frequency_hz = page.profile->clock.frequency_hz, .ascii = page.screen.ascii};
    return page;
}

int show_page(const struct input *input, const struct show_options *options) {
    struct page page = page_of(input, options);
    CLEANUP_FREE const struct aggstats_op_profile **ops =
        calloc(page.profile->op_count + 1, sizeof(struct aggstats_op_profile *));
    if (!ops)
        return -ENOMEM;
    page.ops = ops;
    for (size_t i = 0; i < page.profile->op_count; i++) {
        if (option_list_wants(&options->ops, page.profile->ops[i].name))
            ops[page.op_count++] = &page.profile->ops[i];
    }
    if (!options->no_labels)
        calibration_for_profile(page.profile, &page.calibration);
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
    const struct page page = page_of(input, options);
    print_heading(&page);
    print_groups(&page, groupings);
}

int show_all(const struct input *input, const struct show_options *options) {
    struct show_options all = *options;
    all.joint = input->profile.joint_count > 0;
    const struct page page = page_of(input, &all);
    int error = show_page(input, &all);
    if (error == 0)
        print_groups(&page, input->profile.groupings);
    return error;
}
