/* Reading histograms that other tools print. Texts are untrusted: for any error the line is reported. */
#ifndef IMPORTED_PARSE_H
#define IMPORTED_PARSE_H

#include "imported.h"

#define IMPORTED_SIZE_MAX_BYTES (16U << 20)

/* Reads a text of any kind.
 * Owner:   the caller finishes *ret_imported
 * Errors:  -EBADMSG with *ret_error filled, -ENOMEM; *ret_imported untouched */
int imported_parse(const char *text, size_t size_bytes, struct imported *ret_imported,
                   struct aggstats_parse_error *ret_error);

#endif
