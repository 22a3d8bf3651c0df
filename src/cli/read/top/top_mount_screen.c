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
    {'r', "r", "from here", "counts from here on, on this screen only ('osprof ctl MOUNT reset' does it for everybody)",
     begin_here},
    {'b', "b", NULL, "callers by the next kind, where the mount tells several apart", regroup},
};

static void choose_view(struct mount_screen *screen, size_t view) {
    screen->view = view;
    top_watch_want_callers(screen->watch, top_views[view].callers);
}

/* An order switches to operations if the view has none. */
static bool choose(void *context, int key) {
    struct mount_screen *screen = context;
    for (size_t i = 0; i < TOP_VIEWS; i++)
        if (key == top_views[i].key)
            return choose_view(screen, i), true;
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++) {
        if (key != top_orders[i].key)
            continue;
        top_watch_sort(screen->watch, (enum top_order)i);
        choose_view(screen, top_views[screen->view].has_orders ? screen->view : TOP_OPERATIONS);
        return true;
    }
    return false;
}

/* ---- What is shown ------------------------------------------------------------------------------- */

static void put_help_of_choices(struct sheet *sheet) {
    char name[2] = "";
    for (size_t i = 0; i < TOP_VIEWS; i++) {
        name[0] = (char)top_views[i].key;
        top_screen_put_help_line(sheet, name, "shows ", top_views[i].title);
    }
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++) {
        name[0] = (char)top_orders[i].key;
        top_screen_put_help_line(sheet, name, "orders operations and callers by ", top_orders[i].name);
    }
}

static void put_more_help(struct sheet *sheet) {
    sheet_gap(sheet);
    sheet_line(sheet, 0, "A chart has a column for each bucket of latency; its height is the number of");
    sheet_line(sheet, 0, "digits of the number of calls: %s stands for 100 to 999.", sheet->units.ascii ? "3" : "▃");
}

static void put_hints_of_choices(struct sheet *sheet) {
    char name[2] = "";
    for (size_t i = 0; i < TOP_VIEWS; i++) {
        name[0] = (char)top_views[i].key;
        top_screen_put_hint(sheet, name, top_views[i].title);
    }
    for (size_t i = 0; i < TOP_ORDER_COUNT; i++)
        sheet_span(sheet, INK_STRONG, "%c", top_orders[i].key);
    sheet_span(sheet, INK_FAINT, " order");
}

static void put_heading(struct sheet *sheet, const void *context) {
    top_page_put_heading(sheet, watch_of(context));
}

static void put_view(struct sheet *sheet, const void *context, int room_lines) {
    const struct mount_screen *screen = context;
    (void)room_lines;
    sheet->units.frequency_hz = screen->watch->latest.profile.clock.frequency_hz;
    top_views[screen->view].put(sheet, screen->watch);
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

enum status top_mount_screen_run(struct top_watch *watch, size_t view, int64_t delay_ns) {
    static const struct top_kind kind = {
        .keys = keys,
        .key_count = ARRAY_SIZE(keys),
        .choose = choose,
        .take_snapshot = refresh_watch,
        .has_ended = has_ended,
        .input = input_of,
        .collect = collect,
        .put_heading = put_heading,
        .put = put_view,
        .put_help_of_choices = put_help_of_choices,
        .put_hints_of_choices = put_hints_of_choices,
        .put_more_help = put_more_help,
        .complain = complain_of_watch,
        .reason = top_source_reason,
    };
    struct mount_screen screen = {.watch = watch, .view = view};
    return top_screen_run(&kind, &screen, delay_ns);
}
