/* The first view: the page that answers, of what osprof top has seen. */
#ifndef TOP_SUMMARY_H
#define TOP_SUMMARY_H

#include "canvas.h"
#include "top_watch.h"

/* The page that osprof show begins with, by the function that prints that. Files, directories and programs are in it
 * as the mount has told them last. */
void top_summary_draw(const struct top_watch *watch, struct canvas *canvas);

#endif
