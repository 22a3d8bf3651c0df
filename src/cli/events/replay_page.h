/* The report of a replay. */
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

/* Prints what was done, what was not and why, and how closely it kept to the recorded times. */
void replay_page_print(const struct replay_page *page);

/* The number of operations that were not done, or had another outcome. */
uint64_t replay_page_unlike(const struct replay_report *report);

#endif
