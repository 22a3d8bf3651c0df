/* The views of osprof top that need more than a table: a function draws each on the rest of the page. */
#ifndef TOP_VIEWS_H
#define TOP_VIEWS_H

#include "canvas.h"
#include "top_watch.h"

/* The first view: the first page of osprof show, by the same function. Files, directories and programs are as of the
 * mount's last answer. */
void top_summary_draw(const struct top_watch *watch, struct canvas *canvas);

/* Callers: processes, or users, by share of latency. */
void top_callers_page_draw(const struct top_watch *watch, struct canvas *canvas);

#define TOP_COMMANDS_SIZE 512

/* The commands by which the mount records such callers from now on. */
void top_callers_format_commands(const struct top_watch *watch, char ret_text[TOP_COMMANDS_SIZE]);

/* Only the notices about the mount's last answer, if any. */
void top_callers_page_draw_notices(const struct top_watch *watch, struct canvas *canvas);

/* Calls in flight: their callers, their objects, and what slow ones wait for. */
void top_calls_page_draw(const struct top_watch *watch, struct canvas *canvas);

/* Causes: what slow calls waited for that have ended since the last snapshot, and what those in flight wait for now. */
void top_causes_page_draw(const struct top_watch *watch, struct canvas *canvas);

#endif
