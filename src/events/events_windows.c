/* The window of a call follows from its number in its stream, as it was counted, and not from its time. So the profile
 * of a window has the same calls as the recorded profile. */
#include <stdlib.h>

#include "base.h"
#include "events_private.h"
#include "events_profile_private.h"

/* ---- Windows and spans ---- */

static void add_window(struct events_windows *windows, uint64_t from_cycles, int64_t from_unix_ns) {
    if (windows->window_count > 0)
        windows->windows[windows->window_count - 1].to_cycles = from_cycles;
    windows->windows[windows->window_count++] =
        (struct events_window){.from_cycles = from_cycles, .from_unix_ns = from_unix_ns};
}

static uint64_t counted_since(const struct events_span *span, uint64_t cycles) {
    return span->is_paused || cycles <= span->from_cycles ? 0 : cycles - span->from_cycles;
}

static void add_span(struct events_windows *windows, const struct events_mark_seen *seen) {
    const struct events_mark *mark = &seen->mark;
    const struct events_span *last = &windows->spans[windows->span_count - 1];
    struct events_span span = {.mark = seen, .from_cycles = mark->cycles, .is_paused = last->is_paused};
    span.counted_cycles = last->counted_cycles + counted_since(last, mark->cycles);
    if (mark->kind == EVENTS_MARK_PAUSE || mark->kind == EVENTS_MARK_RESUME)
        span.is_paused = mark->kind == EVENTS_MARK_PAUSE;
    else
        add_window(windows, mark->cycles, mark->realtime_ns);
    span.window = windows->window_count;
    windows->spans[windows->span_count++] = span;
}

/* A mark ROTATE changes it if the profile was saved. */
static bool changes_counting(const struct number_map *rotated, const struct events_mark *mark) {
    return mark->kind == EVENTS_MARK_PAUSE || mark->kind == EVENTS_MARK_RESUME || mark->kind == EVENTS_MARK_RESET ||
           (mark->kind == EVENTS_MARK_ROTATE && number_map_get(rotated, mark->number));
}

static int find_spans(const struct events_file *file, struct events_windows *windows) {
    struct number_map rotated = {0}; /* numbers of rotations that succeeded */
    int err = 0;
    for (size_t i = 0; i < file->mark_count && err == 0; i++)
        if (file->marks[i].mark.kind == EVENTS_MARK_ROTATED)
            err = number_map_set(&rotated, file->marks[i].mark.number, 1);
    for (size_t i = 0; i < file->mark_count && err == 0; i++)
        if (changes_counting(&rotated, &file->marks[i].mark))
            add_span(windows, &file->marks[i]);
    windows->windows[windows->window_count - 1].to_cycles = windows->end_cycles;
    number_map_finish(&rotated);
    return err;
}

/* ---- The first and the last moment ---- */

static int extend(void *context, const struct event *event) {
    struct events_window *extent = context;
    if (event->start_cycles < extent->from_cycles)
        extent->from_cycles = event->start_cycles;
    if (event->end_cycles > extent->to_cycles)
        extent->to_cycles = event->end_cycles;
    return 0;
}

static int begin(const struct events_file *file, struct events_windows *windows) {
    const struct events_mark_seen *start = events_mark_of_kind(file, EVENTS_MARK_START);
    const struct events_mark_seen *stop = events_mark_of_kind(file, EVENTS_MARK_STOP);
    struct events_window extent = {.from_cycles = UINT64_MAX};
    int err = start && stop ? 0 : events_each(file, extend, &extent);
    if (err < 0)
        return err;
    windows->end_cycles = stop ? stop->mark.cycles : extent.to_cycles;
    if (start)
        add_window(windows, start->mark.cycles, start->mark.realtime_ns);
    else
        add_window(windows, extent.from_cycles, events_unix_ns(file, extent.from_cycles));
    windows->spans[windows->span_count++] =
        (struct events_span){.from_cycles = windows->windows[0].from_cycles, .window = 1};
    return 0;
}

int events_windows_find(const struct events_file *file, struct events_windows *ret_windows) {
    struct events_windows windows = {0};
    windows.spans = calloc(file->mark_count + 1, sizeof(*windows.spans));
    windows.windows = calloc(file->mark_count + 1, sizeof(*windows.windows));
    int err = windows.spans && windows.windows ? begin(file, &windows) : -ENOMEM;
    if (err == 0)
        err = find_spans(file, &windows);
    *ret_windows = windows;
    return err;
}

void events_windows_finish(struct events_windows *windows) {
    free(windows->spans);
    free(windows->windows);
    number_map_finish(&windows->places);
    *windows = (struct events_windows){0};
}

/* ---- Calls ---- */

unsigned events_windows_of(struct events_windows *windows, const struct event *event) {
    size_t before = number_map_get(&windows->places, event->stream);
    size_t place = before;
    while (place + 1 < windows->span_count && !events_is_before(windows->spans[place + 1].mark, event))
        place++;
    if (place != before) /* without memory the next call looks from the beginning again */
        (void)number_map_set(&windows->places, event->stream, place);
    return windows->spans[place].is_paused ? 0 : windows->spans[place].window;
}

/* How long the profile had counted at a moment. */
static uint64_t counted_at(const struct events_windows *windows, uint64_t cycles) {
    size_t from = 0;
    size_t to = windows->span_count;
    while (to - from > 1) { /* the last span that begins before or at that moment */
        size_t middle = from + (to - from) / 2;
        if (windows->spans[middle].from_cycles <= cycles)
            from = middle;
        else
            to = middle;
    }
    return windows->spans[from].counted_cycles + counted_since(&windows->spans[from], cycles);
}

uint64_t events_windows_counted(const struct events_windows *windows, const struct events_window *window,
                                uint64_t cycles) {
    uint64_t before_cycles = counted_at(windows, window->from_cycles);
    uint64_t by_then_cycles = cycles > window->from_cycles ? counted_at(windows, cycles) : 0;
    return by_then_cycles > before_cycles ? by_then_cycles - before_cycles : 0;
}
