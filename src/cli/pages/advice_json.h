/* A profile as JSON, with the advice that the page has. */
#ifndef ADVICE_JSON_H
#define ADVICE_JSON_H

#include <stdio.h>

#include "aggstats.h"

/* Errors: as view_json.write() */
int advice_json_write(const struct aggstats_profile *profile, FILE *stream);

#endif
