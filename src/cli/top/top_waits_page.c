/* The upper part is the page of osprof why -a, by the same functions. */
#include "top_waits_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "top_table.h"
#include "wait_page.h"

#define NUMBER_COLUMNS 10
#define WHO_COLUMNS_MIN 12
#define WHO_COLUMNS_MAX 28

static const struct units units_of_time = {.frequency_hz = 1};

static struct units units_of(const struct canvas *canvas) {
    struct units units = units_of_time;
    units.ascii = canvas->ascii;
    return units;
}

/* ---- Heading ------------------------------------------------------------------------------------ */

#define CLOCK_SIZE 64

/* Local time. */
static void format_clock(int64_t unix_ns, bool has_day, char ret_text[CLOCK_SIZE]) {
    struct tm tm;
    ret_text[0] = '\0';
    if (!top_table_time(unix_ns, &tm))
        return;
    if (has_day)
        strftime(ret_text, CLOCK_SIZE, "%Y-%m-%d %H:%M:%S %Z", &tm);
    else
        strftime(ret_text, CLOCK_SIZE, "%H:%M:%S", &tm);
}

static void draw_span(const struct top_waits *waits, struct canvas *canvas) {
    const struct units units = units_of(canvas);
    const int64_t elapsed_ns = waits->taken_ns - (waits->summing ? waits->begin_ns : waits->previous_ns);
    const struct units_text elapsed = units_seconds(&units, (double)elapsed_ns / 1e9);
    char clock[CLOCK_SIZE];
    format_clock(waits->clock_ns - elapsed_ns, false, clock);
    canvas_text(canvas, INK_PLAIN, waits->summing ? "" : "the last ");
    canvas_text(canvas, INK_PLAIN, elapsed.text);
    canvas_text(canvas, INK_PLAIN, waits->summing ? " since " : "");
    canvas_text(canvas, INK_PLAIN, waits->summing ? clock : "");
}

void top_waits_page_draw_heading(const struct top_waits *waits, struct canvas *canvas) {
    char clock[CLOCK_SIZE];
    format_clock(waits->clock_ns, true, clock);
    canvas_text(canvas, INK_FAINT, clock);
    canvas_text(canvas, INK_PLAIN, "  ");
    draw_span(waits, canvas);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_line(canvas, INK_STRONG, waits->whose ? waits->whose : "all threads of this machine");
}

/* ---- Causes ------------------------------------------------------------------------------------- */

void top_waits_page_print(const struct top_waits *waits, enum wait_by by, const struct screen *screen) {
    const struct wait_page_options options = {.by = by,
                                              .has_no_hints = true,
                                              .rows_max = by == WAIT_BY_NOBODY ? WAIT_PAGE_ROWS / 2 : WAIT_PAGE_ROWS,
                                              .whose = waits->whose};
    wait_page_print(&waits->watch, &waits->by_cause, &waits->by_who, &options, screen);
}

static void draw_causes(const struct top_waits *waits, size_t rows_max, struct canvas *canvas) {
    const struct wait_page_options options = {
        .by = WAIT_BY_NOBODY, .has_no_hints = true, .has_no_names = true, .rows_max = rows_max, .whose = waits->whose};
    const int width = canvas->width < SCREEN_WIDTH_MIN ? SCREEN_WIDTH_MIN : canvas->width;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    const struct screen screen = {.stream = open_memstream(&text, &size_bytes), .width = width, .ascii = canvas->ascii};
    if (!screen.stream)
        return;
    wait_page_print(&waits->watch, &waits->by_cause, &waits->by_who, &options, &screen);
    if (fclose(screen.stream) != 0 || !text)
        return;
    while (size_bytes > 1 && text[size_bytes - 2] == '\n')
        text[--size_bytes] = '\0'; /* an empty line at the end */
    canvas_lines(canvas, text);
}

/* ---- Who waited --------------------------------------------------------------------------------- */

static void draw_numbers(const char *const *numbers, size_t count, enum ink ink, struct canvas *canvas) {
    for (size_t i = 0; i < count; i++)
        canvas_right(canvas, ink, numbers[i], NUMBER_COLUMNS);
}

static struct units_text share_of(uint64_t ns, uint64_t of_ns) {
    return units_share(of_ns > 0 ? (double)ns / (double)of_ns : 0);
}

static void draw_waiter(const struct top_waits *waits, size_t index, int who_columns, struct canvas *canvas) {
    const struct top_waiter *waiter = &waits->waiters[index];
    const bool is_chosen = index == top_waits_chosen(waits);
    const struct units units = units_of(canvas);
    const struct units_text share = share_of(waiter->total_ns, waits->by_who.total_ns);
    const struct units_text total = units_seconds(&units, (double)waiter->total_ns / 1e9);
    const struct units_text longest = units_seconds(&units, (double)waiter->longest_ns / 1e9);
    canvas_text(canvas, INK_STRONG, is_chosen ? ">" : " ");
    canvas_right(canvas, INK_PLAIN, share.text, NUMBER_COLUMNS - 1);
    draw_numbers((const char *[]){total.text, longest.text}, 2, INK_PLAIN, canvas);
    canvas_text(canvas, INK_PLAIN, "  ");
    const int begin = canvas->column;
    canvas_text(canvas, is_chosen ? INK_STRONG : INK_PLAIN, waiter->who);
    canvas_move_to(canvas, begin + who_columns);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_line(canvas, INK_PLAIN, waiter->most->cause->why.words);
}

