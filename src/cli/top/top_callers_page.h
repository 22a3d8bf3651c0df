/* The view of callers: processes, or users, by share of latency. */
#ifndef TOP_CALLERS_PAGE_H
#define TOP_CALLERS_PAGE_H

#include "canvas.h"
#include "top_watch.h"

void top_callers_page_draw(const struct top_watch *watch, struct canvas *canvas);

/* Only what there is to say about the last answer of the mount, if anything. */
void top_callers_page_draw_notices(const struct top_watch *watch, struct canvas *canvas);

#endif
