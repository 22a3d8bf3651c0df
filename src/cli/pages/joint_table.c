/* Joint profiles, peak by peak. */
#include "joint_table.h"

#include <string.h>

#include "base.h"
#include "peak_labels.h"
#include "value_text.h"

#define VALUE_COLUMNS 24

static void print_row(enum aggstats_value value, unsigned row, uint64_t calls, uint64_t peak_calls,
                      const struct units *units, const struct screen *screen) {
    char text[VALUE_TEXT_SIZE];
    char count[UNITS_TEXT_SIZE];
    value_text_of_row(value, row, units, text);
    units_format_count(calls, count);
    fprintf(screen->stream, "    %-*s", VALUE_COLUMNS, text);
    screen_print_right(screen, INK_PLAIN, count, 14);
    fprintf(screen->stream, "  %5.1f %%\n", 100.0 * (double)calls / (double)peak_calls);
}

static void print_rows(const struct aggstats_joint_profile *joint, const struct peak *peak, const struct units *units,
                       const struct screen *screen) {
    for (size_t at = 0; at < joint->cell_count;) {
        unsigned row = joint->cells[at].row;
        uint64_t calls = 0;
        for (; at < joint->cell_count && joint->cells[at].row == row; at++)
            if (joint->cells[at].bucket >= peak->first && joint->cells[at].bucket <= peak->last)
                calls += joint->cells[at].count;
        if (calls > 0)
            print_row(joint->value, row, calls, peak->calls, units, screen);
    }
}

void joint_table_print(const struct aggstats_joint_profile *joint, const struct aggstats_op_profile *op,
                       unsigned resolution, const struct units *units, const struct screen *screen) {
    struct peak peaks[PEAKS_MAX];
    char title[VALUE_TEXT_SIZE];
    value_text_of_name(joint->value, title);
    size_t count = peaks_find(op, resolution, peaks);
    putc('\n', screen->stream);
    screen_print(screen, INK_STRONG, op->name);
    fprintf(screen->stream, " by %s, for each peak of latency\n", title);
    for (size_t i = 0; i < count; i++) {
        peak_labels_print_place(&peaks[i], resolution, units, screen);
        print_rows(joint, &peaks[i], units, screen);
    }
}
