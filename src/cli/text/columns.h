/* A table whose rows are some numbers, a name, and a text that takes the rest of the width, on several lines if needed.
 * Columns are as wide as their contents. If the screen is too narrow, numbers are left out from the last one on; and if
 * even the first leaves no room for texts, these get lines of their own. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "screen.h"
#include "units.h"

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
