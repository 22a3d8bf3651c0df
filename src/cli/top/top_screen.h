/* osprof top on the screen of a terminal. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "command.h"
#include "top_page.h"
#include "top_watch.h"

/* Runs until the user quits. Messages are printed after the terminal was restored.
 * view: the first one, of top_views
 * delay_ns: between snapshots
 * ascii: only ASCII characters */
enum status top_screen_run(struct top_watch *watch, const struct top_view *view, int64_t delay_ns, bool ascii);

#endif
