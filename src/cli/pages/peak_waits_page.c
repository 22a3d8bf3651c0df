/* Causes of peaks, in a line each. */
#include "peak_waits_page.h"

#include <math.h>

#include "base.h"
#include "peak_waits.h"

#define INDENT 2
#define LINE_SIZE (128 + PEAK_WAITS_MAX * (AGGSTATS_CAUSE_SIZE + UNITS_TEXT_SIZE))

static void format_line(const struct peak *peak, const struct peak_waits *waits, const struct units *units,
                        char ret_line[LINE_SIZE]) {
    char typical[UNITS_TEXT_SIZE];
    char calls[UNITS_TEXT_SIZE];
    units_format_cycles(units, exp2(peak->centre), typical);
    units_format_count(waits->known_calls, calls);
    int length = snprintf(ret_line, LINE_SIZE, "peak at %s: ", typical);
    if (waits->known_calls < peak->calls)
        length += snprintf(ret_line + length, (size_t)(LINE_SIZE - length), "of %s slow call%s ", calls,
                           units_plural(waits->known_calls));
    for (size_t i = 0; i < waits->count; i++) {
        char share[UNITS_TEXT_SIZE];
        units_format_share(waits->waits[i].share, share);
        length += snprintf(ret_line + length, (size_t)(LINE_SIZE - length), "%s%s %s", i > 0 ? ", " : "", share,
                           waits->waits[i].cause->text);
    }
}

void peak_waits_print(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                      const struct units *units, const struct screen *screen) {
    struct peak peaks[PEAKS_MAX];
    size_t count = profile->cause_count > 0 ? peaks_find(op, profile->resolution, peaks) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct peak_waits waits = peak_waits_find(profile, op, &peaks[i]);
        char line[LINE_SIZE];
        if (waits.count == 0)
            continue;
        format_line(&peaks[i], &waits, units, line);
        fprintf(screen->stream, "%*s", INDENT, "");
        screen_print_wrapped(screen, INDENT, 2 * INDENT, line);
    }
}
