/* Drawing what has been seen. */
#include "top_page.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "chart.h"
#include "units.h"

static struct units units_of(const struct top_watch *watch, const struct canvas *canvas) {
    return (struct units){.frequency_hz = watch->latest.profile.clock.frequency_hz, .ascii = canvas->ascii};
}

/* Local time. Returns false where there is none for that moment. */
static bool time_of(int64_t unix_ns, struct tm *ret_tm) {
    time_t seconds = (time_t)(unix_ns / 1000000000);
    return localtime_r(&seconds, ret_tm) != NULL;
}

/* ---- Heading ------------------------------------------------------------------------------------ */

static const char *title_of(const struct top_watch *watch) {
    const char *mount = aggstats_profile_label(&watch->latest.profile, "mount");
    return mount && mount[0] ? mount : watch->source.path;
}

/* The time that the frame is about: "the last 2.00 s". */
static void draw_span(const struct top_watch *watch, struct canvas *canvas) {
    const struct aggstats_profile *profile = &watch->frame.profile;
    const struct units units = units_of(watch, canvas);
    char elapsed[UNITS_TEXT_SIZE];
    char text[96] = "";
    char start[32] = "the beginning";
    struct tm tm;
    if (profile->has_elapsed)
        units_format_cycles(&units, (double)profile->elapsed_cycles, elapsed);
    else
        snprintf(elapsed, sizeof(elapsed), "time not known");
    if (profile->has_start && time_of(profile->start_ns, &tm))
        strftime(start, sizeof(start), "%H:%M:%S", &tm);
    if (!watch->since_beginning && !watch->summing)
        snprintf(text, sizeof(text), "the last %s", elapsed);
    else
        snprintf(text, sizeof(text), "%s since %s", elapsed, start);
    canvas_text(canvas, INK_PLAIN, text);
}

static void draw_title(const struct top_watch *watch, struct canvas *canvas) {
    char time_text[64] = "";
    struct tm tm;
    if (time_of(watch->latest.taken_ns, &tm))
        strftime(time_text, sizeof(time_text), "%Y-%m-%d %H:%M:%S %Z", &tm);
    canvas_text(canvas, INK_FAINT, time_text);
    canvas_text(canvas, INK_PLAIN, "  ");
    draw_span(watch, canvas);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_line(canvas, INK_STRONG, title_of(watch));
}

static void draw_sums(const struct top_watch *watch, struct canvas *canvas) {
    const struct top_frame *frame = &watch->frame;
    const struct units units = units_of(watch, canvas);
    char count[UNITS_TEXT_SIZE];
    char cycles[UNITS_TEXT_SIZE];
    char text[160];
    units_format_count(frame->ended, count);
    units_format_cycles(&units, frame->total_cycles, cycles);
    snprintf(text, sizeof(text), "%s call%s ended, %s in all; ", count, frame->ended == 1 ? "" : "s", cycles);
    canvas_text(canvas, INK_PLAIN, text);
    if (frame->call_count == 0) {
        canvas_line(canvas, INK_PLAIN, "none in flight");
        return;
    }
    units_format_count(frame->call_count, count);
    units_format_cycles(&units, (double)frame->calls[0].call->age_cycles, cycles);
    snprintf(text, sizeof(text), "%s in flight, the oldest %s for %s", count, frame->calls[0].call->op, cycles);
    canvas_line(canvas, INK_STRONG, text);
}

void top_page_draw_notices(const struct top_watch *watch, struct canvas *canvas) {
    if (watch->began_anew)
        canvas_line(canvas, INK_WARNING,
                    "The profile has begun anew (a reset, or another mount): what follows is since then.");
    if (watch->latest.profile.incomplete)
        canvas_line(canvas, INK_WARNING, "Incomplete: memory or disk space ran out, some calls are missing.");
    if (watch->has_ended)
        canvas_line(canvas, INK_WARNING, "The recording has ended.");
    else if (!watch->is_fresh)
        canvas_line(canvas, INK_WARNING, "No snapshot at this moment: the profile is being reset again and again.");
    else if (watch->is_paused)
        canvas_line(canvas, INK_WARNING, "Recording is paused: calls are not counted.");
}

void top_page_draw_heading(const struct top_watch *watch, struct canvas *canvas) {
    draw_title(watch, canvas);
    draw_sums(watch, canvas);
    top_page_draw_notices(watch, canvas);
}

