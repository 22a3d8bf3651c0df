/* Numbers as people read them. */
#include "units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base.h"

void units_format_count(wide_count count, char ret_text[UNITS_TEXT_SIZE]) {
    char digits[WIDE_COUNT_TEXT_SIZE];
    const size_t length = strlen(wide_count_format(count, digits));
    char *to = ret_text;
    assert(length + (length - 1) / 3 < UNITS_TEXT_SIZE);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
}

const char *units_plural(wide_count count) {
    return count == 1 ? "" : "s";
}

void units_format_share(double share, char ret_text[UNITS_TEXT_SIZE]) {
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.1f %%", 100 * share);
}

/* Three significant digits of 0 <= value < 999.5; whole numbers above. */
static void format_digits(double value, char *ret_text, size_t size) {
    if (value == 0)
        snprintf(ret_text, size, "0");
    else if (value < 9.995)
        snprintf(ret_text, size, "%.2f", value);
    else if (value < 99.95)
        snprintf(ret_text, size, "%.1f", value);
    else
        snprintf(ret_text, size, "%.0f", value);
}

void units_format_number(double number, char ret_text[UNITS_TEXT_SIZE]) {
    if (number >= 999.5 && number < 1e18)
        units_format_count((uint64_t)llround(number), ret_text);
    else
        format_digits(number, ret_text, UNITS_TEXT_SIZE);
}

void units_format_bytes(double bytes, char ret_text[UNITS_TEXT_SIZE]) {
    static const char *const suffixes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char digits[UNITS_TEXT_SIZE];
    size_t power = 0;
    while (bytes >= (power == 0 ? 1023.5 : 999.5) && power + 1 < ARRAY_SIZE(suffixes)) {
        bytes /= 1024;
        power++;
    }
    if (power == 0 && (bytes >= 9.995 || bytes == (double)(int)bytes))
        snprintf(digits, sizeof(digits), "%.0f", bytes);
    else
        format_digits(bytes, digits, sizeof(digits));
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.24s %s", digits, suffixes[power]);
}

static const char *time_unit(const struct units *units, int thousands) {
    static const char *const names[] = {"ns", "µs", "ms", "s"};
    return thousands == 1 && units->ascii ? "us" : names[thousands];
}

void units_format_seconds(const struct units *units, double seconds, char ret_text[UNITS_TEXT_SIZE]) {
    double value = seconds * 1e9;
    int thousands = 0;
    while (value >= 999.5 && thousands < 3) {
        value /= 1000;
        thousands++;
    }
    char digits[UNITS_TEXT_SIZE];
    if (value >= 999.5 && value < 1e18)
        units_format_count((uint64_t)llround(value), digits);
    else if (thousands == 0 && value > 0 && value < 1)
        snprintf(digits, sizeof(digits), "%.1f", value);
    else
        format_digits(value, digits, sizeof(digits));
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.24s %s", digits, time_unit(units, thousands));
}

void units_format_cycles(const struct units *units, double cycles, char ret_text[UNITS_TEXT_SIZE]) {
    static const char *const suffixes[] = {"", "k", "M", "G", "T", "P", "E"};
    char digits[UNITS_TEXT_SIZE];
    size_t thousands = 0;
    if (units->frequency_hz > 0) {
        units_format_seconds(units, cycles / (double)units->frequency_hz, ret_text);
        return;
    }
    for (; cycles >= 999.5 && thousands + 1 < ARRAY_SIZE(suffixes); thousands++)
        cycles /= 1000;
    if (thousands == 0)
        snprintf(digits, sizeof(digits), "%.0f", cycles);
    else
        format_digits(cycles, digits, sizeof(digits));
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.24s%s", digits, suffixes[thousands]);
}

static const char *power_digits(int exponent) {
    static const char *const digits[] = {"1", "10", "100"};
    return digits[exponent % 3];
}

void units_format_power_count(int exponent, char ret_text[UNITS_TEXT_SIZE]) {
    static const char *const suffixes[] = {"", "k", "M", "G", "T", "P", "E"};
    snprintf(ret_text, UNITS_TEXT_SIZE, "%s%s", power_digits(exponent), suffixes[exponent / 3]);
}

void units_format_power_seconds(const struct units *units, int exponent, char ret_text[UNITS_TEXT_SIZE]) {
    int of_ns = exponent + 9;
    if (of_ns >= 0 && of_ns < 12)
        snprintf(ret_text, UNITS_TEXT_SIZE, "%s %s", power_digits(of_ns), time_unit(units, of_ns / 3));
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "1e%d s", exponent);
}

int units_text_columns(const char *text) {
    int columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80; /* not a continuation byte */
    return columns;
}

/* ---- As values ---------------------------------------------------------------------------------- */

#define AS_VALUE(name, parameters, ...)                                                                                \
    struct units_text units_##name parameters {                                                                        \
        struct units_text value;                                                                                       \
        units_format_##name(__VA_ARGS__, value.text);                                                                  \
        return value;                                                                                                  \
    }

AS_VALUE(count, (wide_count count), count)
AS_VALUE(number, (double number), number)
AS_VALUE(bytes, (double bytes), bytes)
AS_VALUE(share, (double share), share)
AS_VALUE(seconds, (const struct units *units, double seconds), units, seconds)
AS_VALUE(cycles, (const struct units *units, double cycles), units, cycles)
