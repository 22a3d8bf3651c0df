/* A table of a page: cells are added as data, and laid out when all of them are known.
 *
 * Invariants:
 *   - Cells are added row by row, from the left to the right; after the last column the next row begins. Before a table is
 *     printed its last row is full.
 *   - The column says what its cells are, and by that how they are aligned, cut and escaped. Titles and numbers are texts of
 *     ours; all others may come from a file: a terminal obeys none of them, and none is markup.
 *   - A title that ends in " in " and an absolute path keeps the path's end if it is too long.
 *   - A column is as wide as its contents, and at least as wide as it says. On a screen that is too narrow columns give way:
 *     they get room in the order of their ranks. A browser shows all of them.
 *   - Without memory the table has no rows: functions that add need no check.
 *
 * Life cycle: CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(columns, units); add cells; sheet_print(). */
#ifndef SHEET_H
#define SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "screen.h"
#include "str.h"
#include "units.h"

#define SHEET_COLUMNS_MAX 16

enum sheet_kind {
    SHEET_NUMBER, /* at the right */
    SHEET_WORD,   /* likewise, but no figure: in Markdown at the left */
    SHEET_NAME,   /* what the row is about; never left out, cut if it is too long for a line of its own */
    SHEET_PATH,   /* a name of which rather the end is kept */
    SHEET_GROUP, /* the first column: a name of this row and of those after it that have the same; on a terminal it stands
                   * once, on a line of its own if there is no room for it beside the columns of lower ranks */
    SHEET_LINE,  /* a text that is cut to the room there is, but not below the column's width */
    SHEET_PLACE, /* likewise a path, of which rather the end is kept */
    SHEET_LIST,  /* likewise, with ", " between its members, of which those that fit are shown */
    SHEET_TEXT,  /* the last column: gets the rest of the line, and more lines if it needs them. Without room beside the
                   * others, all of it is on lines of its own */
};

struct sheet_column {
    const char *title;
    enum sheet_kind kind;
    unsigned rank; /* 0 gets room first; each rank once */
    int width;     /* minimum, including the blanks before the cells; of a line: unless all cells are shorter */
    int most;      /* of a name or line, unless it is at the end of the line; 0: as wide as its contents */
    int gap;       /* blanks before its cells; 0: those of the table */
};

struct sheet_cell; /* private */

struct sheet_table {
    const struct sheet_column *columns;
    unsigned column_count;
    const struct units *units; /* of times */
    unsigned hidden;           /* columns to leave out, as bits; their cells are added, too */
    int gap;                   /* blanks before a number, at least */
    bool fills;                /* if a column has no room, those after it are still shown if they have */
    struct str texts;          /* private, as those below */
    struct sheet_cell *cells;
    size_t cell_count;
    size_t cell_room;
    unsigned next; /* the column of the next cell */
};

#define SHEET_TABLE(table_columns, of_times)                                                                           \
    { .columns = (table_columns), .column_count = ARRAY_SIZE(table_columns), .units = (of_times), .gap = 2 }
#define CLEANUP_SHEET __attribute__((cleanup(sheet_finish)))

void sheet_finish(struct sheet_table *table);

/* Add the next cell. What is not known, a NAN, is "-". Names are in INK_STRONG, the
 * others in INK_PLAIN. */
void sheet_add(struct sheet_table *table, const char *text);
void sheet_addf(struct sheet_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_add_count(struct sheet_table *table, wide_count count);
void sheet_add_share(struct sheet_table *table, double share);
void sheet_add_cycles(struct sheet_table *table, double cycles);
void sheet_add_seconds(struct sheet_table *table, double seconds);

/* Fills the row with a text in place of all cells that are left of it. It is left out where it has no room. */
void sheet_add_note(struct sheet_table *table, const char *text);

/* Sets the ink of the cell that was added last. */
void sheet_ink(struct sheet_table *table, enum ink ink);

/* Adds a further text to the row that was added last: on lines of its own, below the column of texts. */
void sheet_add_more(struct sheet_table *table, enum ink ink, const char *text);

/* Prints titles and rows.
 * Returns the columns that are shown, as bits */
unsigned sheet_print(const struct sheet_table *table, const struct screen *screen);

/* Prints all columns as a table in Markdown. Texts must be free of its markup. */
void sheet_print_markdown(const struct sheet_table *table, FILE *stream);

#endif
