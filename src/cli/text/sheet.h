/* A table of a page: cells are added as data, and laid out when all cells are known.
 *
 * Invariants:
 *   - Cells are added row by row, from the left to the right; after the last column the next row begins. Before a table is
 *     printed its last row is full.
 *   - The kind of a column decides how its cells are aligned and cut. Cells may come from a file: a terminal obeys none of
 *     their characters, and none is markup in HTML. Titles are texts of ours, or paths.
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
    SHEET_WORD,   /* at the right; in Markdown at the left */
    SHEET_NAME,   /* the subject of the row: never left out, cut only at the end of the screen */
    SHEET_PATH,   /* a name that is a path: its last components are kept */
    SHEET_GROUP, /* the first column: a name that neighbouring rows share. A terminal shows it once; on a line of its own if
                   * columns of lower ranks leave no room for it */
    SHEET_LINE,  /* a text on one line; may be cut down to the column's width */
    SHEET_PLACE, /* a path on one line: its last components are kept */
    SHEET_LIST,  /* members on one line, with ", " between them: members without room are left out */
    SHEET_TEXT,  /* the last column: a text that takes the rest of the line and further lines. Without room beside the
                   * other columns, it is on lines of its own */
};

struct sheet_column {
    const char *title;
    enum sheet_kind kind;
    unsigned rank; /* columns get room in this order, from 0; no two have the same */
    int width;     /* minimum, with the blanks before the cells; a line whose cells are all shorter becomes narrower */
    int most;      /* maximum of a name or line that is not the last column; 0: none */
    int gap;       /* blanks before the cells; 0: those of the table */
};

struct sheet_cell; /* private */

struct sheet_table {
    const struct sheet_column *columns;
    unsigned column_count;
    const struct units *units; /* of times */
    unsigned hidden;           /* columns to leave out, as bits; their cells are added, too */
    int gap;                   /* blanks before a number, at least */
    bool fills;                /* behind a column without room, narrower ones of higher ranks are still shown */
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

/* Add the next cell. A NAN is not known, and becomes "-". Names are in INK_STRONG, other cells in INK_PLAIN. */
void sheet_add(struct sheet_table *table, const char *text);
void sheet_addf(struct sheet_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_add_count(struct sheet_table *table, wide_count count);
void sheet_add_share(struct sheet_table *table, double share);
void sheet_add_cycles(struct sheet_table *table, double cycles);
void sheet_add_seconds(struct sheet_table *table, double seconds);

/* Ends the row with a text that replaces its remaining cells. A terminal without room for the text leaves it out. */
void sheet_add_note(struct sheet_table *table, const char *text);

/* Sets the ink of the cell that was added last. */
void sheet_ink(struct sheet_table *table, enum ink ink);

/* Adds a further text to the last row: on lines of its own, below the column of texts. */
void sheet_add_more(struct sheet_table *table, enum ink ink, const char *text);

/* Prints titles and rows on a terminal or in HTML.
 * Returns the columns that are shown, as bits */
unsigned sheet_print(const struct sheet_table *table, const struct screen *screen);

/* Prints all columns as a table in Markdown. Texts must be free of its markup. */
void sheet_print_markdown(const struct sheet_table *table, FILE *stream);

#endif
