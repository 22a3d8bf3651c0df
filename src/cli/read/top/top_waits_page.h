/* The pages of osprof top -a. */
#ifndef TOP_WAITS_PAGE_H
#define TOP_WAITS_PAGE_H

#include "command.h"
#include "sheet.h"
#include "top_waits.h"

/* Puts the time of the snapshot, over which time the numbers are, and of whom. */
void top_waits_page_put_heading(struct sheet *sheet, const struct top_waits *waits);

/* For a screen: causes, and below them who waited longest, and the causes of the one that is chosen.
 * room_lines: of the screen */
void top_waits_page_put(struct sheet *sheet, const struct top_waits *waits, int room_lines);

/* As osprof why -a prints it. by: nobody: the waiters, of each cause; else a row for each, as they were added up */
void top_waits_page_put_report(struct sheet *sheet, const struct top_waits *waits, enum wait_by by);

/* On the screen of a terminal: runs until the user quits. Messages are printed after the terminal was restored.
 * delay_ns: between snapshots
 * ascii: only ASCII characters */
enum status top_waits_screen_run(struct top_waits *waits, int64_t delay_ns, bool ascii);

#endif
