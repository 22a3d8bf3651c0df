/* Drawing causes: LatencyTOP's screen, of one file system. */
#include "top_causes_page.h"

#include "top_calls_page.h"
#include "top_table.h"

/* Aligned to the right of their columns. */
#define SHARE_COLUMNS 8
#define CALLS_COLUMNS 8
#define TOTAL_COLUMNS 10
#define GAP_COLUMNS 2

static void draw_titles(struct canvas *canvas, int names) {
    canvas_right(canvas, INK_FAINT, "share", SHARE_COLUMNS);
    canvas_right(canvas, INK_FAINT, "total", TOTAL_COLUMNS);
    canvas_right(canvas, INK_FAINT, "calls", CALLS_COLUMNS);
    canvas_text(canvas, INK_FAINT, "  operation");
    canvas_move_to(canvas, SHARE_COLUMNS + TOTAL_COLUMNS + CALLS_COLUMNS + GAP_COLUMNS + names);
    canvas_line(canvas, INK_FAINT, "  cause");
}

static void draw_cause(const struct aggstats_cause *cause, double whole_cycles, const struct units *units,
                       struct canvas *canvas, int names) {
    char text[UNITS_TEXT_SIZE];
    units_format_share((double)cause->total_cycles / whole_cycles, text);
    canvas_right(canvas, INK_PLAIN, text, SHARE_COLUMNS);
    units_format_cycles(units, (double)cause->total_cycles, text);
    canvas_right(canvas, INK_PLAIN, text, TOTAL_COLUMNS);
    units_format_count(cause->calls, text);
    canvas_right(canvas, INK_PLAIN, text, CALLS_COLUMNS);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_text(canvas, INK_STRONG, cause->op);
    canvas_move_to(canvas, SHARE_COLUMNS + TOTAL_COLUMNS + CALLS_COLUMNS + GAP_COLUMNS + names);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_line(canvas, INK_PLAIN, cause->text);
}

static double sum_causes(const struct aggstats_profile *difference) {
    double total_cycles = 0;
    for (size_t i = 0; i < difference->cause_count; i++)
        total_cycles += (double)difference->causes[i].total_cycles;
    return total_cycles;
}

/* They are in the order of their time already. */
static void draw_causes(const struct top_watch *watch, struct canvas *canvas) {
    const struct aggstats_profile *difference = &watch->frame.profile;
    const struct units units = {.frequency_hz = watch->latest.profile.clock.frequency_hz, .ascii = canvas->ascii};
    const int names = top_table_name_columns(&watch->latest.profile);
    const double whole_cycles = sum_causes(difference);
    if (whole_cycles <= 0) {
        canvas_line(canvas, INK_FAINT, "No slow call has ended.");
        return;
    }
    draw_titles(canvas, names);
    for (size_t i = 0; i < difference->cause_count; i++)
        draw_cause(&difference->causes[i], whole_cycles, &units, canvas, names);
}

void top_causes_page_draw(const struct top_watch *watch, struct canvas *canvas) {
    const struct aggstats_profile *latest = &watch->latest.profile;
    if (latest->slow_cycles == 0) {
        canvas_line(canvas, INK_WARNING, "Nobody looks for slow calls; osproffs -o slow=10ms does.");
        if (latest->cause_count == 0)
            return;
    }
    draw_causes(watch, canvas);
    canvas_end_line(canvas);
    top_calls_page_draw_slow(watch, canvas);
}
