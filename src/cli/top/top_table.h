/* What tables of osprof top have in common: the columns of figures, and the time that they are about. */
#ifndef TOP_TABLE_H
#define TOP_TABLE_H

#include <time.h>

#include "canvas.h"
#include "top_model.h"
#include "units.h"

struct top_table {
    struct units units;
    unsigned resolution;
    size_t column_count; /* that fit */
    bool is_of_ops;      /* these have percentiles, and often exactly the longest call */
    bool ascii;
};

/* profile: of which clock and resolution the figures are
 * is_of_ops: they are operations', else callers' */
void top_table_init(struct top_table *table, const struct aggstats_profile *profile, bool is_of_ops,
                    const struct canvas *canvas);

/* Finds out how many columns of figures fit into so many columns of the screen. Returns how many of these are left
 * behind all of them; -1 if not all of them fit. */
int top_table_fit(struct top_table *table, int columns);

/* Both from the canvas's column on, and without ending the line. */
void top_table_draw_titles(const struct top_table *table, enum top_order order, struct canvas *canvas);
void top_table_draw_row(const struct top_table *table, const struct top_figures *figures, struct canvas *canvas);

/* Of the names of all operations that were ever called, and their title: so it seldom changes. */
int top_table_name_columns(const struct aggstats_profile *latest);

#define TOP_SPAN_SIZE 96

/* The time that a difference is about: "the last 2.00 s", or "7.00 s since 01:46:40". */
void top_table_format_span(const struct aggstats_profile *difference, bool is_interval, const struct units *units,
                           char ret_text[TOP_SPAN_SIZE]);

/* Local time. Returns false where there is none for that moment. */
bool top_table_time(int64_t unix_ns, struct tm *ret_tm);

#endif
