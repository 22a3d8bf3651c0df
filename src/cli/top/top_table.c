/* Columns of figures. */
#include "top_table.h"

#include <string.h>

#include "base.h"

enum column { COLUMN_SHARE, COLUMN_CALLS, COLUMN_MEAN, COLUMN_P999, COLUMN_LONGEST, COLUMN_MAX, COLUMN_COUNT };

static const struct {
    const char *title;
    int width; /* with the blanks before the cells */
} columns[COLUMN_COUNT] = {
    {"share", 8}, {"calls", 11}, {"mean", 9}, {"p99.9", 9}, {"longest", 10}, {"max ≤", 9},
};

/* The order of the table if it is sorted by this column. */
static const enum top_order orders[COLUMN_COUNT] = {TOP_BY_SHARE,    TOP_BY_CALLS, TOP_BY_MEAN,
                                                    TOP_ORDER_COUNT, TOP_BY_MAX,   TOP_BY_MAX};

void top_table_init(struct top_table *table, const struct aggstats_profile *profile, bool is_of_ops,
                    const struct canvas *canvas) {
    *table = (struct top_table){
        .units = {.frequency_hz = profile->clock.frequency_hz, .ascii = canvas->ascii},
        .resolution = profile->resolution,
        .is_of_ops = is_of_ops,
    };
}

int top_table_fit(struct top_table *table, int width) {
    const unsigned hidden = table->is_of_ops ? 1U << COLUMN_MAX : 1U << COLUMN_P999 | 1U << COLUMN_LONGEST;
    table->shown = 0;
    for (unsigned column = 0; column < COLUMN_COUNT; column++) {
        if (hidden & 1U << column)
            continue;
        if (columns[column].width > width)
            return -1;
        table->shown |= 1U << column;
        width -= columns[column].width;
    }
    return width;
}

void top_table_draw_titles(const struct top_table *table, enum top_order order, struct canvas *canvas) {
    for (unsigned column = 0; column < COLUMN_COUNT; column++)
        if (table->shown & 1U << column)
            canvas_right(canvas, orders[column] == order ? INK_STRONG : INK_FAINT,
                         column == COLUMN_MAX && table->units.ascii ? "max <=" : columns[column].title,
                         columns[column].width);
}

/* If only the bucket of the longest call is known, its upper bound. */
static void format_latency(const struct top_table *table, const struct top_figures *figures, enum column column,
                           char ret_text[UNITS_TEXT_SIZE]) {
    const double bound_cycles = aggstats_bucket_upper(figures->max_bucket, table->resolution);
    if (column == COLUMN_LONGEST && figures->longest_cycles == 0)
        snprintf(ret_text, UNITS_TEXT_SIZE, "%s%.24s", table->units.ascii ? "<=" : "≤",
                 units_cycles(&table->units, bound_cycles).text);
    else
        units_format_cycles(&table->units,
                            column == COLUMN_MEAN      ? figures->mean_cycles
                            : column == COLUMN_P999    ? figures->p999_cycles
                            : column == COLUMN_LONGEST ? (double)figures->longest_cycles
                                                       : bound_cycles,
                            ret_text);
}

void top_table_draw_row(const struct top_table *table, const struct top_figures *figures, struct canvas *canvas) {
    for (unsigned column = 0; column < COLUMN_COUNT; column++) {
        char text[UNITS_TEXT_SIZE] = "-";
        if (!(table->shown & 1U << column))
            continue;
        if (column == COLUMN_SHARE)
            units_format_share(figures->share, text);
        else if (column == COLUMN_CALLS)
            units_format_count(figures->ended, text);
        else if (figures->ended > 0)
            format_latency(table, figures, (enum column)column, text);
        canvas_right(canvas, INK_PLAIN, text, columns[column].width);
    }
}

int top_table_name_columns(const struct aggstats_profile *latest) {
    int width = (int)strlen("operation");
    for (size_t i = 0; i < latest->op_count; i++) {
        int length = (int)strlen(latest->ops[i].name);
        width = length > width ? length : width;
    }
    return width;
}

/* ---- Time --------------------------------------------------------------------------------------- */

bool top_table_time(int64_t unix_ns, struct tm *ret_tm) {
    time_t seconds = (time_t)(unix_ns / NS_PER_S);
    return localtime_r(&seconds, ret_tm) != NULL;
}

void top_table_format_span(const struct aggstats_profile *difference, bool is_interval, const struct units *units,
                           char ret_text[TOP_SPAN_SIZE]) {
    char elapsed[UNITS_TEXT_SIZE] = "time not known";
    char start[32] = "the beginning";
    struct tm tm;
    if (difference->has_elapsed)
        units_format_cycles(units, (double)difference->elapsed_cycles, elapsed);
    if (difference->has_start && top_table_time(difference->start_ns, &tm))
        strftime(start, sizeof(start), "%H:%M:%S", &tm);
    if (is_interval)
        snprintf(ret_text, TOP_SPAN_SIZE, "the last %s", elapsed);
    else
        snprintf(ret_text, TOP_SPAN_SIZE, "%s since %s", elapsed, start);
}
