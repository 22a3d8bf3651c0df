/* Values of joint profiles as people read them. */
#include "value_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"

void value_text_of_name(enum aggstats_value value, char ret_text[VALUE_TEXT_SIZE]) {
    size_t length = 0;
    for (const char *name = aggstats_value_name(value); name[length]; length++)
        ret_text[length] = (char)tolower((unsigned char)name[length]);
    ret_text[length] = '\0';
}

void value_text_of_first(enum aggstats_value value, uint64_t number, const struct units *units,
                         char ret_text[UNITS_TEXT_SIZE]) {
    static const char *const suffixes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t power = 0;
    if (value == AGGSTATS_CPU) {
        units_format_seconds(units, (double)number / 1e9, ret_text);
    } else if (value == AGGSTATS_SIZE || value == AGGSTATS_OFFSET) {
        for (; number >= 1024 && number % 1024 == 0; number /= 1024)
            power++;
        snprintf(ret_text, UNITS_TEXT_SIZE, "%" PRIu64 " %s", number, suffixes[power]);
    } else {
        units_format_count(number, ret_text);
    }
}

void value_text_of_row(enum aggstats_value value, unsigned row, const struct units *units,
                       char ret_text[VALUE_TEXT_SIZE]) {
    char from[UNITS_TEXT_SIZE];
    char to[UNITS_TEXT_SIZE];
    uint64_t first = aggstats_value_first(value, row);
    if (value == AGGSTATS_ERROR) {
        const char *name = row > 0 ? strerrorname_np((int)row) : "none";
        snprintf(ret_text, VALUE_TEXT_SIZE, "%s", name ? name : "unknown");
        return;
    }
    if (value == AGGSTATS_PAST_EOF) {
        snprintf(ret_text, VALUE_TEXT_SIZE, "%s", row ? "yes" : "no");
        return;
    }
    value_text_of_first(value, first, units, from);
    value_text_of_first(value, row + 1 < aggstats_value_rows(value) ? 2 * first : 0, units, to);
    if (first <= 1)
        snprintf(ret_text, VALUE_TEXT_SIZE, "%s", from);
    else
        snprintf(ret_text, VALUE_TEXT_SIZE, "%s .. %s", from, to);
}