/* The first of those that are shown: the chosen one is among them. */
static size_t first_shown(const struct top_waits *waits, size_t rows_max) {
    const size_t chosen = top_waits_chosen(waits);
    const size_t last = waits->waiter_count > rows_max ? waits->waiter_count - rows_max : 0;
    const size_t first = chosen >= rows_max && chosen < waits->waiter_count ? chosen - rows_max + 1 : 0;
    return first < last ? first : last;
}

static int who_columns(const struct top_waits *waits, size_t first, size_t end) {
    int columns = WHO_COLUMNS_MIN;
    for (size_t i = first; i < end; i++) {
        const int own = units_text_columns(waits->waiters[i].who);
        columns = own > columns ? own : columns;
    }
    return columns < WHO_COLUMNS_MAX ? columns : WHO_COLUMNS_MAX;
}

static void draw_waiters(const struct top_waits *waits, size_t rows_max, struct canvas *canvas) {
    static const char *const titles[] = {"share", "total", "longest"};
    static const char *const kinds[] = {"program", "process", "thread", "cgroup"};
    const size_t first = first_shown(waits, rows_max);
    const size_t end = waits->waiter_count - first > rows_max ? first + rows_max : waits->waiter_count;
    const int columns = who_columns(waits, first, end);
    char count[64];
    draw_numbers(titles, ARRAY_SIZE(titles), INK_FAINT, canvas);
    canvas_text(canvas, INK_FAINT, "  ");
    canvas_text(canvas, INK_FAINT, kinds[waits->by]);
    canvas_move_to(canvas, NUMBER_COLUMNS * (int)ARRAY_SIZE(titles) + 2 + columns);
    canvas_line(canvas, INK_FAINT, "  above all");
    for (size_t i = first; i < end; i++)
        draw_waiter(waits, i, columns, canvas);
    if (end - first < waits->waiter_count) {
        snprintf(count, sizeof(count), "(%zu-%zu of %zu)", first + 1, end, waits->waiter_count);
        canvas_line(canvas, INK_FAINT, count);
    }
}

/* ---- The chosen one ----------------------------------------------------------------------------- */

/* Shares are of what it waited for but work. */
static void draw_cause(const struct wait_view_row *row, uint64_t whole_ns, struct canvas *canvas) {
    const struct units units = units_of(canvas);
    const uint64_t all = row->waits + row->now;
    const bool is_work = row->cause->class == WAIT_IS_WORK;
    const struct units_text share = share_of(row->total_ns, whole_ns);
    const struct units_text total = units_seconds(&units, (double)row->total_ns / 1e9);
    const struct units_text longest = units_seconds(&units, (double)row->longest_ns / 1e9);
    const struct units_text count = units_count(all);
    char now[48] = "";
    draw_numbers((const char *[]){is_work ? "-" : share.text, total.text, longest.text, count.text}, 4, INK_PLAIN,
                 canvas);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_text(canvas, INK_PLAIN, row->cause->why.words);
    if (row->now > 0)
        snprintf(now, sizeof(now), " (%" PRIu64 " still)", row->now);
    canvas_line(canvas, INK_PLAIN, now);
}

static void draw_chosen(const struct top_waits *waits, struct canvas *canvas) {
    static const char *const titles[] = {"share", "total", "longest", "waits"};
    const size_t index = top_waits_chosen(waits);
    if (index == waits->waiter_count) {
        canvas_text(canvas, INK_STRONG, waits->chosen);
        canvas_line(canvas, INK_PLAIN, " has not waited for anything but work in this time.");
        return;
    }
    const struct top_waiter *waiter = &waits->waiters[index];
    draw_numbers(titles, ARRAY_SIZE(titles), INK_FAINT, canvas);
    canvas_text(canvas, INK_FAINT, "  causes of ");
    canvas_line(canvas, INK_STRONG, waiter->who);
    for (size_t i = 0; i < waits->by_who.count; i++)
        if (strcmp(waits->by_who.rows[i].who, waiter->who) == 0)
            draw_cause(&waits->by_who.rows[i], waiter->total_ns, canvas);
}

/* ---- The page ----------------------------------------------------------------------------------- */

void top_waits_page_draw(const struct top_waits *waits, int room_lines, struct canvas *canvas) {
    const size_t rows = room_lines > 24 ? (size_t)room_lines / 6 : 4; /* of each of the tables */
    if (!top_waits_has_any(waits)) {
        canvas_line(canvas, INK_FAINT, "What threads wait for is counted from here on.");
        return;
    }
    draw_causes(waits, rows, canvas);
    if (waits->waiter_count == 0 && !waits->chosen[0])
        return;
    canvas_end_line(canvas);
    if (waits->waiter_count > 0) {
        draw_waiters(waits, rows, canvas);
        canvas_end_line(canvas);
    }
    draw_chosen(waits, canvas);
}
