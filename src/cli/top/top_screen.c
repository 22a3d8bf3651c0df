/* The screen: a page, a line of hints below it, and keys. Only differences are sent to the terminal. */

#include <curses.h>
#include <string.h>

#include "base.h"
#include "screen.h"
#include "terminal.h"
#include "top_page.h"

struct top_screen {
    struct top_watch *watch;
    size_t view;
    int scroll;     /* lines of the view above the first one shown */
    int page_lines; /* of the view, as last drawn, and how many fit */
    int room_lines;
    bool frozen;
    bool help;
    bool ascii;
    bool quit;
    int error; /* the error that ends it */
    int64_t delay_ns;
    int64_t next_ns; /* when to take the next snapshot */
};

/* ---- Keys --------------------------------------------------------------------------------------- */

static void refresh_now(struct top_screen *screen);

static void toggle_frozen(struct top_screen *screen) {
    screen->frozen = !screen->frozen;
    if (!screen->frozen)
        refresh_now(screen);
}

static void toggle_summing(struct top_screen *screen) {
    screen->error = top_watch_sum(screen->watch, !screen->watch->summing);
}

static void begin_here(struct top_screen *screen) {
    screen->error = top_watch_begin_here(screen->watch);
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

static void regroup(struct top_screen *screen) {
    if (top_views[screen->view].callers == TOP_CALLERS_WANTED)
        top_watch_regroup(screen->watch);
}

#define CONTROL_KEY(letter) ((letter)&0x1f)

/* All keys except those of views and orders, which have tables of their own. */
static const struct command_key {
    int key;
    const char *name;
    const char *hint; /* in the last line; NULL: not shown */
    const char *help;
    void (*act)(struct top_screen *screen);
} command_keys[] = {
    {'h', "h", "help", "shows this, and goes back", toggle_help},
    {'q', "q", "quit", "quits", quit},
    {'a', "a", "all", "all calls since the profile began, or since r; or those of the last interval", toggle_summing},
    {'r', "r", "from here", "counts from here on, on this screen only ('osprof reset' does it for everybody)",
     begin_here},
    {'p', "p", "pause", "keeps the screen as it is; p again goes on", toggle_frozen},
    {'b', "b", NULL, "callers by the next kind, where the mount tells several apart", regroup},
    {' ', "blank", NULL, "takes a snapshot now", refresh_now},
    {KEY_UP, "up", NULL, "a line up", scroll_up},
    {KEY_DOWN, "down", NULL, "a line down", scroll_down},
    {KEY_PPAGE, "page up", NULL, "a page up", page_up},
    {KEY_NPAGE, "page down", NULL, "a page down", page_down},
    {CONTROL_KEY('L'), "ctrl-L", NULL, "draws everything again", draw_everything},
};

static void choose_view(struct top_screen *screen, size_t view) {
    screen->view = view;
    screen->scroll = 0;
    screen->help = false;
    top_watch_want_callers(screen->watch, top_views[view].callers);
}

/* If the view has no order, switches to operations. */
static void choose_order(struct top_screen *screen, enum top_order order) {
    top_watch_sort(screen->watch, order);
    choose_view(screen,
                top_views[screen->view].has_orders ? screen->view : (size_t)(top_view_of_operations() - top_views));
}

static void take_key(struct top_screen *screen, int key) {
    for (size_t i = 0; i < top_view_count; i++)
        if (key == top_views[i].key)
            choose_view(screen, i);
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++)
        if (key == top_orders[i].key)
            choose_order(screen, (enum top_order)i);
    for (size_t i = 0; i < ARRAY_SIZE(command_keys); i++)
        if (key == command_keys[i].key)
            command_keys[i].act(screen);
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

static void draw_key(struct canvas *canvas, const char *name, const char *text) {
    canvas_text(canvas, INK_STRONG, name);
    canvas_text(canvas, INK_PLAIN, " ");
    canvas_text(canvas, INK_FAINT, text);
}

static void draw_help_line(struct canvas *canvas, const char *name, const char *text, const char *more) {
    canvas_right(canvas, INK_STRONG, name, 11);
    canvas_text(canvas, INK_PLAIN, "  ");
    canvas_text(canvas, INK_PLAIN, text);
    canvas_line(canvas, INK_PLAIN, more);
}

static void draw_help(struct canvas *canvas) {
    char name[2] = "";
    for (size_t i = 0; i < top_view_count; i++) {
        name[0] = (char)top_views[i].key;
        draw_help_line(canvas, name, "shows ", top_views[i].title);
    }
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++) {
        name[0] = (char)top_orders[i].key;
        draw_help_line(canvas, name, "orders operations and callers by ", top_orders[i].name);
    }
    for (size_t i = 0; i < ARRAY_SIZE(command_keys); i++)
        draw_help_line(canvas, command_keys[i].name, command_keys[i].help, "");
    canvas_end_line(canvas);
    canvas_line(canvas, INK_PLAIN, "A chart has a column for each bucket of latency; its height is the number of");
    canvas_line(canvas, INK_PLAIN,
                canvas->ascii ? "digits of the number of calls: 3 stands for 100 to 999."
                              : "digits of the number of calls: ▃ stands for 100 to 999.");
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
    char name[2] = "";
    draw_position(screen, canvas);
    for (size_t i = 0; i < ARRAY_SIZE(command_keys); i++) {
        if (!command_keys[i].hint)
            continue;
        if (canvas->column > 0)
            canvas_text(canvas, INK_PLAIN, "  ");
        draw_key(canvas, command_keys[i].name, command_keys[i].hint);
    }
    for (size_t i = 0; i < top_view_count; i++) {
        canvas_text(canvas, INK_PLAIN, "  ");
        name[0] = (char)top_views[i].key;
        draw_key(canvas, name, top_views[i].title);
    }
    canvas_text(canvas, INK_PLAIN, "  ");
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++) {
        name[0] = (char)top_orders[i].key;
        canvas_text(canvas, INK_STRONG, name);
    }
    canvas_text(canvas, INK_FAINT, " order");
}

