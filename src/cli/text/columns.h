/* Two kinds of tables: cells in a line; and numbers, a name and a text. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "screen.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Cells in a line ---------------------------------------------------------------------------- */

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
    const void *page; /* argument of the two functions */
    void (*format)(const void *page, size_t row, unsigned column, char ret_text[COLUMNS_CELL_SIZE]);
    const char *(*name_of)(const void *page, size_t row, enum ink *ret_ink); /* for columns_print_table() */
    int widths[COLUMNS_MAX];                                                 /* 0: the column is not there */
};

/* Finds the columns for which there is room, and their widths. left: the width of all. Returns what remains of it */
int columns_fit(struct columns_table *table, int left);

/* Print the titles, or the cells of a row, in the first `end` columns, without a newline. */
void columns_print_cell_titles(const struct columns_table *table);
void columns_print_cells(const struct columns_table *table, size_t row, unsigned end);

/* The width of the longest name of a row, or of the title of names. */
int columns_name_width(const struct columns_table *table, const char *title);

/* Writes the same, in HTML, as cells of a row of which the caller begins and ends the rest. */
void columns_put_cell_titles(const struct columns_table *table);
void columns_put_cells(const struct columns_table *table, size_t row);

/* Prints an empty line, and all rows with their names. Computes the widths. */
void columns_print_table(struct columns_table *table, const char *name_title);

/* ---- Numbers, a name and a text ----------------------------------------------------------------- */

/* A table whose rows are some numbers, a name, and a text that takes the rest of the width, on several lines if needed.
 * Columns are as wide as their contents. If the screen is too narrow, numbers are left out, beginning with the last
 * column; and if even the first leaves no room for texts, these get lines of their own. */

#define COLUMNS_NUMBERS_MAX 5

/* The numbers of a row, as text. */
struct columns_row {
    char numbers[COLUMNS_NUMBERS_MAX][UNITS_TEXT_SIZE];
    const char *name;
};

struct columns {
    const struct screen *screen;
    const char *titles[COLUMNS_NUMBERS_MAX];
    unsigned count;                  /* of numbers */
    unsigned shown;                  /* columns shown, from the first */
    int widths[COLUMNS_NUMBERS_MAX]; /* including the blanks before them */
    const char *name_title;
    int name_width;
    int text_column; /* where texts begin; if that is not after the name, they are on lines of their own */
};

/* titles: those of numbers end with NULL, or are COLUMNS_NUMBERS_MAX. */
void columns_init(struct columns *columns, const struct screen *screen, const char *const *titles,
                  const char *name_title);

/* Widens columns for a row. To be called for each row, and then columns_settle(), before anything is printed. */
void columns_measure(struct columns *columns, const struct columns_row *row);
void columns_settle(struct columns *columns);

void columns_print_titles(const struct columns *columns, const char *text_title);

/* Prints a row with its text; text and name may come from a file. ink: of the first number */
void columns_print_row(const struct columns *columns, const struct columns_row *row, enum ink ink, const char *text);

/* A further text of the row, on lines of its own. */
void columns_print_text(const struct columns *columns, enum ink ink, const char *text);

/* Ends the table, after its last row. */
void columns_end(const struct columns *columns);

#endif
