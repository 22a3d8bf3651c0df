/* Writing JSON as a stream. Whole numbers have all their digits; keys and texts are UTF-8 whatever they were.
 * The key of what stands in an array is NULL. */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wide_count.h"

struct json_writer {
    FILE *stream;
    unsigned depth;
    bool has_sibling; /* something stands before, at this depth */
    bool is_one_line; /* all of it in one */
};

/* bracket: '{' or '['; it is ended by the matching '}' or ']'. */
void json_begin(struct json_writer *writer, const char *key, char bracket);
void json_end(struct json_writer *writer, char bracket);

void json_text(struct json_writer *writer, const char *key, const char *text);
void json_count(struct json_writer *writer, const char *key, wide_count count);
void json_real(struct json_writer *writer, const char *key, double value);
void json_bool(struct json_writer *writer, const char *key, bool value);

/* A latency as "<name>_cycles", and as "<name>_seconds" where that can be told. name: at most 48 bytes; frequency_hz: 0:
 * not known */
void json_latency(struct json_writer *writer, uint64_t frequency_hz, const char *name, double cycles);

#endif
