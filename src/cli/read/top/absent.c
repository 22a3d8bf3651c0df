/* Where osprof is built without ncurses: there is no screen. */
#include "command.h"
#include "top_page.h"
#include "top_waits.h"

static enum status refuse(void) {
    complain("cannot draw on this terminal: %s; with --batch text is printed instead", part_missing(PART_TOP));
    return STATUS_TROUBLE;
}

enum status top_mount_screen_run(struct top_watch *watch, size_t view, int64_t delay_ns) {
    (void)watch, (void)view, (void)delay_ns;
    return refuse();
}

enum status top_waits_screen_run(struct top_waits *waits, int64_t delay_ns) {
    (void)waits, (void)delay_ns;
    return refuse();
}
