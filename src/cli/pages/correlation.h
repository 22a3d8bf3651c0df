/* Operations of one profile that were called equally often, for people and as JSON. */
#ifndef CORRELATION_H
#define CORRELATION_H

#include "correlate.h"
#include "screen.h"

void correlation_print(const struct correlations *correlations, const struct aggstats_profile *profile,
                       const struct screen *screen);

/* The same as JSON, after docs/correlation.schema.json, on standard output. name: the profile's */
void correlation_print_json(const struct correlations *correlations, const struct aggstats_profile *profile,
                            const char *name);

#endif
