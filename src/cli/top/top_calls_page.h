/* The view of calls in flight in osprof top: whose they are, what they work on, and what slow ones wait for. */
#ifndef TOP_CALLS_PAGE_H
#define TOP_CALLS_PAGE_H

#include "canvas.h"
#include "top_watch.h"

void top_calls_page_draw(const struct top_watch *watch, struct canvas *canvas);

/* Those alone of which it is known what they wait for. */
void top_calls_page_draw_slow(const struct top_watch *watch, struct canvas *canvas);

#endif
