/* The pages of osprof top -a. */
#ifndef TOP_WAITS_PAGE_H
#define TOP_WAITS_PAGE_H

#include "canvas.h"
#include "command.h"
#include "top_waits.h"

/* The time of the snapshot, over which time the numbers are, and of whom. */
void top_waits_page_draw_heading(const struct top_waits *waits, struct canvas *canvas);

/* For a screen: causes, and below them who waited longest, and the causes of the one that is chosen.
 * room_lines: of the screen */
void top_waits_page_draw(const struct top_waits *waits, int room_lines, struct canvas *canvas);

/* As osprof why -a prints it. by: nobody: the waiters, of each cause; else a row for each, as they were added up */
void top_waits_page_print(const struct top_waits *waits, enum wait_by by, const struct screen *screen);

/* On the screen of a terminal: runs until the user quits. Messages are printed after the terminal was restored.
 * delay_ns: between snapshots
 * ascii: only ASCII characters */
enum status top_waits_screen_run(struct top_waits *waits, int64_t delay_ns, bool ascii);

#endif
