/* Which function most slow calls of an operation came from, in words. */
#ifndef CALLERS_TEXT_H
#define CALLERS_TEXT_H

#include <stdbool.h>

#include "aggstats.h"
#include "str.h"

/* Adds "4,120 of 4,203 FSYNCs from commit_row of db"; of all slow calls of which that was to be found out.
 * Returns false, and adds nothing, if no function made half of them */
bool callers_text_add(struct str *text, const struct aggstats_profile *profile, const char *op);

/* The operation with most slow calls for which there is such a text; NULL: there is none. Owner: the profile */
const char *callers_text_first(const struct aggstats_profile *profile);

#endif
