/* Histograms as text. */
#include "chart.h"

#include <math.h>
#include <string.h>

#include "base.h"

#define LABEL_COLUMNS 7 /* "  100k " before the bars */

/* Eighths of a row, before rounding. log10 of a power of ten is exact, so its bar begins a row exactly. */
static double height_of(uint64_t count) {
    return count == 0 ? 0 : 8 * log10((double)count) + 1;
}

unsigned chart_eighths(uint64_t count) {
    return (unsigned)floor(height_of(count));
}

/* ---- The latency axis --------------------------------------------------------------------------- */

struct range {
    unsigned first;
    unsigned end; /* first == end: empty */
};

/* Buckets from the first to the last with calls. */
static struct range counted_range(const struct aggstats_op_profile *op, unsigned resolution) {
    struct range range = {0, 64 * resolution};
    while (range.end > 0 && op->buckets[range.end - 1] == 0)
        range.end--;
    while (range.first < range.end && op->buckets[range.first] == 0)
        range.first++;
    return range;
}

struct chart_axis chart_line_axis(const struct aggstats_op_profile *const *ops, size_t op_count, unsigned resolution,
                                  unsigned columns) {
    struct chart_axis axis = {.resolution = resolution, .merged = resolution, .column_width = 1};
    struct range all = {64 * resolution, 0};
    for (size_t i = 0; i < op_count; i++) {
        const struct range range = counted_range(ops[i], resolution);
        if (range.first == range.end)
            continue;
        all.first = range.first < all.first ? range.first : all.first;
        all.end = range.end > all.end ? range.end : all.end;
    }
    for (; all.first < all.end; axis.merged *= 2) {
        axis.first_column = all.first / axis.merged;
        axis.column_count = (all.end + axis.merged - 1) / axis.merged - axis.first_column;
        if (axis.column_count <= columns)
            break;
    }
    return axis;
}

struct chart_axis chart_axis_of(const struct aggstats_op_profile *const *ops, size_t op_count, unsigned resolution,
                                const struct screen *screen) {
    const unsigned available = (unsigned)(screen->width - LABEL_COLUMNS);
    struct chart_axis axis = chart_line_axis(ops, op_count, resolution, available);
    unsigned fitting = axis.column_count > 0 ? available / axis.column_count : 1;
    axis.column_width = fitting < 3 ? fitting : 3;
    axis.gap_width = axis.column_width == 3;
    return axis;
}

static uint64_t column_calls(const struct chart_axis *axis, const struct aggstats_op_profile *op, unsigned column) {
    uint64_t calls = 0;
    for (unsigned i = 0; i < axis->merged; i++) {
        unsigned bucket = (axis->first_column + column) * axis->merged + i;
        calls += bucket < 64 * axis->resolution ? op->buckets[bucket] : 0;
    }
    return calls;
}

/* ---- Ticks -------------------------------------------------------------------------------------- */

/* Position of 10^exponent seconds (or cycles) on the axis, in characters. */
static double tick_position(const struct chart_axis *axis, const struct units *units, int exponent) {
    const double units_per_second = units->frequency_hz > 0 ? (double)units->frequency_hz : 1;
    const double cycles_log2 = exponent * log2(10) + log2(units_per_second);
    return (cycles_log2 * axis->resolution / axis->merged - axis->first_column) * axis->column_width;
}

struct tick {
    int position;
    char text[UNITS_TEXT_SIZE];
};

#define TICKS_MAX 32 /* 64 octaves are 20 decades */

/* Finds powers of ten, so far apart that their labels ("100 µs" and two blanks) do not touch. */
static unsigned find_ticks(const struct chart_axis *axis, const struct units *units, struct tick ret_ticks[TICKS_MAX]) {
    const int width = (int)(axis->column_count * axis->column_width);
    const double decade = tick_position(axis, units, 1) - tick_position(axis, units, 0);
    unsigned count = 0;
    int step = 1;
    while (step * decade < 8 && step < 18)
        step += step == 1 ? 2 : 3;
    for (int exponent = units->frequency_hz > 0 ? -12 : 0; exponent < 20 && count < TICKS_MAX; exponent += step) {
        const int position = (int)lround(tick_position(axis, units, exponent));
        if (position < 0 || position >= width)
            continue;
        if (units->frequency_hz > 0)
            units_format_power_seconds(units, exponent, ret_ticks[count].text);
        else
            units_format_power_count(exponent, ret_ticks[count].text);
        ret_ticks[count++].position = position;
    }
    return count;
}

/* Returns the columns used, like the two below. */
static int print_axis_line(const struct chart_axis *axis, const struct tick *ticks, unsigned tick_count,
                           const struct screen *screen) {
    const int width = (int)(axis->column_count * axis->column_width);
    unsigned next = 0;
    screen_ink(screen, INK_FAINT);
    fprintf(screen->stream, "%*s%s", LABEL_COLUMNS - 1, "", screen->ascii ? "+" : "└");
    for (int column = 0; column < width; column++) {
        bool is_tick = next < tick_count && ticks[next].position == column;
        next += is_tick;
        const char *mark = is_tick ? "┬" : "─";
        fputs(screen->ascii ? (is_tick ? "+" : "-") : mark, screen->stream);
    }
    screen_ink(screen, INK_PLAIN);
    return LABEL_COLUMNS + width;
}

