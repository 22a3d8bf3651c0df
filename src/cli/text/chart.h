/* Histograms as text, after thesis Figure 3.2: latency from left to right, calls upwards, both logarithmic.
 *
 * Every op of a profile is drawn over the same latency axis and on the same scale of counts, so that peaks can be
 * compared down the page: a row of a chart is a factor of 10, each eighth of a row a factor of 10^(1/8). The smallest
 * bar is one call; a bar that has begun a row marked 1k stands for 1,000 calls or more. */
#ifndef CHART_H
#define CHART_H

#include "aggstats.h"
#include "screen.h"
#include "units.h"

/* The latency axis, shared by all charts of a page. A column of the chart is a power of two whatever the resolution, or
 * more than one where that would not fit: it holds `merged` adjacent buckets. */
struct chart_axis {
    unsigned resolution;
    unsigned merged;       /* buckets per column: `resolution`, or a multiple of it */
    unsigned first_column; /* columns are counted from bucket 0 */
    unsigned column_count; /* 0: nothing to draw */
    unsigned column_width; /* characters, with the gap */
    unsigned gap_width;    /* characters between bars */
};

/* The axis on which all finished calls of these ops fit into the screen's width. */
struct chart_axis chart_axis_of(const struct aggstats_op_profile *const *ops, size_t op_count, unsigned resolution,
                                const struct screen *screen);

/* Draws an op: rows of bars, then the latency axis, which ends where the bars do, or at the first tick if that is
 * later. Draws nothing if no call has ended. */
void chart_print(const struct chart_axis *axis, const struct aggstats_op_profile *op, const struct units *units,
                 const struct screen *screen);

/* Two charts, A and B, side by side, each in half of the screen's width, over one axis and on one scale. */
struct chart_axis chart_pair_axis_of(const struct aggstats_op_profile *const ops[2], unsigned resolution,
                                     const struct screen *screen);
void chart_print_pair(const struct chart_axis *axis, const struct aggstats_op_profile *const ops[2],
                      const struct units *units, const struct screen *screen);

/* The op as a row per bucket, from the first to the last that counted: lower bound, calls, bar. */
void chart_print_buckets(const struct aggstats_op_profile *op, unsigned resolution, const struct units *units,
                         const struct screen *screen);

/* The same for charts of a single line, a character per column. columns: at least 1 */
struct chart_axis chart_line_axis(const struct aggstats_op_profile *const *ops, size_t op_count, unsigned resolution,
                                  unsigned columns);

#define CHART_LINE_SIZE (3 * AGGSTATS_BUCKETS_MAX + 1)

/* An op as such a line: each eighth of a character is a factor of 10, so the lowest block is 1 to 9 calls, and the full
 * one 10 million or more. In ASCII a digit is the number of digits that the number of calls has, up to 8. */
void chart_format_line(const struct chart_axis *axis, const struct aggstats_op_profile *op, bool ascii,
                       char ret_text[CHART_LINE_SIZE]);

/* The line above such lines: powers of ten, each where its latency begins. */
void chart_format_ticks(const struct chart_axis *axis, const struct units *units, char ret_text[CHART_LINE_SIZE]);

/* What a page has instead of charts where it is HTML. */
struct chart_pictures {
    void (*put)(const void *context, const char *op);
    const void *context;
};

/* Eighths of a row that the bar of a count fills: 0 for 0, else floor(8 log10(count)) + 1. */
unsigned chart_eighths(uint64_t count);

#endif
