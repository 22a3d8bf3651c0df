/* What bpftrace and the tools of bcc print for people. */
#ifndef IMPORTED_TEXT_H
#define IMPORTED_TEXT_H

#include "imported.h"

/* Adds the histograms of a text to *imported.
 * Errors:  as imported_parse() */
int imported_text_parse(const char *text, size_t size_bytes, struct imported *imported,
                        struct aggstats_parse_error *ret_error);

#endif
