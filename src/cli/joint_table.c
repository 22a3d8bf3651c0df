/* Joint profiles, peak by peak. */
#include "joint_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "peak_line.h"

#define VALUE_COLUMNS 24

/* 4096 -> "4 KiB" */
static void format_bytes(uint64_t bytes, char ret_text[UNITS_TEXT_SIZE]) {
    static const char *const suffixes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t power = 0;
    for (; bytes >= 1024 && bytes % 1024 == 0; bytes /= 1024)
        power++;
    snprintf(ret_text, UNITS_TEXT_SIZE, "%" PRIu64 " %s", bytes, suffixes[power]);
}

static void format_first(enum aggstats_value value, uint64_t number, const struct units *units,
                         char ret_text[UNITS_TEXT_SIZE]) {
    if (value == AGGSTATS_CPU)
        units_format_seconds(units, (double)number / 1e9, ret_text);
    else if (value == AGGSTATS_SIZE || value == AGGSTATS_OFFSET)
        format_bytes(number, ret_text);
    else
        units_format_count(number, ret_text);
}

static void format_error(unsigned row, char *text, size_t size_bytes) {
    const char *name = strerrorname_np((int)row);
    snprintf(text, size_bytes, "%s", row == 0 ? "none" : name ? name : "unknown");
}

/* The values of a row: "ENOENT", "4 KiB .. 8 KiB". */
static void format_row(enum aggstats_value value, unsigned row, const struct units *units, char *text,
                       size_t size_bytes) {
    char from[UNITS_TEXT_SIZE];
    char to[UNITS_TEXT_SIZE];
    uint64_t first = aggstats_value_first(value, row);
    if (value == AGGSTATS_ERROR) {
        format_error(row, text, size_bytes);
        return;
    }
    if (value == AGGSTATS_PAST_EOF) {
        snprintf(text, size_bytes, "%s", row ? "yes" : "no");
        return;
    }
    format_first(value, first, units, from);
    format_first(value, row + 1 < aggstats_value_rows(value) ? 2 * first : 0, units, to);
    if (first <= 1)
        snprintf(text, size_bytes, "%s", from);
    else
        snprintf(text, size_bytes, "%s .. %s", from, to);
}

static void print_row(enum aggstats_value value, unsigned row, uint64_t calls, uint64_t peak_calls,
                      const struct units *units, const struct screen *screen) {
    char text[2 * UNITS_TEXT_SIZE + 8];
    char count[UNITS_TEXT_SIZE];
    format_row(value, row, units, text, sizeof(text));
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
    char title[AGGSTATS_NAME_SIZE];
    size_t length = 0;
    for (const char *name = aggstats_value_name(joint->value); name[length]; length++)
        title[length] = (char)tolower((unsigned char)name[length]);
    title[length] = '\0';
    size_t count = peaks_find(op, resolution, peaks);
    putc('\n', screen->stream);
    screen_print(screen, INK_STRONG, op->name);
    fprintf(screen->stream, " by %s, for each peak of latency\n", title);
    for (size_t i = 0; i < count; i++) {
        peak_line_print(&peaks[i], resolution, units, screen);
        print_rows(joint, &peaks[i], units, screen);
    }
}