static int print_tick_labels(const struct tick *ticks, unsigned tick_count, const struct screen *screen) {
    int column = -LABEL_COLUMNS;
    for (unsigned i = 0; i < tick_count; i++) {
        int text_columns = units_text_columns(ticks[i].text);
        screen_print_right(screen, INK_FAINT, ticks[i].text, ticks[i].position - column + text_columns);
        column = ticks[i].position + text_columns;
    }
    return LABEL_COLUMNS + column;
}

/* ---- Bars --------------------------------------------------------------------------------------- */

/* The part of a bar that fills `eighths` of a character upwards. */
static const char *block_up(unsigned eighths, bool ascii) {
    static const char *const unicode[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ".", ".", ":", ":", ":", "#", "#"};
    return (ascii ? plain : unicode)[eighths < 8 ? eighths : 8];
}

static unsigned bar_in_row(const struct chart_axis *axis, const struct aggstats_op_profile *op, unsigned column,
                           unsigned row) {
    const unsigned eighths = chart_eighths(column_calls(axis, op, column));
    return eighths > 8 * row ? eighths - 8 * row : 0;
}

static int print_row(const struct chart_axis *axis, const struct aggstats_op_profile *op, unsigned row,
                     const struct screen *screen) {
    char label[UNITS_TEXT_SIZE];
    units_format_power_count((int)row, label);
    screen_print_right(screen, INK_FAINT, label, LABEL_COLUMNS - 2);
    screen_print(screen, INK_FAINT, screen->ascii ? " |" : " │");
    unsigned end = axis->column_count; /* no blanks at the end of a line */
    while (end > 0 && bar_in_row(axis, op, end - 1, row) == 0)
        end--;
    screen_ink(screen, INK_BAR);
    for (unsigned column = 0; column < end; column++) {
        if (column > 0)
            fprintf(screen->stream, "%*s", (int)axis->gap_width, "");
        const char *block = block_up(bar_in_row(axis, op, column, row), screen->ascii);
        for (unsigned i = axis->gap_width; i < axis->column_width; i++)
            fputs(block, screen->stream);
    }
    screen_ink(screen, INK_PLAIN);
    return LABEL_COLUMNS + (int)(end * axis->column_width - (end > 0 ? axis->gap_width : 0));
}

static unsigned row_count(const struct chart_axis *axis, const struct aggstats_op_profile *op) {
    unsigned highest = 0;
    for (unsigned column = 0; column < axis->column_count; column++) {
        unsigned eighths = chart_eighths(column_calls(axis, op, column));
        highest = eighths > highest ? eighths : highest;
    }
    return (highest + 7) / 8;
}

/* Shortens the axis to where the op's bars end, but keeps a tick if it has one. */
static struct chart_axis trim_axis(const struct chart_axis *axis, const struct aggstats_op_profile *op,
                                   const struct units *units) {
    struct tick ticks[TICKS_MAX];
    struct chart_axis trimmed = *axis;
    while (trimmed.column_count > 1 && column_calls(axis, op, trimmed.column_count - 1) == 0)
        trimmed.column_count--;
    if (find_ticks(&trimmed, units, ticks) == 0 && find_ticks(axis, units, ticks) > 0)
        trimmed.column_count = (unsigned)ticks[0].position / axis->column_width + 1;
    return trimmed;
}

void chart_print(const struct chart_axis *axis, const struct aggstats_op_profile *op, const struct units *units,
                 const struct screen *screen) {
    const struct chart_axis trimmed = trim_axis(axis, op, units);
    struct tick ticks[TICKS_MAX];
    unsigned tick_count = find_ticks(&trimmed, units, ticks);
    unsigned rows = row_count(&trimmed, op);
    if (rows == 0)
        return;
    while (rows-- > 0) {
        print_row(&trimmed, op, rows, screen);
        putc('\n', screen->stream);
    }
    print_axis_line(&trimmed, ticks, tick_count, screen);
    putc('\n', screen->stream);
    while (tick_count > 0 && /* the label of the last may extend beyond the axis, but not beyond the screen */
           LABEL_COLUMNS + ticks[tick_count - 1].position + units_text_columns(ticks[tick_count - 1].text) >
               screen->width)
        tick_count--;
    if (tick_count == 0)
        return;
    print_tick_labels(ticks, tick_count, screen);
    putc('\n', screen->stream);
}

/* ---- Two side by side --------------------------------------------------------------------------- */

#define PAIR_GAP_COLUMNS 8 /* the label of the last tick may extend beyond its axis */

