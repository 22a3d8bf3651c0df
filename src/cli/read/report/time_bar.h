/* The picture at the head of a report: where the time went, as one bar of SVG, with a table of its parts. */
#ifndef TIME_BAR_H
#define TIME_BAR_H

#include <stdio.h>

#include "aggstats.h"
#include "time_parts.h"

/* The parts of a profile; none: it has neither calls nor a wall time. */
struct time_parts time_bar_parts(const struct aggstats_profile *profile);

/* The title of its section. */
const char *time_bar_title(const struct time_parts *parts);

/* layer: what people call the profile's, if the rest of the page is about another one; else NULL */
void time_bar_put(const struct aggstats_profile *profile, const struct time_parts *parts, const char *layer,
                  FILE *page);

#endif
