/* Drawing the heading and the operations. */
#include "top_page.h"

#include <string.h>
#include <time.h>

#include "base.h"
#include "chart.h"
#include "show.h"
#include "top_table.h"
#include "top_views.h"
#include "units.h"

static struct units units_of(const struct top_watch *watch, const struct canvas *canvas) {
    return (struct units){.frequency_hz = watch->latest.profile.clock.frequency_hz, .ascii = canvas->ascii};
}

/* ---- Heading ------------------------------------------------------------------------------------ */

static const char *title_of(const struct top_watch *watch) {
    const char *mount = aggstats_profile_label(&watch->latest.profile, "mount");
    return mount && mount[0] ? mount : watch->source.path;
}

static void draw_title(const struct top_watch *watch, struct canvas *canvas) {
    char time_text[64] = "";
    char span[TOP_SPAN_SIZE];
    struct tm tm;
    if (top_table_time(watch->latest.taken_ns, &tm))
        strftime(time_text, sizeof(time_text), "%Y-%m-%d %H:%M:%S %Z", &tm);
    canvas_text(canvas, INK_FAINT, time_text);
    canvas_text(canvas, INK_PLAIN, "  ");
    const struct units units = units_of(watch, canvas);
    top_table_format_span(&watch->frame.profile, !watch->since_beginning && !watch->summing, &units, span);
    canvas_text(canvas, INK_PLAIN, span);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_line(canvas, INK_STRONG, title_of(watch));
}

/* Drawn beside the calls in flight, which a stopped daemon cannot know. */
static void draw_daemon(const struct top_watch *watch, struct canvas *canvas) {
    char text[DAEMON_TEXT_SIZE];
    char time[UNITS_TEXT_SIZE];
    const struct units units = units_of(watch, canvas);
    const uint64_t stopped_ns = watch->frame.profile.stopped_ns;
    const bool is_in_trouble = daemon_state_format(&watch->daemon, text);
    if (is_in_trouble)
        canvas_line(canvas, INK_WARNING, text);
    if (watch->daemon_is_back)
        canvas_line(canvas, INK_WARNING, "The daemon was stopped or stuck a moment ago, and serves again.");
    if (stopped_ns > 0) {
        units_format_seconds(&units, (double)stopped_ns / 1e9, time);
        snprintf(text, sizeof(text), "The daemon did not run for %s (stopped, frozen or without a CPU).", time);
        canvas_line(canvas, INK_WARNING, text);
    }
    if ((is_in_trouble && watch->daemon.trouble != DAEMON_UNSEEN) || watch->daemon_is_back || stopped_ns > 0)
        canvas_line(canvas, INK_WARNING, DAEMON_NOT_COUNTED);
}

static void draw_sums(const struct top_watch *watch, struct canvas *canvas) {
    const struct top_frame *frame = &watch->frame;
    const struct units units = units_of(watch, canvas);
    char count[UNITS_TEXT_SIZE];
    char cycles[UNITS_TEXT_SIZE];
    char text[160];
    units_format_count(frame->ended, count);
    units_format_cycles(&units, frame->total_cycles, cycles);
    snprintf(text, sizeof(text), "%s call%s ended, %s in all; ", count, units_plural(frame->ended), cycles);
    canvas_text(canvas, INK_PLAIN, text);
    if (frame->call_count == 0) {
        canvas_line(canvas, INK_PLAIN, "none in flight");
        draw_daemon(watch, canvas);
        return;
    }
    units_format_count(frame->call_count, count);
    units_format_cycles(&units, (double)frame->calls[0].call->latency_cycles, cycles);
    snprintf(text, sizeof(text), "%s in flight, the oldest %s for %s", count, frame->calls[0].call->op, cycles);
    canvas_line(canvas, INK_STRONG, text);
    draw_daemon(watch, canvas);
}