struct chart_axis chart_pair_axis_of(const struct aggstats_op_profile *const ops[2], unsigned resolution,
                                     const struct screen *screen) {
    struct screen half = *screen;
    half.width = screen->width / 2 - PAIR_GAP_COLUMNS + 2;
    return chart_axis_of(ops, 2, resolution, &half);
}

static void print_blanks(const struct screen *screen, int columns) {
    fprintf(screen->stream, "%*s", columns > 0 ? columns : 0, "");
}

void chart_print_pair(const struct chart_axis *axis, const struct aggstats_op_profile *const ops[2],
                      const struct units *units, const struct screen *screen) {
    const int half = screen->width / 2;
    struct tick ticks[TICKS_MAX];
    unsigned tick_count = find_ticks(axis, units, ticks);
    unsigned left_rows = row_count(axis, ops[0]);
    unsigned right_rows = row_count(axis, ops[1]);
    print_blanks(screen, LABEL_COLUMNS);
    screen_print(screen, INK_FAINT, "A");
    print_blanks(screen, half - 1);
    screen_print(screen, INK_FAINT, "B");
    putc('\n', screen->stream);
    for (unsigned row = left_rows > right_rows ? left_rows : right_rows; row-- > 0;) {
        print_blanks(screen, half - print_row(axis, ops[0], row, screen));
        print_row(axis, ops[1], row, screen);
        putc('\n', screen->stream);
    }
    print_blanks(screen, half - print_axis_line(axis, ticks, tick_count, screen));
    print_axis_line(axis, ticks, tick_count, screen);
    putc('\n', screen->stream);
    if (tick_count == 0)
        return;
    print_blanks(screen, half - print_tick_labels(ticks, tick_count, screen));
    print_tick_labels(ticks, tick_count, screen);
    putc('\n', screen->stream);
}

/* ---- A single line ------------------------------------------------------------------------------ */

void chart_format_line(const struct chart_axis *axis, const struct aggstats_op_profile *op, bool ascii,
                       char ret_text[CHART_LINE_SIZE]) {
    static const char *const digits[] = {" ", "1", "2", "3", "4", "5", "6", "7", "8"};
    char *to = ret_text;
    *to = '\0';
    unsigned end = axis->column_count; /* no blanks at the end of a line */
    while (end > 0 && column_calls(axis, op, end - 1) == 0)
        end--;
    for (unsigned column = 0; column < end; column++) {
        unsigned decades = (chart_eighths(column_calls(axis, op, column)) + 7) / 8;
        to = stpcpy(to, ascii ? digits[decades < 8 ? decades : 8] : block_up(decades, false));
    }
}

void chart_format_ticks(const struct chart_axis *axis, const struct units *units, char ret_text[CHART_LINE_SIZE]) {
    struct tick ticks[TICKS_MAX];
    unsigned tick_count = find_ticks(axis, units, ticks);
    char *to = ret_text;
    *to = '\0';
    int column = 0;
    for (unsigned i = 0; i < tick_count; i++) {
        if (i > 0 && ticks[i].position <= column) /* it would touch the one before */
            continue;
        to += sprintf(to, "%*s%s", ticks[i].position - column, "", ticks[i].text);
        column = ticks[i].position + units_text_columns(ticks[i].text);
    }
}

/* ---- A row per bucket --------------------------------------------------------------------------- */

void chart_print_buckets(const struct aggstats_op_profile *op, unsigned resolution, const struct units *units,
                         const struct screen *screen) {
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}; /* of a full block */
    const int bound_columns = 12;
    const struct range range = counted_range(op, resolution);
    double full_height = 1; /* of the count whose bar reaches the right edge */
    int count_columns = 20;
    for (unsigned bucket = range.first; bucket < range.end; bucket++) {
        const int columns = 1 + units_text_columns(units_count(op->buckets[bucket]).text);
        count_columns = columns > count_columns ? columns : count_columns;
        full_height = fmax(full_height, height_of(op->buckets[bucket]));
    }
    const double eighths_max = 8.0 * fmax(screen->width - bound_columns - count_columns - 2, 0);
    for (unsigned bucket = range.first; bucket < range.end; bucket++) {
        const uint64_t calls = op->buckets[bucket];
        unsigned eighths = (unsigned)ceil(height_of(calls) / full_height * eighths_max);
        screen_print_right(screen, INK_FAINT, units_cycles(units, aggstats_bucket_lower(bucket, resolution)).text,
                           bound_columns);
        screen_print_right(screen, INK_PLAIN, units_count(calls).text, count_columns);
        if (calls > 0) {
            fputs("  ", screen->stream);
            screen_ink(screen, INK_BAR);
            for (; eighths >= 8; eighths -= 8)
                fputs(screen->ascii ? "#" : "█", screen->stream);
            fputs(screen->ascii ? (eighths > 0 ? "#" : "") : parts[eighths], screen->stream);
            screen_ink(screen, INK_PLAIN);
        }
        putc('\n', screen->stream);
    }
}
