/* Tables whose rows are a line of cells. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "screen.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>

#define COLUMNS_MAX 9
#define COLUMNS_CELL_SIZE 96

/* A column of cells, which are aligned to the right. */
struct columns_column {
    const char *title;
    int width; /* minimum, including the blanks before the cells */
};

struct columns_table {
    const struct screen *screen;
    const struct columns_column *columns;
    unsigned column_count;
    const unsigned *order; /* [column_count] the order in which columns get room; NULL: as listed */
    unsigned hidden;       /* columns to leave out, as bits */
    int gap;       /* blanks before each cell, for which columns become wider; 0: widths are fixed, and a cell that is
                    * too wide has one blank before it */
    bool has_gaps; /* if a column has no room, later ones are still shown if they are narrower */
    size_t row_count;
    const void *page; /* argument of the function */
    void (*format)(const void *page, size_t row, unsigned column, char ret_text[COLUMNS_CELL_SIZE]);
    int widths[COLUMNS_MAX]; /* 0: the column is not there */
};

/* Finds the columns for which there is room, and their widths. left: the width of all. Returns what remains of it */
int columns_fit(struct columns_table *table, int left);

/* Print the titles, or the cells of a row, in the first `end` columns, without a newline. */
void columns_print_cell_titles(const struct columns_table *table);
void columns_print_cells(const struct columns_table *table, size_t row, unsigned end);

/* Writes the same, in HTML, as cells of a row of which the caller begins and ends the rest. */
void columns_put_cell_titles(const struct columns_table *table);
void columns_put_cells(const struct columns_table *table, size_t row);

#endif
