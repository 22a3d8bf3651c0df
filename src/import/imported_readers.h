/* Private: the readers of texts, one for each kind. */
#ifndef IMPORTED_READERS_H
#define IMPORTED_READERS_H

#include "imported.h"

/* Adds the histograms of a text to *imported: the output of bpftrace -f json.
 * Errors:  as imported_parse() */
int imported_json_parse(const char *text, size_t size_bytes, struct imported *imported,
                        struct aggstats_parse_error *ret_error);

/* The same for what bpftrace and the tools of bcc print for people. */
int imported_text_parse(const char *text, size_t size_bytes, struct imported *imported,
                        struct aggstats_parse_error *ret_error);

#endif
