/* A call is in a window by its number in its stream, as it was counted, and not by its time: so that the profile of a
 * window has the same calls as the one that was recorded. */
#include "events_windows.h"

#include <stdlib.h>

#include "base.h"

/* Where a stream has come to. */
struct events_place {
    uint32_t stream;
    size_t next_change;
    unsigned window; /* from 1 */
    bool is_paused;
};

/* ---- Marks ---- */

static int compare_numbers(const void *left, const void *right) {
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

static void find_rotated(struct events_windows *windows) {
    const struct events_file *file = windows->file;
    for (size_t i = 0; i < file->mark_count; i++)
        if (file->marks[i].mark.kind == EVENTS_MARK_ROTATED)
            windows->rotated[windows->rotated_count++] = file->marks[i].mark.number;
    qsort(windows->rotated, windows->rotated_count, sizeof(*windows->rotated), compare_numbers);
}

/* A rotation begins one if the span that it ends was saved. */
static bool begins_window(const struct events_windows *windows, const struct events_mark *mark) {
    return mark->kind == EVENTS_MARK_RESET ||
           (mark->kind == EVENTS_MARK_ROTATE && bsearch(&mark->number, windows->rotated, windows->rotated_count,
                                                        sizeof(*windows->rotated), compare_numbers));
}

static bool changes_counting(const struct events_windows *windows, const struct events_mark *mark) {
    return mark->kind == EVENTS_MARK_PAUSE || mark->kind == EVENTS_MARK_RESUME || begins_window(windows, mark);
}

static const struct events_mark_seen *find_mark(const struct events_file *file, enum events_mark_kind kind) {
    for (size_t i = 0; i < file->mark_count; i++)
        if (file->marks[i].mark.kind == (uint32_t)kind)
            return &file->marks[i];
    return NULL;
}

/* ---- Windows ---- */

static void add_window(struct events_windows *windows, uint64_t from_cycles, int64_t from_unix_ns) {
    if (windows->window_count > 0)
        windows->windows[windows->window_count - 1].to_cycles = from_cycles;
    windows->windows[windows->window_count++] =
        (struct events_window){.from_cycles = from_cycles, .from_unix_ns = from_unix_ns};
}

static void begin_pause(struct events_windows *windows, uint64_t from_cycles) {
    struct events_pause pause = {.from_cycles = from_cycles, .to_cycles = windows->end_cycles};
    if (windows->pause_count > 0) {
        const struct events_pause *last = &windows->pauses[windows->pause_count - 1];
        pause.before_cycles = last->before_cycles + (last->to_cycles - last->from_cycles);
    }
    windows->pauses[windows->pause_count++] = pause;
}

static void pause_or_resume(struct events_windows *windows, const struct events_mark *mark, bool *is_paused) {
    if (mark->kind == EVENTS_MARK_PAUSE && !*is_paused)
        begin_pause(windows, mark->cycles);
    if (mark->kind == EVENTS_MARK_RESUME && *is_paused)
        windows->pauses[windows->pause_count - 1].to_cycles = mark->cycles;
    *is_paused = mark->kind == EVENTS_MARK_PAUSE;
}

static void take_changes(struct events_windows *windows) {
    const struct events_file *file = windows->file;
    bool is_paused = false;
    for (size_t i = 0; i < file->mark_count; i++) {
        const struct events_mark *mark = &file->marks[i].mark;
        if (!changes_counting(windows, mark))
            continue;
        windows->changes[windows->change_count++] = &file->marks[i];
        if (begins_window(windows, mark))
            add_window(windows, mark->cycles, mark->realtime_ns);
        else
            pause_or_resume(windows, mark, &is_paused);
    }
}

/* ---- Streams ---- */

static void find_places(struct events_windows *windows) {
    const struct events_file *file = windows->file;
    for (size_t run = 0; run < file->run_count; run++) {
        uint32_t stream = file->runs[run].buffer.stream;
        if (run == 0 || stream != file->runs[run - 1].buffer.stream)
            windows->places[windows->place_count++] = (struct events_place){.stream = stream, .window = 1};
    }
}

static struct events_place *place_of(const struct events_windows *windows, uint32_t stream) {
    size_t from = 0;
    size_t to = windows->place_count;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;
        if (windows->places[middle].stream <= stream)
            from = middle;
        else
            to = middle;
    }
    return &windows->places[from];
}

