/* A page as data: sentences, entries, tables and charts are added as blocks, and laid out when all of them are known: on a
 * terminal, in HTML, or in a part of the screen of osprof top.
 *
 * Invariants:
 *   - Texts are copied. They may come from a file: a terminal obeys none of their characters, and none is markup in HTML.
 *   - Cells of a table are added row by row, from the left to the right; after the last column the next row begins. Before
 *     the page is printed the last row is full.
 *   - The kind of a column decides how its cells are aligned and cut. A title that ends in " in " and an absolute path keeps
 *     the path's end if it is too long.
 *   - A column is as wide as its contents, and at least as wide as it says. On a screen that is too narrow columns give way:
 *     they get room in the order of their ranks. A browser shows all of them.
 *   - Without memory the page is empty: functions that add need no check.
 *
 * Life cycle: CLEANUP_SHEET struct sheet sheet = sheet_of(&screen, hz); add to it; sheet_print(), which empties it. */
#ifndef SHEET_H
#define SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "chart.h"
#include "screen.h"
#include "str.h"
#include "units.h"

/* What is true of all of a table. */
struct sheet_table {
    unsigned hidden;  /* columns to leave out, as bits; their cells are added, too */
    unsigned ordered; /* the columns by which rows are in order, as bits: their titles are in INK_STRONG */
    int gap;          /* blanks before a number, at least; 2 at first */
    bool fills;       /* behind a column without room, narrower ones of higher ranks are still shown */
    size_t marked;    /* a row, counted from 1; 0: none */
    bool is_markdown; /* its texts are free of markup */
};

/* Private to the writers. */
struct sheet_block;
struct sheet_cell;

struct sheet {
    struct screen screen;                  /* on which it will be */
    struct units units;                    /* of times */
    const struct chart_pictures *pictures; /* of HTML; NULL: there are none */

    /* Of the blocks that are added from now on. */
    unsigned rank;      /* the step of sheet_fit() in which they give way; 0: never */
    unsigned from;      /* the one in which they appear */
    unsigned only_with; /* columns of the table before, as bits: there only if one of these is shown; 0: always */

    struct str texts; /* private, as those below */
    struct sheet_block *blocks;
    size_t block_count;
    size_t block_room;
    struct sheet_cell *cells;
    size_t cell_count;
    size_t cell_room;
    unsigned step;              /* of sheet_fit() */
    struct sheet_table nowhere; /* of a table without memory */
};

#define CLEANUP_SHEET __attribute__((cleanup(sheet_finish)))

/* frequency_hz: of the clock of latencies; 0: unknown */
struct sheet sheet_of(const struct screen *screen, uint64_t frequency_hz);
void sheet_finish(struct sheet *sheet);

/* Leaves out blocks by their ranks, the lowest first, until a terminal needs at most so many lines. */
void sheet_fit(struct sheet *sheet, unsigned lines_max);

/* Prints the page on its screen, and empties it. */
void sheet_print(struct sheet *sheet);

/* ---- Blocks -------------------------------------------------------------------------------------- */

enum sheet_form {
    FORM_LINE,     /* a line, which is not broken */
    FORM_HEADING,  /* a line behind an empty one; a heading in HTML */
    FORM_TITLE,    /* the same, with a colon */
    FORM_SENTENCE, /* words on one line or more; further lines are indented once more */
    FORM_WORDS,    /* the same, but further lines by two blanks */
    FORM_TEXT,     /* as a sentence, but what is too long for a line is broken, too */
    FORM_KEYED,    /* a key, and a line */
    FORM_ENTRY,    /* a key, and a text */
    FORM_LIST,     /* a key, and items with ", " between them: those without room are left out */
    FORM_GAP,      /* an empty line; of several there is one, and none at the end of the page */
    FORM_COMMAND,  /* not in HTML */
    FORM_TABLE,
    FORM_CHART,   /* not in HTML */
    FORM_PICTURE, /* in HTML only */
};

