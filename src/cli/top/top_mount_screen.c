/* The screen of a mount: its views, and the orders of their rows. */
#include "base.h"
#include "top_page.h"
#include "top_screen.h"

struct mount_screen {
    struct top_watch *watch;
    size_t view;
};

static struct top_watch *watch_of(const void *context) {
    return ((const struct mount_screen *)context)->watch;
}

/* ---- Keys --------------------------------------------------------------------------------------- */

static int toggle_summing(void *context) {
    struct top_watch *watch = watch_of(context);
    return top_watch_sum(watch, !watch->summing);
}

static int begin_here(void *context) {
    return top_watch_begin_here(watch_of(context));
}

static int regroup(void *context) {
    const struct mount_screen *screen = context;
    if (top_views[screen->view].callers == TOP_CALLERS_WANTED)
        top_watch_regroup(screen->watch);
    return 0;
}

static const struct top_key keys[] = {
    {'a', "a", "all", "all calls since the profile began, or since r; or those of the last interval", toggle_summing},
    {'r', "r", "from here", "counts from here on, on this screen only ('osprof reset' does it for everybody)",
     begin_here},
    {'b', "b", NULL, "callers by the next kind, where the mount tells several apart", regroup},
};

static void choose_view(struct mount_screen *screen, size_t view) {
    screen->view = view;
    top_watch_want_callers(screen->watch, top_views[view].callers);
}

/* If the view has no order, switches to operations. */
static void choose_order(struct mount_screen *screen, enum top_order order) {
    top_watch_sort(screen->watch, order);
    choose_view(screen,
                top_views[screen->view].has_orders ? screen->view : (size_t)(top_view_of_operations() - top_views));
}

static bool choose(void *context, int key) {
    for (size_t i = 0; i < top_view_count; i++)
        if (key == top_views[i].key)
            return choose_view(context, i), true;
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++)
        if (key == top_orders[i].key)
            return choose_order(context, (enum top_order)i), true;
    return false;
}

/* ---- Drawing ------------------------------------------------------------------------------------ */

static void draw_help_of_choices(struct canvas *canvas) {
    char name[2] = "";
    for (size_t i = 0; i < top_view_count; i++) {
        name[0] = (char)top_views[i].key;
        top_screen_draw_help_line(canvas, name, "shows ", top_views[i].title);
    }
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++) {
        name[0] = (char)top_orders[i].key;
        top_screen_draw_help_line(canvas, name, "orders operations and callers by ", top_orders[i].name);
    }
}

static void draw_more_help(struct canvas *canvas) {
    canvas_end_line(canvas);
    canvas_line(canvas, INK_PLAIN, "A chart has a column for each bucket of latency; its height is the number of");
    canvas_line(canvas, INK_PLAIN,
                canvas->ascii ? "digits of the number of calls: 3 stands for 100 to 999."
                              : "digits of the number of calls: ▃ stands for 100 to 999.");
}

static void draw_hints_of_choices(struct canvas *canvas) {
    char name[2] = "";
    for (size_t i = 0; i < top_view_count; i++) {
        name[0] = (char)top_views[i].key;
        top_screen_draw_hint(canvas, name, top_views[i].title);
    }
    canvas_text(canvas, INK_PLAIN, "  ");
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++) {
        name[0] = (char)top_orders[i].key;
        canvas_text(canvas, INK_STRONG, name);
    }
    canvas_text(canvas, INK_FAINT, " order");
}

static void draw_heading(const void *context, struct canvas *canvas) {
    top_page_draw_heading(watch_of(context), canvas);
}

static void draw_view(const void *context, int room_lines, struct canvas *canvas) {
    const struct mount_screen *screen = context;
    (void)room_lines;
    top_views[screen->view].draw(screen->watch, canvas);
}

/* ---- Time --------------------------------------------------------------------------------------- */

static int refresh_watch(void *context) {
    return top_watch_refresh(watch_of(context));
}

static bool has_ended(const void *context) {
    return watch_of(context)->has_ended;
}

/* Answers of the mount, even if the screen is paused: they were requested before, or by a key. */
static struct top_input input_of(const void *context) {
    const struct top_callers *callers = &watch_of(context)->callers;
    const int fd = top_callers_fd(callers);
    return (struct top_input){fd, fd >= 0 ? top_callers_due_ns(callers) : -1};
}

static int collect(void *context, bool *ret_is_new) {
    struct top_watch *watch = watch_of(context);
    *ret_is_new = top_callers_fd(&watch->callers) >= 0 && top_watch_collect_callers(watch);
    return 0;
}

static void complain_of_watch(const void *context, const char *why) {
    complain("cannot go on watching %s: %s", watch_of(context)->source.path, why);
}

enum status top_mount_screen_run(struct top_watch *watch, const struct top_view *view, int64_t delay_ns, bool ascii) {
    static const struct top_kind kind = {
        .keys = keys,
        .key_count = ARRAY_SIZE(keys),
        .choose = choose,
        .take_snapshot = refresh_watch,
        .has_ended = has_ended,
        .input = input_of,
        .collect = collect,
        .draw_heading = draw_heading,
        .draw = draw_view,
        .draw_help_of_choices = draw_help_of_choices,
        .draw_hints_of_choices = draw_hints_of_choices,
        .draw_more_help = draw_more_help,
        .complain = complain_of_watch,
        .reason = top_source_reason,
    };
    struct mount_screen screen = {.watch = watch, .view = (size_t)(view - top_views)};
    return top_screen_run(&kind, &screen, delay_ns, ascii);
}
