/* A table whose rows are some numbers, a name, and a text that takes the rest of the width, on several lines if needed.
 * Columns are as wide as their contents. If the screen is too narrow, numbers are left out from the last one on; and if
 * even the first leaves no room for texts, these get lines of their own. */
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
    int width; /* at least, with the blanks before its cells */
};

struct columns_table {
    const struct screen *screen;
    const struct columns_column *columns;
    unsigned column_count;
    const unsigned *order; /* [column_count] which columns get room first; NULL: as they stand */
    unsigned hidden;       /* columns that this table does not have, as bits */
    int gap;       /* each cell has so many blanks before it, for which columns become wider; 0: widths are fixed, and a
                      * cell that is too wide has one blank before it */
    bool has_gaps; /* after a column without room those that come later still get theirs, if they are narrower */
    size_t row_count;
    const void *page; /* what the next two are given */
    void (*format)(const void *page, size_t row, unsigned column, char ret_text[COLUMNS_CELL_SIZE]);
    const char *(*name_of)(const void *page, size_t row, enum ink *ret_ink); /* for columns_print_table() */
    int widths[COLUMNS_MAX];                                                 /* 0: the column is not there */
};

/* Finds which columns there is room for, and how wide they are. left: how wide all may be. Returns what is left of that */
int columns_fit(struct columns_table *table, int left);

/* Prints the titles, or the cells of a row of the first `end` columns, and does not end the line. */
void columns_print_cell_titles(const struct columns_table *table);
void columns_print_cells(const struct columns_table *table, size_t row, unsigned end);

/* How wide the longest name of a row is, or the title of names. */
int columns_name_width(const struct columns_table *table, const char *title);

/* Prints an empty line, and all rows behind their names. Finds the widths. */
void columns_print_table(struct columns_table *table, const char *name_title);

/* ---- Numbers, a name and a text ----------------------------------------------------------------- */

/* A table whose rows are some numbers, a name, and a text that takes the rest of the width, on several lines if it
 * must. Columns are as wide as what is in them. Where the screen is too narrow numbers are left out, the last ones
 * first; and if even the first leaves no room for texts, these are on lines of their own. */

#define COLUMNS_NUMBERS_MAX 4

/* The numbers of a row, as text. */
struct columns_row {
    char numbers[COLUMNS_NUMBERS_MAX][UNITS_TEXT_SIZE];
    const char *name;
};

struct columns {
    const struct screen *screen;
    const char *titles[COLUMNS_NUMBERS_MAX];
    unsigned count;                  /* of numbers */
    unsigned shown;                  /* the first ones */
    int widths[COLUMNS_NUMBERS_MAX]; /* with the blanks before them */
    const char *name_title;
    int name_width;
    int text_column; /* where texts begin; on lines of their own, if that is not behind the name */
};

/* For a table with these titles; those of numbers end with NULL, or are COLUMNS_NUMBERS_MAX. */
void columns_init(struct columns *columns, const struct screen *screen, const char *const *titles,
                  const char *name_title);

/* Makes room for a row. Call it for each row, and then columns_settle(), before anything is printed. */
void columns_measure(struct columns *columns, const struct columns_row *row);
void columns_settle(struct columns *columns);

void columns_print_titles(const struct columns *columns, const char *text_title);

/* Prints a row with its text; text and name may come from a file. ink: of the first number */
void columns_print_row(const struct columns *columns, const struct columns_row *row, enum ink ink, const char *text);

/* A further text of the row, on lines of its own. */
void columns_print_text(const struct columns *columns, enum ink ink, const char *text);

#endif