/* ---- Operations --------------------------------------------------------------------------------- */

/* What the table of operations needs beside a row. */
struct table {
    const struct top_frame *frame;
    struct units units;
    bool ascii;
    int name_columns;
    size_t column_count;
    struct chart_axis axis; /* without columns: no charts */
};

typedef void (*format_cell_fn)(const struct table *table, const struct top_op *op, char ret_text[UNITS_TEXT_SIZE]);

static void format_share(const struct table *table, const struct top_op *op, char ret_text[UNITS_TEXT_SIZE]) {
    (void)table;
    units_format_share(op->share, ret_text);
}

static void format_calls(const struct table *table, const struct top_op *op, char ret_text[UNITS_TEXT_SIZE]) {
    (void)table;
    units_format_count(op->ended, ret_text);
}

static void format_mean(const struct table *table, const struct top_op *op, char ret_text[UNITS_TEXT_SIZE]) {
    if (op->ended > 0)
        units_format_cycles(&table->units, op->mean_cycles, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

/* All that is known of the longest call is its bucket; shown is the upper bound. */
static void format_max(const struct table *table, const struct top_op *op, char ret_text[UNITS_TEXT_SIZE]) {
    unsigned resolution = table->frame->profile.resolution;
    if (op->ended > 0)
        units_format_cycles(&table->units, aggstats_bucket_upper(op->max_bucket, resolution), ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

/* As many as fit; then the chart, if there is room. */
static const struct table_column {
    const char *title;
    const char *ascii_title;
    int columns;
    enum top_order order; /* by which the table is, if by this column */
    format_cell_fn format;
} table_columns[] = {
    {"share", "share", 8, TOP_BY_SHARE, format_share},
    {"calls", "calls", 11, TOP_BY_CALLS, format_calls},
    {"mean", "mean", 9, TOP_BY_MEAN, format_mean},
    {"max ≤", "max <=", 9, TOP_BY_MAX, format_max},
};

#define CHART_GAP 2
#define CHART_COLUMNS_MIN 8

/* Of all ops that were ever called, so that it seldom changes. */
static int name_columns(const struct top_watch *watch) {
    int columns = (int)strlen("operation");
    for (size_t i = 0; i < watch->latest.profile.op_count; i++) {
        int length = (int)strlen(watch->latest.profile.ops[i].name);
        columns = length > columns ? length : columns;
    }
    return columns;
}

static struct chart_axis axis_of(const struct top_frame *frame, int columns) {
    uint64_t buckets[AGGSTATS_BUCKETS_MAX];
    memcpy(buckets, frame->seen_buckets, sizeof(buckets));
    const struct aggstats_op_profile seen = {.buckets = buckets};
    const struct aggstats_op_profile *const ops[] = {&seen};
    return chart_line_axis(ops, 1, frame->profile.resolution, (unsigned)columns);
}

static struct table table_of(const struct top_watch *watch, const struct canvas *canvas) {
    struct table table = {.frame = &watch->frame,
                          .units = units_of(watch, canvas),
                          .ascii = canvas->ascii,
                          .name_columns = name_columns(watch)};
    int used = table.name_columns;
    while (table.column_count < ARRAY_SIZE(table_columns) &&
           used + table_columns[table.column_count].columns <= canvas->width)
        used += table_columns[table.column_count++].columns;
    int left = canvas->width - used - CHART_GAP;
    if (table.column_count == ARRAY_SIZE(table_columns) && left >= CHART_COLUMNS_MIN)
        table.axis = axis_of(&watch->frame, left);
    return table;
}

static void draw_chart_text(const struct table *table, struct canvas *canvas, enum ink ink, const char *text) {
    if (table->axis.column_count == 0 || !text[0])
        return;
    canvas_move_to(canvas, canvas->column + CHART_GAP);
    canvas_text(canvas, ink, text);
}

static void draw_titles(const struct table *table, enum top_order order, struct canvas *canvas) {
    char ticks[CHART_LINE_SIZE] = "";
    canvas_text(canvas, order == TOP_BY_NAME ? INK_STRONG : INK_FAINT, "operation");
    canvas_move_to(canvas, table->name_columns);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table_columns[i];
        canvas_right(canvas, column->order == order ? INK_STRONG : INK_FAINT,
                     table->ascii ? column->ascii_title : column->title, column->columns);
    }
    if (table->axis.column_count > 0)
        chart_format_ticks(&table->axis, &table->units, ticks);
    draw_chart_text(table, canvas, INK_FAINT, ticks);
    canvas_end_line(canvas);
}

static void draw_op(const struct table *table, const struct top_op *op, struct canvas *canvas) {
    char text[UNITS_TEXT_SIZE];
    char chart[CHART_LINE_SIZE] = "";
    canvas_text(canvas, INK_STRONG, op->profile->name);
    canvas_move_to(canvas, table->name_columns);
    for (size_t i = 0; i < table->column_count; i++) {
        table_columns[i].format(table, op, text);
        canvas_right(canvas, INK_PLAIN, text, table_columns[i].columns);
    }
    if (table->axis.column_count > 0)
        chart_format_line(&table->axis, op->profile, table->ascii, chart);
    draw_chart_text(table, canvas, INK_BAR, chart);
    canvas_end_line(canvas);
}

static void draw_ops(const struct top_watch *watch, struct canvas *canvas) {
    const struct table table = table_of(watch, canvas);
    if (watch->frame.op_count == 0) {
        canvas_line(canvas, INK_FAINT, "No operation was called.");
        return;
    }
    draw_titles(&table, watch->order, canvas);
    for (size_t i = 0; i < watch->frame.op_count; i++)
        draw_op(&table, &watch->frame.ops[i], canvas);
}

/* ---- Calls in flight ---------------------------------------------------------------------------- */

/* Where the columns of the table end; the first three are aligned to the right of their columns. */
#define AGE_COLUMNS 10
#define PID_COLUMNS 9
#define COMMAND_COLUMNS 16

static void draw_call_titles(struct canvas *canvas, int names) {
    canvas_text(canvas, INK_FAINT, "operation");
    canvas_move_to(canvas, names);
    canvas_right(canvas, INK_FAINT, "age", AGE_COLUMNS);
    canvas_right(canvas, INK_FAINT, "pid", PID_COLUMNS);
    canvas_text(canvas, INK_FAINT, "  command");
    canvas_move_to(canvas, names + AGE_COLUMNS + PID_COLUMNS + 2 + COMMAND_COLUMNS);
    canvas_line(canvas, INK_FAINT, " path or node");
}

static void draw_call(const struct top_call *call, const struct units *units, struct canvas *canvas, int names) {
    char text[UNITS_TEXT_SIZE];
    canvas_text(canvas, INK_STRONG, call->call->op);
    canvas_move_to(canvas, names);
    units_format_cycles(units, (double)call->call->age_cycles, text);
    canvas_right(canvas, INK_PLAIN, text, AGE_COLUMNS);
    snprintf(text, sizeof(text), "%" PRIu64, call->call->pid);
    canvas_right(canvas, INK_PLAIN, text, PID_COLUMNS);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_text(canvas, INK_PLAIN, call->command[0] ? call->command : "-");
    canvas_move_to(canvas, names + AGE_COLUMNS + PID_COLUMNS + 2 + COMMAND_COLUMNS);
    canvas_text(canvas, INK_PLAIN, " ");
    if (call->call->path) { /* else its number in the mount's own count, which is not that of ls -i */
        canvas_text(canvas, INK_PLAIN, call->call->path);
    } else {
        snprintf(text, sizeof(text), "node %" PRIu64, call->call->object);
        canvas_text(canvas, INK_PLAIN, text);
    }
    canvas_end_line(canvas);
}

static void draw_calls(const struct top_watch *watch, struct canvas *canvas) {
    const struct units units = units_of(watch, canvas);
    const int names = name_columns(watch);
    if (watch->frame.call_count == 0) {
        canvas_line(canvas, INK_FAINT, "No call is in flight.");
        return;
    }
    draw_call_titles(canvas, names);
    for (size_t i = 0; i < watch->frame.call_count; i++)
        draw_call(&watch->frame.calls[i], &units, canvas, names);
}

/* ---- Views -------------------------------------------------------------------------------------- */

/* As LatencyTOP's screen has who waits below what it waits for. */
static void draw_overview(const struct top_watch *watch, struct canvas *canvas) {
    draw_ops(watch, canvas);
    if (watch->frame.call_count == 0)
        return;
    canvas_end_line(canvas);
    draw_calls(watch, canvas);
}

const struct top_view top_views[] = {
    {'1', "operations", draw_overview},
    {'2', "calls in flight", draw_calls},
};
const size_t top_view_count = ARRAY_SIZE(top_views);
