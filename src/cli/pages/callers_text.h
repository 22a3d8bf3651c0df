/* Which function most slow calls of an operation came from, in words. */
#ifndef CALLERS_TEXT_H
#define CALLERS_TEXT_H

#include <stdbool.h>

#include "aggstats.h"
#include "screen.h"

#define CALLERS_TEXT_SIZE 320

/* "4,120 of 4,203 FSYNCs from commit_row of db"; of all slow calls of which that was to be found out.
 * Returns false if no function made half of them */
bool callers_text_format(const struct aggstats_profile *profile, const char *op, const struct screen *screen,
                         char ret_text[CALLERS_TEXT_SIZE]);

/* The operation with most slow calls for which there is such a text; NULL: there is none. Owner: the profile */
const char *callers_text_first(const struct aggstats_profile *profile);

#endif
