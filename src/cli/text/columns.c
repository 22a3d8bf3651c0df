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
