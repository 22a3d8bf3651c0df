/* Drawing calls in flight. */
#include "top_calls_page.h"

#include <inttypes.h>

#include "top_table.h"

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
    canvas_line(canvas, INK_FAINT, " path");
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
    canvas_text(canvas, INK_PLAIN, call->call->path ? call->call->path : "(not known)");
    canvas_end_line(canvas);
    if (!call->call->cause[0])
        return;
    canvas_move_to(canvas, names + AGE_COLUMNS + PID_COLUMNS + 2 + COMMAND_COLUMNS);
    canvas_text(canvas, INK_WARNING, " ");
    canvas_text(canvas, INK_WARNING, call->call->cause);
    canvas_end_line(canvas);
}

static size_t draw_some(const struct top_watch *watch, bool slow_only, struct canvas *canvas) {
    const struct aggstats_profile *profile = &watch->latest.profile;
    const struct units units = {.frequency_hz = profile->clock.frequency_hz, .ascii = canvas->ascii};
    const int names = top_table_name_columns(profile);
    size_t count = 0;
    for (size_t i = 0; i < watch->frame.call_count; i++) {
        const struct top_call *call = &watch->frame.calls[i];
        if (slow_only && !call->call->cause[0])
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

void top_calls_page_draw_slow(const struct top_watch *watch, struct canvas *canvas) {
    if (draw_some(watch, true, canvas) == 0)
        canvas_line(canvas, INK_FAINT, "No slow call is in flight.");
}
