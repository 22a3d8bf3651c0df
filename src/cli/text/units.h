/* Numbers as people read them: three significant digits, thousands separated, units by magnitude. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "wide_count.h"

#define UNITS_TEXT_SIZE 32

/* How to turn cycles into text. */
struct units {
    uint64_t frequency_hz; /* 0: unknown, latencies stay cycles ("1.64k") */
    bool ascii;            /* "us" for "µs", "<=" for "≤" */
};

/* 13640 -> "13,640". count: below 10^24; the largest sums are over 4,096 operations of 64 bits each */
void units_format_count(wide_count count, char ret_text[UNITS_TEXT_SIZE]);

/* The plural ending of a noun after this count: "s", or nothing. */
const char *units_plural(wide_count count);

/* 0.0123 -> "0.01", 12.34 -> "12.3", 13640 -> "13,640" */
void units_format_number(double number, char ret_text[UNITS_TEXT_SIZE]);

/* 100 -> "100 B", 1536 -> "1.50 KiB" */
void units_format_bytes(double bytes, char ret_text[UNITS_TEXT_SIZE]);

/* 0.743 -> "74.3 %" */
void units_format_share(double share, char ret_text[UNITS_TEXT_SIZE]);

/* 0.00000164 -> "1.64 µs" */
void units_format_seconds(const struct units *units, double seconds, char ret_text[UNITS_TEXT_SIZE]);

/* A latency, as time if the clock's rate is known. */
void units_format_cycles(const struct units *units, double cycles, char ret_text[UNITS_TEXT_SIZE]);

/* A power of ten for axes, as short as possible: (4, count) -> "10k"; seconds: (-5) -> "10 µs" */
void units_format_power_count(int exponent, char ret_text[UNITS_TEXT_SIZE]);
void units_format_power_seconds(const struct units *units, int exponent, char ret_text[UNITS_TEXT_SIZE]);

/* The same as values, to be printed at once: fputs(units_count(3).text, stream). */
struct units_text {
    char text[UNITS_TEXT_SIZE];
};

struct units_text units_count(wide_count count);
struct units_text units_number(double number);
struct units_text units_bytes(double bytes);
struct units_text units_share(double share);
struct units_text units_seconds(const struct units *units, double seconds);
struct units_text units_cycles(const struct units *units, double cycles);

/* Columns of UTF-8 text on a screen: its characters. */
int units_text_columns(const char *text);

#endif
