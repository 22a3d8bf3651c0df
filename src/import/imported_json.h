/* The output of bpftrace -f json. */
#ifndef IMPORTED_JSON_H
#define IMPORTED_JSON_H

#include "imported.h"

/* Adds the histograms of a text to *imported.
 * Errors:  as imported_parse() */
int imported_json_parse(const char *text, size_t size_bytes, struct imported *imported,
                        struct aggstats_parse_error *ret_error);

#endif
