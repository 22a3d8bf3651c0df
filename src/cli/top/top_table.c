/* Columns of figures. */
#include "top_table.h"

#include <string.h>

#include "base.h"

typedef void (*format_cell_fn)(const struct top_table *table, const struct top_figures *figures,
                               char ret_text[UNITS_TEXT_SIZE]);

static void format_share(const struct top_table *table, const struct top_figures *figures,
                         char ret_text[UNITS_TEXT_SIZE]) {
    (void)table;
    units_format_share(figures->share, ret_text);
}

static void format_calls(const struct top_table *table, const struct top_figures *figures,
                         char ret_text[UNITS_TEXT_SIZE]) {
    (void)table;
    units_format_count(figures->ended, ret_text);
}

static void format_mean(const struct top_table *table, const struct top_figures *figures,
                        char ret_text[UNITS_TEXT_SIZE]) {
    if (figures->ended > 0)
        units_format_cycles(&table->units, figures->mean_cycles, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

static void format_p999(const struct top_table *table, const struct top_figures *figures,
                        char ret_text[UNITS_TEXT_SIZE]) {
    if (figures->ended > 0)
        units_format_cycles(&table->units, figures->p999_cycles, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

/* The upper bound of the longest call's bucket. */
static void format_max(const struct top_table *table, const struct top_figures *figures,
                       char ret_text[UNITS_TEXT_SIZE]) {
    if (figures->ended > 0)
        units_format_cycles(&table->units, aggstats_bucket_upper(figures->max_bucket, table->resolution), ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

/* If only the bucket is known, its bound, marked as such. */
static void format_longest(const struct top_table *table, const struct top_figures *figures,
                           char ret_text[UNITS_TEXT_SIZE]) {
    char bound[UNITS_TEXT_SIZE];
    if (figures->ended > 0 && figures->longest_cycles > 0) {
        units_format_cycles(&table->units, (double)figures->longest_cycles, ret_text);
        return;
    }
    format_max(table, figures, bound);
    snprintf(ret_text, UNITS_TEXT_SIZE, "%s%.24s", figures->ended == 0 ? "" : table->ascii ? "<=" : "≤", bound);
}

enum column_of { OF_BOTH, OF_OPS, OF_CALLERS };

static const struct table_column {
    const char *title;
    const char *ascii_title;
    int columns;
    enum column_of of;
    enum top_order order; /* the order that sorts by this column; TOP_ORDER_COUNT: none */
    format_cell_fn format;
} table_columns[] = {
    {"share", "share", 8, OF_BOTH, TOP_BY_SHARE, format_share},
    {"calls", "calls", 11, OF_BOTH, TOP_BY_CALLS, format_calls},
    {"mean", "mean", 9, OF_BOTH, TOP_BY_MEAN, format_mean},
    {"p99.9", "p99.9", 9, OF_OPS, TOP_ORDER_COUNT, format_p999},
    {"longest", "longest", 10, OF_OPS, TOP_BY_MAX, format_longest},
    {"max ≤", "max <=", 9, OF_CALLERS, TOP_BY_MAX, format_max},
};

void top_table_init(struct top_table *table, const struct aggstats_profile *profile, bool is_of_ops,
                    const struct canvas *canvas) {
    *table = (struct top_table){
        .units = {.frequency_hz = profile->clock.frequency_hz, .ascii = canvas->ascii},
        .resolution = profile->resolution,
        .is_of_ops = is_of_ops,
        .ascii = canvas->ascii,
    };
}

static bool is_there(const struct top_table *table, const struct table_column *column) {
    return column->of == OF_BOTH || (column->of == OF_OPS) == table->is_of_ops;
}

int top_table_fit(struct top_table *table, int columns) {
    table->column_count = 0;
    for (; table->column_count < ARRAY_SIZE(table_columns); table->column_count++) {
        const struct table_column *column = &table_columns[table->column_count];
        if (!is_there(table, column))
            continue;
        if (column->columns > columns)
            return -1;
        columns -= column->columns;
    }
    return columns;
}

void top_table_draw_titles(const struct top_table *table, enum top_order order, struct canvas *canvas) {
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table_columns[i];
        if (is_there(table, column))
            canvas_right(canvas, column->order == order ? INK_STRONG : INK_FAINT,
                         table->ascii ? column->ascii_title : column->title, column->columns);
    }
}

void top_table_draw_row(const struct top_table *table, const struct top_figures *figures, struct canvas *canvas) {
    char text[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < table->column_count; i++) {
        if (!is_there(table, &table_columns[i]))
            continue;
        table_columns[i].format(table, figures, text);
        canvas_right(canvas, INK_PLAIN, text, table_columns[i].columns);
    }
}

int top_table_name_columns(const struct aggstats_profile *latest) {
    int columns = (int)strlen("operation");
    for (size_t i = 0; i < latest->op_count; i++) {
        int length = (int)strlen(latest->ops[i].name);
        columns = length > columns ? length : columns;
    }
    return columns;
}

/* ---- Time --------------------------------------------------------------------------------------- */

bool top_table_time(int64_t unix_ns, struct tm *ret_tm) {
    time_t seconds = (time_t)(unix_ns / 1000000000);
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
