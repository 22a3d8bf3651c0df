/* Drawing calls in flight, and causes: LatencyTOP's screen, for one file system. */
#include "aggstats/why.h"
#include "top_views.h"

#include <inttypes.h>
#include <string.h>

#include "layers.h"
#include "top_table.h"

/* ---- Calls in flight ---------------------------------------------------------------------------- */

/* Where the columns of the table end; the first three are right-aligned. */
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
    canvas_line(canvas, INK_FAINT, " path");
}

static void draw_call(const struct top_call *call, const struct units *units, struct canvas *canvas, int names) {
    char text[UNITS_TEXT_SIZE];
    canvas_text(canvas, INK_STRONG, call->call->op);
    canvas_move_to(canvas, names);
    units_format_cycles(units, (double)call->call->latency_cycles, text);
    canvas_right(canvas, INK_PLAIN, text, AGE_COLUMNS);
    snprintf(text, sizeof(text), "%" PRIu64, call->call->pid);
    canvas_right(canvas, INK_PLAIN, text, PID_COLUMNS);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_text(canvas, INK_PLAIN, call->command[0] ? call->command : "-");
    canvas_move_to(canvas, names + AGE_COLUMNS + PID_COLUMNS + 2 + COMMAND_COLUMNS);
    canvas_text(canvas, INK_PLAIN, " ");
    canvas_text(canvas, INK_PLAIN, call->call->path ? call->call->path : "(not known)");
    canvas_end_line(canvas);
    char cause[AGGSTATS_WHY_TEXT_SIZE];
    if (!call->call->cause.words[0])
        return;
    canvas_move_to(canvas, names + AGE_COLUMNS + PID_COLUMNS + 2 + COMMAND_COLUMNS);
    canvas_text(canvas, INK_WARNING, " ");
    canvas_text(canvas, INK_WARNING, aggstats_why_text(&call->call->cause, cause));
    canvas_end_line(canvas);
}

static size_t draw_some(const struct top_watch *watch, bool slow_only, struct canvas *canvas) {
    const struct aggstats_profile *profile = &watch->latest.profile;
    const struct units units = {.frequency_hz = profile->clock.frequency_hz, .ascii = canvas->ascii};
    const int names = top_table_name_columns(profile);
    size_t count = 0;
    for (size_t i = 0; i < watch->frame.call_count; i++) {
        const struct top_call *call = &watch->frame.calls[i];
        if (slow_only && !call->call->cause.words[0])
            continue;
        if (count++ == 0)
            draw_call_titles(canvas, names);
        draw_call(call, &units, canvas, names);
    }
    return count;
}

void top_calls_page_draw(const struct top_watch *watch, struct canvas *canvas) {
    if (draw_some(watch, false, canvas) == 0)
        canvas_line(canvas, INK_FAINT, "No call is in flight.");
}

/* Draws only calls with a known cause. */
static void draw_slow(const struct top_watch *watch, struct canvas *canvas) {
    if (draw_some(watch, true, canvas) == 0)
        canvas_line(canvas, INK_FAINT, "No slow call is in flight.");
}

/* ---- Causes ------------------------------------------------------------------------------------- */

/* Right-aligned. */
#define SHARE_COLUMNS 8
#define COUNT_COLUMNS 8
#define TOTAL_COLUMNS 10
#define GAP_COLUMNS 2

static void draw_cause_titles(struct canvas *canvas, int names) {
    canvas_right(canvas, INK_FAINT, "share", SHARE_COLUMNS);
    canvas_right(canvas, INK_FAINT, "total", TOTAL_COLUMNS);
    canvas_right(canvas, INK_FAINT, "calls", COUNT_COLUMNS);
    canvas_text(canvas, INK_FAINT, "  operation");
    canvas_move_to(canvas, SHARE_COLUMNS + TOTAL_COLUMNS + COUNT_COLUMNS + GAP_COLUMNS + names);
    canvas_line(canvas, INK_FAINT, "  cause");
}

static void draw_cause(const struct aggstats_cause *cause, double whole_cycles, const struct units *units,
                       struct canvas *canvas, int names) {
    char text[UNITS_TEXT_SIZE];
    char words[AGGSTATS_WHY_TEXT_SIZE];
    units_format_share((double)cause->total_cycles / whole_cycles, text);
    canvas_right(canvas, INK_PLAIN, text, SHARE_COLUMNS);
    units_format_cycles(units, (double)cause->total_cycles, text);
    canvas_right(canvas, INK_PLAIN, text, TOTAL_COLUMNS);
    units_format_count(cause->calls, text);
    canvas_right(canvas, INK_PLAIN, text, COUNT_COLUMNS);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_text(canvas, INK_STRONG, cause->op);
    canvas_move_to(canvas, SHARE_COLUMNS + TOTAL_COLUMNS + COUNT_COLUMNS + GAP_COLUMNS + names);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_line(canvas, INK_PLAIN, aggstats_why_text(&cause->why, words));
}

static double sum_causes(const struct aggstats_profile *difference) {
    double total_cycles = 0;
    for (size_t i = 0; i < difference->cause_count; i++)
        total_cycles += (double)difference->causes[i].total_cycles;
    return total_cycles;
}

/* They are ordered by time already. */
static void draw_causes(const struct top_watch *watch, struct canvas *canvas) {
    const struct aggstats_profile *difference = &watch->frame.profile;
    const struct units units = {.frequency_hz = watch->latest.profile.clock.frequency_hz, .ascii = canvas->ascii};
    const int names = top_table_name_columns(&watch->latest.profile);
    const double whole_cycles = sum_causes(difference);
    if (whole_cycles <= 0) {
        canvas_line(canvas, INK_FAINT, "No slow call has ended.");
        return;
    }
    draw_cause_titles(canvas, names);
    for (size_t i = 0; i < difference->cause_count; i++)
        draw_cause(&difference->causes[i], whole_cycles, &units, canvas, names);
}

void top_causes_page_draw(const struct top_watch *watch, struct canvas *canvas) {
    const struct aggstats_profile *latest = &watch->latest.profile;
    if (latest->slow_cycles == 0) {
        canvas_line(canvas, INK_WARNING,
                    strcmp(layers_name(latest), "syscall") == 0
                        ? "Nobody looks for slow calls; osprof attach --slow 10ms does."
                        : "Nobody looks for slow calls; osproffs -o slow=10ms does.");
        if (latest->cause_count == 0)
            return;
    }
    draw_causes(watch, canvas);
    canvas_end_line(canvas);
    draw_slow(watch, canvas);
}
