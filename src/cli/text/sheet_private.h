/* What the writers of a page see of it: its blocks and cells. */
#ifndef SHEET_PRIVATE_H
#define SHEET_PRIVATE_H

#include "sheet.h"

struct sheet_cell {
    size_t text; /* where it begins in the page's texts */
    wide_count count;
    enum ink ink;
    bool is_more; /* of a table: not in a column, a further text of the row before it */
    bool is_note; /* in the last column, and over all empty ones before it */
};

struct sheet_block {
    enum sheet_form form;
    int indent;
    unsigned rank;
    unsigned from;
    unsigned only_with;
    size_t first; /* of its cells, which end where those of the next block begin. The first of a table are its titles */
    size_t lines; /* on a terminal; 0: not counted yet */
    int list_lines;   /* of a list */
    wide_count count; /* of a list: others */
    struct sheet_column *columns;
    unsigned column_count;
    unsigned next; /* the column of the next cell */
    struct sheet_table table;
    struct chart_axis axis;
    unsigned resolution;
    const struct aggstats_op_profile *ops[2]; /* of a chart */
};

struct sheet_row {
    const struct sheet_cell *cells; /* [columns of the table] */
    const struct sheet_cell *more;
    size_t more_count;
    size_t number;
    bool is_of_same_group; /* as the row before */
};

static inline const char *sheet_text_of(const struct sheet *sheet, const struct sheet_cell *cell) {
    return sheet->texts.text + cell->text;
}

/* Behind the last cell. */
const struct sheet_cell *sheet_block_end(const struct sheet *sheet, const struct sheet_block *block);

/* Steps over the rows of a table. A zeroed row is before the first. Returns false behind the last */
bool sheet_next_row(const struct sheet *sheet, const struct sheet_block *block, struct sheet_row *row);

/* Whether a terminal shows something of it; and prints it. has_key: a command has it. Returns columns of a table, as bits */
bool sheet_terminal_shows(const struct sheet *sheet, const struct sheet_block *block);
unsigned sheet_terminal_put(const struct sheet *sheet, const struct screen *screen, const struct sheet_block *block,
                            bool has_key);

/* Puts it into HTML. Returns the same */
unsigned sheet_html_put(const struct sheet *sheet, const struct sheet_block *block);

#endif
