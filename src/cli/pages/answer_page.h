/* The answer page: a profile in 24 lines, before any table or chart. */
#ifndef ANSWER_PAGE_H
#define ANSWER_PAGE_H

#include "answer_next.h"
#include "calibration.h"
#include "screen.h"
#include "units.h"

struct answer_page {
    const struct aggstats_profile *profile;
    const struct calibration *calibration; /* may have no times */
    const struct answer_source *source;
    bool no_labels; /* the user wants no calibrated times */
    bool explain;   /* then the reasons for the names of peaks follow, beyond the 24 lines */
};

/* Prints it: at most 24 lines if the screen has 80 columns or more, and none wider than the screen. */
void answer_page_print(const struct answer_page *page, const struct units *units, const struct screen *screen);

#endif
