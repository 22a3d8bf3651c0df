/* The pages of osprof top: a heading, and one of several views below it, for streams and terminals. */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include "command.h"
#include "sheet.h"
#include "top_watch.h"

/* A view. It has a key on the screen; the first view is the default. */
struct top_view {
    int key;
    const char *title;
    void (*put)(struct sheet *sheet, const struct top_watch *watch);
    enum top_callers_wanted callers; /* whether it needs watch->callers */
    bool has_orders;                 /* its rows may be ordered */
};

/* The first page of osprof show, by the same function; operations, and calls in flight; these alone; callers; and causes:
 * what slow calls waited for that have ended since the last snapshot, and what those in flight wait for now. */
enum { TOP_SUMMARY, TOP_OPERATIONS, TOP_CALLS_IN_FLIGHT, TOP_CALLERS, TOP_CAUSES, TOP_VIEWS };
extern const struct top_view top_views[TOP_VIEWS];

/* Puts the time of the snapshot, the interval, the mount, and sums; then a line for each notice. */
void top_page_put_heading(struct sheet *sheet, const struct top_watch *watch);

/* Only the notices: what happened to the recording, if anything; and what to the mount's last answer. */
void top_page_put_notices(struct sheet *sheet, const struct top_watch *watch);
void top_page_put_notices_of_callers(struct sheet *sheet, const struct top_watch *watch);

#define TOP_COMMANDS_SIZE 512

/* The commands by which the mount records such callers from now on. */
void top_page_format_commands(const struct top_watch *watch, char ret_text[TOP_COMMANDS_SIZE]);

/* Local time, with the day if that is wanted; "": that moment has none. */
#define TOP_TIME_SIZE 64
void top_page_format_time(int64_t unix_ns, bool has_day, char ret_text[TOP_TIME_SIZE]);

/* ---- On the screen of a terminal ---------------------------------------------------------------- */

/* As top_screen_run(). view: the first one */
enum status top_mount_screen_run(struct top_watch *watch, size_t view, int64_t delay_ns);

#endif
