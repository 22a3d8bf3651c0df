/* Writing JSON as a stream. Integers have all their digits; keys and texts become valid UTF-8. The key of an element of
 * an array is NULL. */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "aggstats.h"
#include "wide_count.h"

struct json_writer {
    FILE *stream;
    unsigned depth;
    bool has_sibling; /* there is a value before, at this depth */
    bool is_one_line; /* the whole document in one line */
};

/* bracket: '{' or '['; it is ended by the matching '}' or ']'. */
void json_begin(struct json_writer *writer, const char *key, char bracket);
void json_end(struct json_writer *writer, char bracket);

void json_text(struct json_writer *writer, const char *key, const char *text);
void json_count(struct json_writer *writer, const char *key, wide_count count);
void json_real(struct json_writer *writer, const char *key, double value);
void json_bool(struct json_writer *writer, const char *key, bool value);

/* A latency as "<name>_cycles", and as "<name>_seconds" if the clock's rate is known. name: at most 48 bytes;
 * frequency_hz: 0: unknown */
void json_latency(struct json_writer *writer, uint64_t frequency_hz, const char *name, double cycles);

/* The same, exact also beyond 2^53 cycles. */
void json_cycles(struct json_writer *writer, uint64_t frequency_hz, const char *name, uint64_t cycles);

/* The labels of a profile as the object "labels". A key that occurs twice has its first value, as in
 * aggstats_profile_label(). */
void json_labels(struct json_writer *writer, const struct aggstats_profile *profile);

#endif