void top_page_draw_notices(const struct top_watch *watch, struct canvas *canvas) {
    if (watch->began_anew)
        canvas_line(canvas, INK_WARNING,
                    "The profile has begun anew (a reset, or another mount): what follows is since then.");
    if (watch->latest.profile.incomplete)
        canvas_line(canvas, INK_WARNING, SHOW_INCOMPLETE);
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

/* ---- Rates --------------------------------------------------------------------------------------- */

/* A number of a frame per second; 0: the time is unknown. */
static double per_second(const struct top_frame *frame, wide_count number) {
    const struct aggstats_profile *profile = &frame->profile;
    if (!profile->has_elapsed || profile->elapsed_cycles == 0)
        return 0;
    return (double)number * (double)profile->clock.frequency_hz / (double)profile->elapsed_cycles;
}

/* "4.10 MiB/s"; nothing for 0 */
static void format_moved(const struct top_frame *frame, wide_count moved_bytes, char ret_text[UNITS_TEXT_SIZE]) {
    ret_text[0] = '\0';
    if (moved_bytes == 0)
        return;
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.24s/s", units_bytes(per_second(frame, moved_bytes)).text);
}

static void format_failed(const struct top_frame *frame, wide_count failed, char ret_text[UNITS_TEXT_SIZE]) {
    ret_text[0] = '\0';
    if (failed == 0)
        return;
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.24s/s", units_number(per_second(frame, failed)).text);
}

/* True if bytes were moved or calls failed, and the time is known. */
static bool has_rates(const struct top_frame *frame) {
    return (frame->moved_bytes > 0 || frame->failed > 0) && per_second(frame, 1) > 0;
}

/* "All: 4.10 MiB/s moved, 12.0/s failed" */
static void draw_rates(const struct top_frame *frame, struct canvas *canvas) {
    char moved[UNITS_TEXT_SIZE];
    char failed[UNITS_TEXT_SIZE];
    char text[160];
    if (!has_rates(frame))
        return;
    format_moved(frame, frame->moved_bytes, moved);
    format_failed(frame, frame->failed, failed);
    snprintf(text, sizeof(text), "All: %s%s%s%s%s", moved, moved[0] ? " moved" : "", moved[0] && failed[0] ? ", " : "",
             failed, failed[0] ? " failed" : "");
    canvas_line(canvas, INK_PLAIN, text);
}

/* ---- Operations --------------------------------------------------------------------------------- */

/* State of the table of operations besides a row. */
struct table {
    struct top_table figures;
    const struct top_frame *frame;
    int name_columns;
    bool has_rates;         /* there are columns for rates */
    struct chart_axis axis; /* without columns: no charts */
};

#define CHART_GAP 2
#define CHART_COLUMNS_MIN 8

/* The widths of rates leave room for a useful chart. */
#define MOVED_COLUMNS 12
#define FAILED_COLUMNS 10
#define RATES_CHART_COLUMNS_MIN 24

static struct chart_axis axis_of(const struct top_frame *frame, int columns) {
    uint64_t buckets[AGGSTATS_BUCKETS_MAX];
    memcpy(buckets, frame->seen_buckets, sizeof(buckets));
    const struct aggstats_op_profile seen = {.buckets = buckets};
    const struct aggstats_op_profile *const ops[] = {&seen};
    return chart_line_axis(ops, 1, frame->profile.resolution, (unsigned)columns);
}

static struct table table_of(const struct top_watch *watch, const struct canvas *canvas) {
    const struct top_frame *frame = &watch->frame;
    struct table table = {.frame = frame, .name_columns = top_table_name_columns(&watch->latest.profile)};
    top_table_init(&table.figures, &watch->latest.profile, true, canvas);
    int left = top_table_fit(&table.figures, canvas->width - table.name_columns) - CHART_GAP;
    table.has_rates = has_rates(frame) && left >= MOVED_COLUMNS + FAILED_COLUMNS + RATES_CHART_COLUMNS_MIN;
    left -= table.has_rates ? MOVED_COLUMNS + FAILED_COLUMNS : 0;
    if (left >= CHART_COLUMNS_MIN)
        table.axis = axis_of(frame, left);
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
    top_table_draw_titles(&table->figures, order, canvas);
    if (table->has_rates) {
        canvas_right(canvas, INK_FAINT, "moved", MOVED_COLUMNS);
        canvas_right(canvas, INK_FAINT, "failed", FAILED_COLUMNS);
    }
    if (table->axis.column_count > 0)
        chart_format_ticks(&table->axis, &table->figures.units, ticks);
    draw_chart_text(table, canvas, INK_FAINT, ticks);
    canvas_end_line(canvas);
}

static void draw_rates_of_op(const struct top_frame *frame, const struct aggstats_op_profile *op,
                             struct canvas *canvas) {
    char text[UNITS_TEXT_SIZE];
    format_moved(frame, op->moved_bytes, text);
    canvas_right(canvas, INK_PLAIN, text, MOVED_COLUMNS);
    format_failed(frame, aggstats_failed_calls(op), text);
    canvas_right(canvas, INK_PLAIN, text, FAILED_COLUMNS);
}

static void draw_op(const struct table *table, const struct top_op *op, struct canvas *canvas) {
    char chart[CHART_LINE_SIZE] = "";
    canvas_text(canvas, INK_STRONG, op->profile->name);
    canvas_move_to(canvas, table->name_columns);
    top_table_draw_row(&table->figures, &op->figures, canvas);
    if (table->has_rates)
        draw_rates_of_op(table->frame, op->profile, canvas);
    if (table->axis.column_count > 0)
        chart_format_line(&table->axis, op->profile, canvas->ascii, chart);
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
    draw_rates(&watch->frame, canvas);
}

/* ---- Views -------------------------------------------------------------------------------------- */

/* As on LatencyTOP's screen, what threads wait for is below what they do. */
static void draw_overview(const struct top_watch *watch, struct canvas *canvas) {
    draw_ops(watch, canvas);
    if (watch->frame.call_count == 0)
        return;
    canvas_end_line(canvas);
    top_calls_page_draw(watch, canvas);
}

enum view { VIEW_SUMMARY, VIEW_OPERATIONS, VIEW_CALLS, VIEW_CALLERS, VIEW_CAUSES };

const struct top_view top_views[] = {
    [VIEW_SUMMARY] = {'1', "summary", top_summary_draw, TOP_CALLERS_IF_ANY, .has_orders = false},
    [VIEW_OPERATIONS] = {'2', "operations", draw_overview, TOP_CALLERS_UNWANTED, .has_orders = true},
    [VIEW_CALLS] = {'3', "calls in flight", top_calls_page_draw, TOP_CALLERS_UNWANTED, .has_orders = false},
    [VIEW_CALLERS] = {'4', "callers", top_callers_page_draw, TOP_CALLERS_WANTED, .has_orders = true},
    [VIEW_CAUSES] = {'5', "causes", top_causes_page_draw, TOP_CALLERS_UNWANTED, .has_orders = false},
};
const size_t top_view_count = ARRAY_SIZE(top_views);

const struct top_view *top_view_of_callers(void) {
    return &top_views[VIEW_CALLERS];
}

const struct top_view *top_view_of_operations(void) {
    return &top_views[VIEW_OPERATIONS];
}
