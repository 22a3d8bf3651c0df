/* The views of osprof top that need more than a table: a function draws each on what is left of the page. */
#ifndef TOP_VIEWS_H
#define TOP_VIEWS_H

#include "canvas.h"
#include "top_watch.h"

/* The first view: the page that osprof show begins with, by the function that prints that. Files, directories and
 * programs are in it as the mount has told them last. */
void top_summary_draw(const struct top_watch *watch, struct canvas *canvas);

/* Callers: processes, or users, by share of latency. */
void top_callers_page_draw(const struct top_watch *watch, struct canvas *canvas);

/* Only what there is to say about the last answer of the mount, if anything. */
void top_callers_page_draw_notices(const struct top_watch *watch, struct canvas *canvas);

/* Calls in flight: whose they are, what they work on, and what slow ones wait for. */
void top_calls_page_draw(const struct top_watch *watch, struct canvas *canvas);

/* Causes: what slow calls have waited for that have ended since the last snapshot, and what those in flight wait for
 * now. */
void top_causes_page_draw(const struct top_watch *watch, struct canvas *canvas);

#endif
