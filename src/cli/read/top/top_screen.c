/* The screen: a page, a line of hints below it, and keys. Only differences are sent to the terminal. */
#include "top_screen.h"

#include <curses.h>
#include <stdlib.h>
#include <wchar.h>

#include "base.h"
#include "terminal.h"

struct top_screen {
    const struct top_kind *kind;
    void *context;
    int scroll;     /* lines of the page above the first one shown */
    int page_lines; /* of the page, as last drawn, and how many fit */
    int room_lines;
    bool frozen;
    bool help;
    bool ascii;
    bool quit;
    int error; /* the error that ends it */
    int64_t delay_ns;
    int64_t next_ns; /* when to take the next snapshot */
};

static bool has_ended(const struct top_screen *screen) {
    return screen->kind->has_ended && screen->kind->has_ended(screen->context);
}

/* ---- Keys --------------------------------------------------------------------------------------- */

static void refresh_now(struct top_screen *screen) {
    screen->next_ns = read_clock_ns(CLOCK_MONOTONIC) + screen->delay_ns;
    if (!has_ended(screen))
        screen->error = screen->kind->take_snapshot(screen->context);
}

static void toggle_frozen(struct top_screen *screen) {
    screen->frozen = !screen->frozen;
    if (!screen->frozen)
        refresh_now(screen);
}

static void toggle_help(struct top_screen *screen) {
    screen->help = !screen->help;
    screen->scroll = 0;
}

static void quit(struct top_screen *screen) {
    screen->quit = true;
}

static void scroll_up(struct top_screen *screen) {
    screen->scroll--;
}

static void scroll_down(struct top_screen *screen) {
    screen->scroll++;
}

static void page_up(struct top_screen *screen) {
    screen->scroll -= screen->room_lines;
}

static void page_down(struct top_screen *screen) {
    screen->scroll += screen->room_lines;
}

static void draw_everything(struct top_screen *screen) {
    (void)screen;
    clearok(stdscr, TRUE);
}

#define CONTROL_KEY(letter) ((letter)&0x1f)

/* Of all kinds. */
static const struct screen_key {
    int key;
    const char *name;
    const char *hint; /* in the last line; NULL: not shown */
    const char *help;
    void (*act)(struct top_screen *screen);
} screen_keys[] = {
    {'h', "h", "help", "shows this, and goes back", toggle_help},
    {'q', "q", "quit", "quits", quit},
    {'p', "p", "pause", "keeps the screen as it is; p again goes on", toggle_frozen},
    {' ', "blank", NULL, "takes a snapshot now", refresh_now},
    {KEY_UP, "up", NULL, "a line up", scroll_up},
    {KEY_DOWN, "down", NULL, "a line down", scroll_down},
    {KEY_PPAGE, "page up", NULL, "a page up", page_up},
    {KEY_NPAGE, "page down", NULL, "a page down", page_down},
    {CONTROL_KEY('L'), "ctrl-L", NULL, "draws everything again", draw_everything},
};

/* NULL: the kind has no such key */
static const struct top_key *find_key(const struct top_kind *kind, int key) {
    for (size_t i = 0; i < kind->key_count; i++)
        if (kind->keys[i].key == key)
            return &kind->keys[i];
    return NULL;
}

static void take_key(struct top_screen *screen, int key) {
    const struct top_key *own = find_key(screen->kind, key);
    if (own) {
        screen->error = own->act(screen->context);
        return;
    }
    if (screen->kind->choose && screen->kind->choose(screen->context, key)) {
        screen->scroll = 0;
        screen->help = false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(screen_keys); i++)
        if (key == screen_keys[i].key)
            screen_keys[i].act(screen);
}

/* ---- Drawing ------------------------------------------------------------------------------------ */

/* A part of the screen, over its full width: a sheet that is printed into memory. */
struct region {
    struct sheet sheet;
    char *text;
    size_t size_bytes;
};

static void region_begin(struct region *region, const struct top_screen *screen) {
    *region = (struct region){.text = NULL};
    const struct screen page = {.stream = open_memstream(&region->text, &region->size_bytes),
                                .width = COLS < SCREEN_WIDTH_MIN ? SCREEN_WIDTH_MIN : COLS,
                                .ascii = screen->ascii,
                                .marks = true};
    region->sheet = sheet_of(&page, 0);
}

/* Returns the number of lines. */
static int region_lay_out(struct region *region) {
    int lines = 0;
    if (!region->sheet.screen.stream) {
        sheet_finish(&region->sheet);
        return 0;
    }
    sheet_print(&region->sheet);
    fclose(region->sheet.screen.stream);
    for (const char *at = region->text ? region->text : ""; *at; at++)
        lines += *at == '\n';
    return lines;
}

/* Draws the lines of a text from one on, down to the end of the region; they are cut at the right edge. */
static void region_draw(struct region *region, int top, int end, int first) {
    int line = top - first;
    int column = 0;
    attrset(A_NORMAL);
    for (const char *at = region->text ? region->text : ""; *at;) {
        wchar_t wide;
        const int bytes = mbtowc(&wide, at, MB_CUR_MAX);
        const int columns = bytes > 0 && (unsigned char)*at >= ' ' ? wcwidth(wide) : -1;
        const bool is_mark = *at >= INK_MARK && *at <= INK_MARK + (char)INK_WARNING;
        if (*at == '\n') {
            line++;
            column = 0;
        } else if (is_mark) {
            attrset((attr_t)terminal_attributes((enum ink)(*at - INK_MARK)));
        } else if (line >= top && line < end && column + (columns > 0 ? columns : 1) <= COLS) {
            if (columns > 0)
                mvaddnstr(line, column, at, bytes);
            else
                mvaddch(line, column, '?');
            column += columns > 0 ? columns : 1;
        }
        at += bytes > 0 ? bytes : 1;
    }
    attrset(A_NORMAL);
    free(region->text);
}

