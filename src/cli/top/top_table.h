/* Common parts of the tables of osprof top: the columns of figures, and the time that they cover. */
#ifndef TOP_TABLE_H
#define TOP_TABLE_H

#include <time.h>

#include "canvas.h"
#include "top_model.h"
#include "units.h"

struct top_table {
    struct units units;
    unsigned resolution;
    bool is_of_ops; /* these have percentiles, and often exactly the longest call */
    unsigned shown; /* columns, as bits */
};

/* profile: its clock and resolution are those of the figures
 * is_of_ops: they are of operations, else of callers */
void top_table_init(struct top_table *table, const struct aggstats_profile *profile, bool is_of_ops,
                    const struct canvas *canvas);

/* Finds out how many columns of figures fit into that many columns of the screen. Returns how many of these remain
 * behind them; -1 if not all figures fit. */
int top_table_fit(struct top_table *table, int width);

/* Both begin at the canvas's column, and do not end the line. */
void top_table_draw_titles(const struct top_table *table, enum top_order order, struct canvas *canvas);
void top_table_draw_row(const struct top_table *table, const struct top_figures *figures, struct canvas *canvas);

/* The width of the names of all operations ever called, and of their title: so it seldom changes. */
int top_table_name_columns(const struct aggstats_profile *latest);

#define TOP_SPAN_SIZE 96

/* The time that a difference covers: "the last 2.00 s", or "7.00 s since 01:46:40". */
void top_table_format_span(const struct aggstats_profile *difference, bool is_interval, const struct units *units,
                           char ret_text[TOP_SPAN_SIZE]);

/* Local time. Returns false if that moment has none. */
bool top_table_time(int64_t unix_ns, struct tm *ret_tm);

#endif