/* Draws the scrollable part. Returns its number of lines. */
static int draw_view(const struct top_screen *screen, int top, int end) {
    struct region region = region_of(screen, top, end, screen->scroll);
    if (screen->help)
        draw_help(&region.canvas);
    else
        top_views[screen->view].draw(screen->watch, &region.canvas);
    return region.line + screen->scroll;
}

static int clamp_scroll(int scroll, int page_lines, int room_lines) {
    int last = page_lines > room_lines ? page_lines - room_lines : 0;
    return scroll < 0 ? 0 : scroll > last ? last : scroll;
}

/* Draws as much of the heading as fits. Returns its number of lines. */
static int draw_heading(const struct top_screen *screen) {
    struct region region = region_of(screen, 0, LINES, 0);
    top_page_draw_heading(screen->watch, &region.canvas);
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
    screen->page_lines = draw_view(screen, top, end);
    int scroll = clamp_scroll(screen->scroll, screen->page_lines, screen->room_lines);
    if (scroll != screen->scroll) { /* the view is shorter than last time */
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

static void refresh_now(struct top_screen *screen) {
    screen->next_ns = read_clock_ns(CLOCK_MONOTONIC) + screen->delay_ns;
    if (!screen->watch->has_ended)
        screen->error = top_watch_refresh(screen->watch);
}

/* How long to wait for keys; negative: for ever. */
static int64_t time_left_ns(const struct top_screen *screen) {
    if (screen->frozen || screen->watch->has_ended)
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

/* Waits for a key, or an answer of the mount. Returns false if nothing must be redrawn. */
static bool wait_for_input(struct top_screen *screen, int64_t left_ns) {
    const struct top_callers *callers = &screen->watch->callers;
    int answer_fd = top_callers_fd(callers); /* even if the screen is paused: it was requested before, or by a key */
    if (answer_fd >= 0)
        left_ns = earlier_ns(left_ns, top_callers_due_ns(callers));
    int key = terminal_wait_key(left_ns, answer_fd);
    if (key < 0)
        screen->error = -ENOTTY;
    else if (key > 0)
        take_key(screen, key);
    return key != 0 || (answer_fd >= 0 && top_watch_collect_callers(screen->watch));
}

/* Waits for the next snapshot, or what comes before. Returns false if nothing must be redrawn. */
static bool turn(struct top_screen *screen) {
    int64_t left_ns = time_left_ns(screen);
    if (left_ns != 0)
        return wait_for_input(screen, left_ns);
    refresh_now(screen);
    return true;
}

enum status top_screen_run(struct top_watch *watch, const struct top_view *view, int64_t delay_ns, bool ascii) {
    struct top_screen screen = {.watch = watch,
                                .view = (size_t)(view - top_views),
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
    complain("cannot go on watching %s: %s", watch->source.path,
             screen.error == -ENOTTY ? "the terminal is gone" : top_source_reason(screen.error));
    return STATUS_TROUBLE;
}
