/* The view of causes in osprof top: what slow calls have waited for that have ended since the last snapshot, and what
 * those in flight wait for now. */
#ifndef TOP_CAUSES_PAGE_H
#define TOP_CAUSES_PAGE_H

#include "canvas.h"
#include "top_watch.h"

void top_causes_page_draw(const struct top_watch *watch, struct canvas *canvas);

#endif