/* ---- The first and the last moment ---- */

struct extent {
    uint64_t first_cycles;
    uint64_t last_cycles;
};

static int extent_of_calls(const struct events_file *file, struct extent *ret_extent) {
    struct events_cursor *cursor;
    struct event event;
    struct extent extent = {.first_cycles = UINT64_MAX};
    int err = events_cursor_open(file, &cursor);
    if (err < 0)
        return err;
    while (events_next(cursor, &event)) {
        extent.first_cycles = event.start_cycles < extent.first_cycles ? event.start_cycles : extent.first_cycles;
        extent.last_cycles = event.end_cycles > extent.last_cycles ? event.end_cycles : extent.last_cycles;
    }
    events_cursor_close(cursor);
    *ret_extent = extent;
    return 0;
}

static int begin(struct events_windows *windows) {
    const struct events_mark_seen *start = find_mark(windows->file, EVENTS_MARK_START);
    const struct events_mark_seen *stop = find_mark(windows->file, EVENTS_MARK_STOP);
    struct extent extent = {0};
    int err = start && stop ? 0 : extent_of_calls(windows->file, &extent);
    if (err < 0)
        return err;
    windows->end_cycles = stop ? stop->mark.cycles : extent.last_cycles;
    if (start)
        add_window(windows, start->mark.cycles, start->mark.realtime_ns);
    else
        add_window(windows, extent.first_cycles, events_unix_ns(windows->file, extent.first_cycles));
    return 0;
}

int events_windows_find(const struct events_file *file, struct events_windows *ret_windows) {
    struct events_windows windows = {.file = file};
    windows.rotated = calloc(file->mark_count + 1, sizeof(*windows.rotated));
    windows.changes = calloc(file->mark_count + 1, sizeof(const struct events_mark_seen *));
    windows.windows = calloc(file->mark_count + 1, sizeof(*windows.windows));
    windows.pauses = calloc(file->mark_count + 1, sizeof(*windows.pauses));
    windows.places = calloc(file->run_count + 1, sizeof(*windows.places));
    bool has_room = windows.rotated && windows.changes && windows.windows && windows.pauses && windows.places;
    int err = has_room ? begin(&windows) : -ENOMEM;
    if (err == 0) {
        find_rotated(&windows);
        take_changes(&windows);
        windows.windows[windows.window_count - 1].to_cycles = windows.end_cycles;
        find_places(&windows);
    }
    *ret_windows = windows;
    return err;
}

void events_windows_finish(struct events_windows *windows) {
    free(windows->rotated);
    free(windows->changes);
    free(windows->windows);
    free(windows->pauses);
    free(windows->places);
    *windows = (struct events_windows){0};
}

/* ---- Calls ---- */

static void pass(const struct events_windows *windows, struct events_place *place) {
    const struct events_mark *mark = &windows->changes[place->next_change++]->mark;
    if (mark->kind == EVENTS_MARK_PAUSE || mark->kind == EVENTS_MARK_RESUME)
        place->is_paused = mark->kind == EVENTS_MARK_PAUSE;
    else
        place->window++;
}

unsigned events_windows_of(struct events_windows *windows, const struct event *event) {
    struct events_place *place = place_of(windows, event->stream);
    while (place->next_change < windows->change_count && !events_is_before(windows->changes[place->next_change], event))
        pass(windows, place);
    return place->is_paused ? 0 : place->window;
}

/* Time in pauses before a moment. */
static uint64_t paused_before(const struct events_windows *windows, uint64_t cycles) {
    size_t from = 0;
    size_t to = windows->pause_count;
    while (from < to) { /* the first pause that begins later */
        size_t middle = from + (to - from) / 2;
        if (windows->pauses[middle].from_cycles <= cycles)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return 0;
    const struct events_pause *pause = &windows->pauses[from - 1];
    uint64_t until_cycles = cycles < pause->to_cycles ? cycles : pause->to_cycles;
    return pause->before_cycles + (until_cycles - pause->from_cycles);
}

uint64_t events_windows_counted(const struct events_windows *windows, const struct events_window *window,
                                uint64_t cycles) {
    if (cycles <= window->from_cycles)
        return 0;
    return cycles - window->from_cycles -
           (paused_before(windows, cycles) - paused_before(windows, window->from_cycles));
}
