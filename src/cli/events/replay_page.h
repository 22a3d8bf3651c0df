/* What is printed of a replay. */
#ifndef REPLAY_PAGE_H
#define REPLAY_PAGE_H

#include "replay.h"
#include "screen.h"

struct replay_page {
    const struct screen *screen;
    const struct replay_report *report;
    const struct replay_options *options;
    const char *file;
    const char *directory;
};

/* Prints what was done, what was not and why, and how near it kept to the recorded times. */
void replay_page_print(const struct replay_page *page);

/* Operations that were not done, or came out otherwise. */
uint64_t replay_page_unlike(const struct replay_report *report);

#endif