void top_screen_put_hint(struct sheet *sheet, const char *name, const char *text) {
    sheet_span(sheet, INK_STRONG, "%s", name);
    sheet_span(sheet, INK_FAINT, " %s  ", text);
}

void top_screen_put_help_line(struct sheet *sheet, const char *name, const char *text, const char *more) {
    sheet_put(sheet, FORM_LINE, INK_STRONG, 0, "%11s", name);
    sheet_span(sheet, INK_PLAIN, "  %s%s", text, more);
}

static void put_help(struct sheet *sheet, const struct top_kind *kind) {
    if (kind->put_help_of_choices)
        kind->put_help_of_choices(sheet);
    for (size_t i = 0; i < kind->key_count; i++)
        top_screen_put_help_line(sheet, kind->keys[i].name, kind->keys[i].help, "");
    for (size_t i = 0; i < ARRAY_SIZE(screen_keys); i++)
        if (!find_key(kind, screen_keys[i].key))
            top_screen_put_help_line(sheet, screen_keys[i].name, screen_keys[i].help, "");
    if (kind->put_more_help)
        kind->put_more_help(sheet);
}

/* Begins with which lines are shown, if not all. */
static void draw_hints(const struct top_screen *screen, int line) {
    const struct top_kind *kind = screen->kind;
    struct region region;
    region_begin(&region, screen);
    sheet_put(&region.sheet, FORM_LINE, INK_STRONG, 0, "%s", "");
    if (screen->page_lines > screen->room_lines && screen->room_lines > 0)
        sheet_span(&region.sheet, INK_STRONG, "  lines %d-%d of %d   ", screen->scroll + 1,
                   screen->scroll + screen->room_lines, screen->page_lines);
    for (size_t i = 0; i < ARRAY_SIZE(screen_keys); i++)
        if (screen_keys[i].hint)
            top_screen_put_hint(&region.sheet, screen_keys[i].name, screen_keys[i].hint);
    for (size_t i = 0; i < kind->key_count; i++)
        if (kind->keys[i].hint)
            top_screen_put_hint(&region.sheet, kind->keys[i].name, kind->keys[i].hint);
    if (kind->put_hints_of_choices)
        kind->put_hints_of_choices(&region.sheet);
    region_lay_out(&region);
    region_draw(&region, line, line + 1, 0);
}

static void draw(struct top_screen *screen) {
    const int end = LINES >= 6 ? LINES - 1 : LINES; /* with a line of hints if there is room */
    struct region heading;
    struct region page;
    erase();
    region_begin(&heading, screen);
    screen->kind->put_heading(&heading.sheet, screen->context);
    if (screen->frozen)
        sheet_put(&heading.sheet, FORM_LINE, INK_WARNING, 0, "This screen is paused; p goes on.");
    const int top = region_lay_out(&heading) + 1;
    region_draw(&heading, 0, LINES, 0);
    screen->room_lines = end > top ? end - top : 0;
    region_begin(&page, screen);
    if (screen->help)
        put_help(&page.sheet, screen->kind);
    else
        screen->kind->put(&page.sheet, screen->context, screen->room_lines);
    screen->page_lines = region_lay_out(&page);
    const int last = screen->page_lines > screen->room_lines ? screen->page_lines - screen->room_lines : 0;
    screen->scroll = screen->scroll < 0 ? 0 : screen->scroll > last ? last : screen->scroll;
    region_draw(&page, top, end, screen->scroll);
    if (end < LINES)
        draw_hints(screen, end);
    refresh();
}

/* ---- Time --------------------------------------------------------------------------------------- */

/* Takes the next snapshot if it is time for it; else waits for a key, or other input. Returns false if nothing must be
 * redrawn. */
static bool turn(struct top_screen *screen) {
    const bool has_next = !screen->frozen && !has_ended(screen);
    int64_t left_ns = screen->next_ns - read_clock_ns(CLOCK_MONOTONIC);
    bool is_new = false;
    if (has_next && left_ns <= 0) {
        refresh_now(screen);
        return true;
    }
    const struct top_input input = screen->kind->input(screen->context);
    if (!has_next || (input.due_ns >= 0 && input.due_ns < left_ns))
        left_ns = input.due_ns; /* negative: for ever */
    const int key = terminal_wait_key(left_ns, input.fd);
    if (key < 0)
        screen->error = -ENOTTY;
    else if (key > 0)
        take_key(screen, key);
    if (screen->error == 0)
        screen->error = screen->kind->collect(screen->context, &is_new);
    return key != 0 || is_new;
}

enum status top_screen_run(const struct top_kind *kind, void *context, int64_t delay_ns) {
    struct top_screen screen = {.kind = kind,
                                .context = context,
                                .ascii = screen_of_stdout().ascii,
                                .delay_ns = delay_ns,
                                .next_ns = read_clock_ns(CLOCK_MONOTONIC) + delay_ns};
    if (terminal_enter() < 0)
        return STATUS_TROUBLE;
    draw(&screen);
    while (!screen.quit && screen.error == 0) {
        if (turn(&screen) && screen.error == 0)
            draw(&screen);
    }
    terminal_leave();
    if (screen.error == 0)
        return STATUS_OK;
    kind->complain(context, screen.error == -ENOTTY ? "the terminal is gone" : kind->reason(screen.error));
    return STATUS_TROUBLE;
}
