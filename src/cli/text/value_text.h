/* Values of joint profiles as people read them. */
#ifndef VALUE_TEXT_H
#define VALUE_TEXT_H

#include "aggstats.h"
#include "units.h"

#define VALUE_TEXT_SIZE (2 * UNITS_TEXT_SIZE + 8)

/* A value's name in small letters: "past_eof" */
void value_text_of_name(enum aggstats_value value, char ret_text[VALUE_TEXT_SIZE]);

/* One number of a value that is no name: "4 KiB", "1.02 µs", "12" */
void value_text_of_first(enum aggstats_value value, uint64_t number, const struct units *units,
                         char ret_text[UNITS_TEXT_SIZE]);

/* The values of a row: "ENOENT", "4 KiB .. 8 KiB" */
void value_text_of_row(enum aggstats_value value, unsigned row, const struct units *units,
                       char ret_text[VALUE_TEXT_SIZE]);

#endif