void sheet_put(struct sheet *sheet, enum sheet_form form, enum ink ink, int indent, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#define sheet_line(sheet, indent, ...) sheet_put(sheet, FORM_LINE, INK_PLAIN, indent, __VA_ARGS__)
#define sheet_sentence(sheet, indent, ...) sheet_put(sheet, FORM_SENTENCE, INK_PLAIN, indent, __VA_ARGS__)
#define sheet_warning(sheet, ...) sheet_put(sheet, FORM_SENTENCE, INK_WARNING, 0, __VA_ARGS__)
#define sheet_legend(sheet, ...) sheet_put(sheet, FORM_SENTENCE, INK_FAINT, 0, __VA_ARGS__)
#define sheet_text(sheet, indent, ...) sheet_put(sheet, FORM_TEXT, INK_PLAIN, indent, __VA_ARGS__)
#define sheet_heading(sheet, ...) sheet_put(sheet, FORM_HEADING, INK_STRONG, 0, __VA_ARGS__)
#define sheet_title(sheet, ...) sheet_put(sheet, FORM_TITLE, INK_PLAIN, 0, __VA_ARGS__)
void sheet_gap(struct sheet *sheet);

/* Adds an entry, or a line with a key. */
void sheet_entry(struct sheet *sheet, enum sheet_form form, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Continues a line or heading, in another ink. */
void sheet_span(struct sheet *sheet, enum ink ink, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Begins a list, and adds an item to it. The counts of items without room, and `others`, are in the last item: "others 3".
 * lines: of a terminal with 80 columns; on a narrow one there are more */
void sheet_list(struct sheet *sheet, const char *key, int lines, wide_count others);
void sheet_item(struct sheet *sheet, wide_count count, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A recommended command, and why, if there is room. The first of several has a key.
 * argument: its last one; stands_for: its placeholder, for a screen on which it does not fit */
void sheet_command(struct sheet *sheet, const char *command, const char *argument, const char *stands_for,
                   const char *why);

/* A chart of an operation, or of two of them side by side; with a row for each bucket if there is no axis. The operations
 * stay the caller's, until the page is printed. caption: NULL: none */
void sheet_chart(struct sheet *sheet, const char *caption, const struct chart_axis *axis, unsigned resolution,
                 const struct aggstats_op_profile *op, const struct aggstats_op_profile *beside);

/* What HTML has instead. */
void sheet_picture(struct sheet *sheet, const char *op);

/* ---- Tables -------------------------------------------------------------------------------------- */

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
    unsigned rank;             /* columns get room in this order, from 0; no two have the same */
    int width;                 /* minimum, with the blanks before the cells; a line whose cells are all shorter becomes
                                * narrower, if this is not its maximum, too */
    int most;                  /* maximum of a name or line that is not the last column; 0: none */
    int gap;                   /* blanks before the cells; 0: those of the table */
    const char *title_in_html; /* NULL: the same */
};

/* Begins a table. columns: are copied. What is returned may be changed until another block begins */
struct sheet_table *sheet_table(struct sheet *sheet, const struct sheet_column *columns, size_t count);
#define SHEET_TABLE(sheet, columns) sheet_table(sheet, columns, ARRAY_SIZE(columns))

/* Add the next cell. A NAN is not known, and becomes "-". Names are in INK_STRONG, other cells in INK_PLAIN. */
void sheet_add(struct sheet *sheet, const char *text);
void sheet_addf(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_add_count(struct sheet *sheet, wide_count count);
void sheet_add_share(struct sheet *sheet, double share);
void sheet_add_cycles(struct sheet *sheet, double cycles);
void sheet_add_seconds(struct sheet *sheet, double seconds);

/* Ends the row with a text that replaces its remaining cells. A terminal without room for the text leaves it out. */
void sheet_add_note(struct sheet *sheet, const char *text);

/* Sets the ink of the cell that was added last. */
void sheet_ink(struct sheet *sheet, enum ink ink);

/* Adds a further text to the last row: on lines of its own, below the column of texts. */
void sheet_add_more(struct sheet *sheet, enum ink ink, const char *text);

#endif
