/* The pages of osprof top: a heading, and one of several views below it, for streams and terminals. */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include "canvas.h"
#include "command.h"
#include "top_watch.h"

/* A view. It has a key on the screen; the first view is the default. */
struct top_view {
    int key;
    const char *title;
    void (*draw)(const struct top_watch *watch, struct canvas *canvas);
    enum top_callers_wanted callers; /* whether it needs watch->callers */
    bool has_orders;                 /* its rows may be ordered */
};

extern const struct top_view top_views[];
extern const size_t top_view_count;

/* The view of callers, and that of operations. */
const struct top_view *top_view_of_callers(void);
const struct top_view *top_view_of_operations(void);

/* The time of the snapshot, the interval, the mount, and sums; then a line for each notice. */
void top_page_draw_heading(const struct top_watch *watch, struct canvas *canvas);

/* Only the notices: what happened to the recording, if anything. */
void top_page_draw_notices(const struct top_watch *watch, struct canvas *canvas);

/* ---- On the screen of a terminal ---------------------------------------------------------------- */

/* Runs until the user quits. Messages are printed after the terminal was restored.
 * view: the first one, of top_views
 * delay_ns: between snapshots
 * ascii: only ASCII characters */
enum status top_mount_screen_run(struct top_watch *watch, const struct top_view *view, int64_t delay_ns, bool ascii);

#endif
