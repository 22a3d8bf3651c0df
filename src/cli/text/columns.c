/* Tables whose rows are a line of cells. */
#include "columns.h"

#include <string.h>

#include "base.h"
#include "html.h"

static int width_of(const struct columns_table *table, unsigned column) {
    int width = table->columns[column].width;
    for (size_t row = 0; table->gap > 0 && row < table->row_count; row++) {
        char text[COLUMNS_CELL_SIZE];
        table->format(table->page, row, column, text);
        int wanted = table->gap + units_text_columns(text);
        width = wanted > width ? wanted : width;
    }
    return width;
}

int columns_fit(struct columns_table *table, int left) {
    memset(table->widths, 0, sizeof(table->widths));
    for (unsigned i = 0; i < table->column_count; i++) {
        const unsigned column = table->order ? table->order[i] : i;
        const int width = width_of(table, column);
        if (table->hidden & 1U << column)
            continue;
        if (width > left && !table->has_gaps)
            break;
        if (width > left)
            continue;
        table->widths[column] = width;
        left -= width;
    }
    return left;
}

void columns_print_cell_titles(const struct columns_table *table) {
    for (unsigned column = 0; column < table->column_count; column++)
        if (table->widths[column] > 0)
            screen_print_right(table->screen, INK_FAINT, table->columns[column].title, table->widths[column]);
}

void columns_print_cells(const struct columns_table *table, size_t row, unsigned end) {
    for (unsigned column = 0; column < end; column++) {
        char text[COLUMNS_CELL_SIZE];
        if (table->widths[column] == 0)
            continue;
        table->format(table->page, row, column, text);
        if (units_text_columns(text) >= table->widths[column])
            putc(' ', table->screen->stream); /* so that it is not joined to the one before */
        screen_print_right(table->screen, INK_PLAIN, text, table->widths[column]);
    }
}

int columns_name_width(const struct columns_table *table, const char *title) {
    int width = units_text_columns(title);
    for (size_t row = 0; row < table->row_count; row++) {
        enum ink ink;
        int length = units_text_columns(table->name_of(table->page, row, &ink));
        width = length > width ? length : width;
    }
    return width;
}

void columns_put_cell_titles(const struct columns_table *table) {
    for (unsigned column = 0; column < table->column_count; column++)
        if (table->widths[column] > 0)
            html_put_cell(table->screen->stream, HTML_NUMBER_TITLE, table->columns[column].title);
}

void columns_put_cells(const struct columns_table *table, size_t row) {
    for (unsigned column = 0; column < table->column_count; column++) {
        char text[COLUMNS_CELL_SIZE];
        if (table->widths[column] == 0)
            continue;
        table->format(table->page, row, column, text);
        html_put_cell(table->screen->stream, HTML_NUMBER, text);
    }
}

static void put_table(struct columns_table *table, const char *name_title) {
    FILE *stream = table->screen->stream;
    columns_fit(table, table->screen->width);
    html_begin_table(stream);
    html_begin_row(stream);
    html_put_cell(stream, HTML_TITLE, name_title);
    columns_put_cell_titles(table);
    html_end_row(stream);
    for (size_t row = 0; row < table->row_count; row++) {
        enum ink ink;
        html_begin_row(stream);
        html_put_cell(stream, HTML_NAME, table->name_of(table->page, row, &ink));
        columns_put_cells(table, row);
        html_end_row(stream);
    }
    html_end_table(stream);
}

void columns_print_table(struct columns_table *table, const char *name_title) {
    if (table->screen->html) {
        put_table(table, name_title);
        return;
    }
    const int names = columns_name_width(table, name_title);
    const int left = table->screen->width - names;
    const int padded = columns_fit(table, left) < left ? names : 0;
    fprintf(table->screen->stream, "\n%-*s", padded, name_title);
    columns_print_cell_titles(table);
    putc('\n', table->screen->stream);
    for (size_t row = 0; row < table->row_count; row++) {
        enum ink ink;
        const char *name = table->name_of(table->page, row, &ink);
        const int blanks = padded - units_text_columns(name);
        screen_print(table->screen, ink, name);
        fprintf(table->screen->stream, "%*s", blanks > 0 ? blanks : 0, "");
        columns_print_cells(table, row, table->column_count);
        putc('\n', table->screen->stream);
    }
}
