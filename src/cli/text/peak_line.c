/* A peak in a line. */
#include "peak_line.h"

void peak_line_print(const struct peak *peak, unsigned resolution, const struct units *units,
                     const struct screen *screen) {
    char from[UNITS_TEXT_SIZE];
    char to[UNITS_TEXT_SIZE];
    char calls[UNITS_TEXT_SIZE];
    char share[UNITS_TEXT_SIZE];
    char text[5 * UNITS_TEXT_SIZE];
    units_format_cycles(units, aggstats_bucket_lower(peak->first, resolution), from);
    units_format_cycles(units, aggstats_bucket_upper(peak->last, resolution), to);
    units_format_count(peak->calls, calls);
    snprintf(share, sizeof(share), "%.1f %%", 100 * peak->latency_share);
    screen_make_blanks_firm(from);
    screen_make_blanks_firm(to);
    screen_make_blanks_firm(share);
    snprintf(text, sizeof(text), "%s .. %s, %s call%s, %s of the latency", from, to, calls, units_plural(peak->calls),
             share);
    screen_print_sentence(screen, 2, text);
}
