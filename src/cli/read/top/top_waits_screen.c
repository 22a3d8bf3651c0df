/* What threads wait for, on the screen. */
#include <curses.h>
#include <string.h>

#include "base.h"
#include "top_screen.h"
#include "top_waits.h"

static int toggle_summing(void *context) {
    struct top_waits *waits = context;
    return top_waits_sum(waits, !waits->summing);
}

static int begin_here(void *context) {
    return top_waits_begin_here(context);
}

static int choose_one_up(void *context) {
    struct top_waits *waits = context;
    const size_t chosen = top_waits_chosen(waits);
    top_waits_choose(waits, chosen > 0 && chosen < waits->waiter_count ? chosen - 1 : 0);
    return 0;
}

static int choose_one_down(void *context) {
    struct top_waits *waits = context;
    const size_t chosen = top_waits_chosen(waits);
    if (chosen + 1 < waits->waiter_count)
        top_waits_choose(waits, chosen + 1);
    return 0;
}

static const struct top_key keys[] = {
    {'a', "a", "all", "all waits since the beginning, or since r; or those of the last interval", toggle_summing},
    {'r', "r", "from here", "counts from here on", begin_here},
    {KEY_UP, "up", NULL, "chooses the one above, whose causes are shown at the bottom", choose_one_up},
    {KEY_DOWN, "down", "next one", "chooses the one below", choose_one_down},
};

static int refresh_waits(void *context) {
    return top_waits_refresh(context);
}

static struct top_input input_of(const void *context) {
    return (struct top_input){.fd = -1, .due_ns = top_waits_due_ns(context)};
}

/* Without a snapshot nothing new is shown. */
static int collect(void *context, bool *ret_is_new) {
    *ret_is_new = false;
    return top_waits_read(context);
}

static void put_heading(struct sheet *sheet, const void *context) {
    top_waits_page_put_heading(sheet, context);
}

static void put_page(struct sheet *sheet, const void *context, int room_lines) {
    top_waits_page_put(sheet, context, room_lines);
}

static void complain_of_waits(const void *context, const char *why) {
    (void)context;
    complain("cannot go on watching what threads wait for: %s", why);
}

static const char *reason(int error) {
    return strerror(-error);
}

enum status top_waits_screen_run(struct top_waits *waits, int64_t delay_ns) {
    static const struct top_kind kind = {
        .keys = keys,
        .key_count = ARRAY_SIZE(keys),
        .take_snapshot = refresh_waits,
        .input = input_of,
        .collect = collect,
        .put_heading = put_heading,
        .put = put_page,
        .complain = complain_of_waits,
        .reason = reason,
    };
    return top_screen_run(&kind, waits, delay_ns);
}
