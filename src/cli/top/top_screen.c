/* The screen: a page, a line of hints below it, and keys. Only differences are sent to the terminal. */
#include "top_screen.h"

#include <curses.h>
#include <string.h>

#include "base.h"
#include "screen.h"
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

/* A part of the screen, over its full width. */
struct region {
    struct canvas canvas;
    int top; /* the first of the screen's lines in this part, and the first behind it */
    int end;
    int line; /* being drawn, counted from `top`; negative: scrolled out of sight */
};

static void region_put(struct canvas *canvas, enum ink ink, const char *text) {
    struct region *region = container_of(canvas, struct region, canvas);
    if (region->line < 0 || region->top + region->line >= region->end)
        return;
    attrset((attr_t)terminal_attributes(ink));
    mvaddstr(region->top + region->line, canvas->column, text);
    attrset(A_NORMAL);
}

static void region_end_line(struct canvas *canvas) {
    container_of(canvas, struct region, canvas)->line++;
}

static struct region region_of(const struct top_screen *screen, int top, int end, int first_line) {
    return (struct region){
        .canvas =
            {.put = region_put, .end_line = region_end_line, .width = COLS, .clipped = true, .ascii = screen->ascii},
        .top = top,
        .end = end,
        .line = -first_line,
    };
}

void top_screen_draw_hint(struct canvas *canvas, const char *name, const char *text) {
    if (canvas->column > 0)
        canvas_text(canvas, INK_PLAIN, "  ");
    canvas_text(canvas, INK_STRONG, name);
    canvas_text(canvas, INK_PLAIN, " ");
    canvas_text(canvas, INK_FAINT, text);
}

void top_screen_draw_help_line(struct canvas *canvas, const char *name, const char *text, const char *more) {
    canvas_right(canvas, INK_STRONG, name, 11);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_text(canvas, INK_PLAIN, text);
    canvas_line(canvas, INK_PLAIN, more);
}

static void draw_help(const struct top_kind *kind, struct canvas *canvas) {
    if (kind->draw_help_of_choices)
        kind->draw_help_of_choices(canvas);
    for (size_t i = 0; i < kind->key_count; i++)
        top_screen_draw_help_line(canvas, kind->keys[i].name, kind->keys[i].help, "");
    for (size_t i = 0; i < ARRAY_SIZE(screen_keys); i++)
        if (!find_key(kind, screen_keys[i].key))
            top_screen_draw_help_line(canvas, screen_keys[i].name, screen_keys[i].help, "");
    if (kind->draw_more_help)
        kind->draw_more_help(canvas);
}

/* Says which lines are shown, if not all. */
static void draw_position(const struct top_screen *screen, struct canvas *canvas) {
    char text[64];
    if (screen->page_lines <= screen->room_lines || screen->room_lines == 0)
        return;
    snprintf(text, sizeof(text), "  lines %d-%d of %d ", screen->scroll + 1, screen->scroll + screen->room_lines,
             screen->page_lines);
    canvas_text(canvas, INK_STRONG, text);
}

static void draw_hints(const struct top_screen *screen, struct canvas *canvas) {
    const struct top_kind *kind = screen->kind;
    draw_position(screen, canvas);
    for (size_t i = 0; i < ARRAY_SIZE(screen_keys); i++)
        if (screen_keys[i].hint)
            top_screen_draw_hint(canvas, screen_keys[i].name, screen_keys[i].hint);
    for (size_t i = 0; i < kind->key_count; i++)
        if (kind->keys[i].hint)
            top_screen_draw_hint(canvas, kind->keys[i].name, kind->keys[i].hint);
    if (kind->draw_hints_of_choices)
        kind->draw_hints_of_choices(canvas);
}

/* Draws the scrollable part. Returns its number of lines. */
static int draw_page(const struct top_screen *screen, int top, int end) {
    struct region region = region_of(screen, top, end, screen->scroll);
    if (screen->help)
        draw_help(screen->kind, &region.canvas);
    else
        screen->kind->draw(screen->context, screen->room_lines, &region.canvas);
    return region.line + screen->scroll;
}

static int clamp_scroll(int scroll, int page_lines, int room_lines) {
    int last = page_lines > room_lines ? page_lines - room_lines : 0;
    return scroll < 0 ? 0 : scroll > last ? last : scroll;
}

/* Draws as much of the heading as fits. Returns its number of lines. */
static int draw_heading(const struct top_screen *screen) {
    struct region region = region_of(screen, 0, LINES, 0);
    screen->kind->draw_heading(screen->context, &region.canvas);
    if (screen->frozen)
        canvas_line(&region.canvas, INK_WARNING, "This screen is paused; p goes on.");
    return region.line;
}

static void draw(struct top_screen *screen) {
    erase();
    const int end = LINES >= 6 ? LINES - 1 : LINES; /* with a line of hints if there is room */
    const int top = draw_heading(screen) + 1;
    screen->room_lines = end > top ? end - top : 0;
    screen->scroll = screen->scroll < 0 ? 0 : screen->scroll;
    screen->page_lines = draw_page(screen, top, end);
    int scroll = clamp_scroll(screen->scroll, screen->page_lines, screen->room_lines);
    if (scroll != screen->scroll) { /* the page is shorter than last time */
        screen->scroll = scroll;
        draw(screen);
        return;
    }
    if (end < LINES) {
        struct region hints = region_of(screen, end, LINES, 0);
        draw_hints(screen, &hints.canvas);
    }
    refresh();
}

/* ---- Time --------------------------------------------------------------------------------------- */

/* How long to wait for keys; negative: for ever. */
static int64_t time_left_ns(const struct top_screen *screen) {
    if (screen->frozen || has_ended(screen))
        return -1;
    int64_t left_ns = screen->next_ns - read_clock_ns(CLOCK_MONOTONIC);
    return left_ns > 0 ? left_ns : 0;
}

/* The earlier of two times left. */
static int64_t earlier_ns(int64_t a_ns, int64_t b_ns) {
    if (a_ns < 0 || b_ns < 0)
        return a_ns < 0 ? b_ns : a_ns;
    return a_ns < b_ns ? a_ns : b_ns;
}

/* Waits for a key, or other input. Returns false if nothing must be redrawn. */
static bool wait_for_input(struct top_screen *screen, int64_t left_ns) {
    const struct top_input input = screen->kind->input(screen->context);
    int key = terminal_wait_key(earlier_ns(left_ns, input.due_ns), input.fd);
    bool is_new = false;
    if (key < 0)
        screen->error = -ENOTTY;
    else if (key > 0)
        take_key(screen, key);
    if (screen->error == 0)
        screen->error = screen->kind->collect(screen->context, &is_new);
    return key != 0 || is_new;
}

/* Waits for the next snapshot, or what comes before. Returns false if nothing must be redrawn. */
static bool turn(struct top_screen *screen) {
    int64_t left_ns = time_left_ns(screen);
    if (left_ns != 0)
        return wait_for_input(screen, left_ns);
    refresh_now(screen);
    return true;
}

enum status top_screen_run(const struct top_kind *kind, void *context, int64_t delay_ns, bool ascii) {
    struct top_screen screen = {.kind = kind,
                                .context = context,
                                .ascii = screen_of_stdout(0, ascii).ascii,
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
