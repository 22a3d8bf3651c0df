/* A peak in a line. */
#include "peak_line.h"

void peak_line_print(const struct peak *peak, unsigned resolution, const struct units *units,
                     const struct screen *screen) {
    char from[UNITS_TEXT_SIZE];
    char to[UNITS_TEXT_SIZE];
    char calls[UNITS_TEXT_SIZE];
    units_format_cycles(units, aggstats_bucket_lower(peak->first, resolution), from);
    units_format_cycles(units, aggstats_bucket_upper(peak->last, resolution), to);
    units_format_count(peak->calls, calls);
    fprintf(screen->stream, "  %s .. %s, %s call%s, %.1f %% of the latency\n", from, to, calls,
            units_plural(peak->calls), 100 * peak->latency_share);
}
