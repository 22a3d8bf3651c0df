/* Drawing the first page of osprof show. */
#include "top_views.h"

#include <stdlib.h>
#include <string.h>

#include "answer_page.h"
#include "base.h"

/* The mount's answer has more: groups, and the paths of calls in flight. Until it answers, the live file is used. */
static const struct aggstats_profile *profile_of(const struct top_watch *watch) {
    const struct top_callers *callers = &watch->callers;
    bool is_there = callers->frame.profile.resolution > 0 && callers->error == 0 && !callers->is_late;
    return is_there && !watch->has_ended ? &callers->frame.profile : &watch->frame.profile;
}

/* The argument of the recommended commands. */
static const char *name_of(const struct top_watch *watch) {
    const char *mount = aggstats_profile_label(&watch->latest.profile, "mount");
    return mount && mount[0] ? mount : watch->source.path;
}

void top_summary_draw(const struct top_watch *watch, struct canvas *canvas) {
    const struct aggstats_profile *profile = profile_of(watch);
    const struct answer_source source = {.profile = name_of(watch)};
    const struct answer_page page = {.profile = profile, .calibration = &watch->calibration, .source = &source};
    const struct units units = {.frequency_hz = profile->clock.frequency_hz, .ascii = canvas->ascii};
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    int width = canvas->width < SCREEN_WIDTH_MIN ? SCREEN_WIDTH_MIN : canvas->width;
    struct screen screen = {.stream = open_memstream(&text, &size_bytes), .width = width, .ascii = canvas->ascii};
    if (!screen.stream)
        return;
    answer_page_print(&page, &units, &screen);
    if (fclose(screen.stream) == 0 && text)
        canvas_lines(canvas, text);
}
