/* Tables: the cells, where there is room for them, and the two writers. */
#include "sheet.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "html.h"

#define TEXT_GAP 2
#define TEXT_COLUMNS_MIN 16
#define OWN_LINE_INDENT 4
#define CELLS_MIN 64

struct sheet_cell {
    size_t text; /* where it begins in the table's texts */
    enum ink ink;
    bool is_more; /* not in a column: a further text of the row before it */
};

/* ---- Cells -------------------------------------------------------------------------------------- */

void sheet_finish(struct sheet_table *table) {
    str_finish(&table->texts);
    free(table->cells);
    table->cells = NULL;
    table->cell_count = table->cell_room = 0;
}

static void add_cell(struct sheet_table *table, const char *text, enum ink ink, bool is_more) {
    if (table->cell_count == table->cell_room) {
        const size_t room = table->cell_room > 0 ? 2 * table->cell_room : CELLS_MIN;
        struct sheet_cell *cells = realloc(table->cells, room * sizeof(*cells));
        if (!cells) {
            table->texts.failed = true;
            return;
        }
        table->cells = cells;
        table->cell_room = room;
    }
    table->cells[table->cell_count++] = (struct sheet_cell){table->texts.length, ink, is_more};
    str_add_bytes(&table->texts, text, strlen(text) + 1);
}

void sheet_add(struct sheet_table *table, const char *text) {
    add_cell(table, text, table->columns[table->next].kind == SHEET_NAME ? INK_STRONG : INK_PLAIN, false);
    table->next = (table->next + 1) % table->column_count;
}

void sheet_addf(struct sheet_table *table, const char *format, ...) {
    va_list arguments;
    CLEANUP_FREE char *text = NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    sheet_add(table, text ? text : "");
}

void sheet_add_count(struct sheet_table *table, wide_count count) {
    sheet_add(table, units_count(count).text);
}

void sheet_add_share(struct sheet_table *table, double share) {
    sheet_add(table, isnan(share) ? "-" : units_share(share).text);
}

void sheet_add_cycles(struct sheet_table *table, double cycles) {
    sheet_add(table, isnan(cycles) ? "-" : units_cycles(table->units, cycles).text);
}

void sheet_add_seconds(struct sheet_table *table, double seconds) {
    sheet_add(table, isnan(seconds) ? "-" : units_seconds(table->units, seconds).text);
}

void sheet_ink(struct sheet_table *table, enum ink ink) {
    if (table->cell_count > 0)
        table->cells[table->cell_count - 1].ink = ink;
}

void sheet_add_more(struct sheet_table *table, enum ink ink, const char *text) {
    add_cell(table, text, ink, true);
}

static const char *text_of(const struct sheet_table *table, const struct sheet_cell *cell) {
    return table->texts.text + cell->text;
}

struct row {
    const struct sheet_cell *cells; /* [columns of the table] */
    const struct sheet_cell *more;
    size_t more_count;
};

/* Steps over the row at *index. Returns false behind the last one */
static bool next_row(const struct sheet_table *table, size_t *index, struct row *ret_row) {
    if (table->texts.failed || *index >= table->cell_count)
        return false;
    assert(*index + table->column_count <= table->cell_count);
    *ret_row = (struct row){.cells = table->cells + *index, .more = table->cells + *index + table->column_count};
    *index += table->column_count;
    while (*index < table->cell_count && table->cells[*index].is_more) {
        ret_row->more_count++;
        (*index)++;
    }
    return true;
}

/* ---- Room --------------------------------------------------------------------------------------- */

/* Where the columns of a table are on a screen. */
struct layout {
    const struct sheet_table *table;
    const struct screen *screen;
    unsigned shown;                /* columns, as bits */
    int widths[SHEET_COLUMNS_MAX]; /* with the blanks before the cells */
    int texts;                     /* the column of the screen where texts begin */
};

static bool is_at_right(const struct sheet_column *column) {
    return column->kind == SHEET_NUMBER || column->kind == SHEET_WORD;
}

static int gap_before(const struct sheet_table *table, unsigned column) {
    if (is_at_right(&table->columns[column]))
        return table->gap;
    return column > 0 ? TEXT_GAP : 0;
}

static void measure(struct layout *layout) {
    const struct sheet_table *table = layout->table;
    unsigned column = 0;
    for (unsigned i = 0; i < table->column_count; i++) {
        const int wanted = gap_before(table, i) + units_text_columns(table->columns[i].title);
        layout->widths[i] = wanted > table->columns[i].width ? wanted : table->columns[i].width;
        if (table->columns[i].kind == SHEET_TEXT)
            layout->widths[i] = TEXT_GAP + TEXT_COLUMNS_MIN;
    }
    for (size_t i = 0; i < table->cell_count && !table->texts.failed; i++) {
        if (table->cells[i].is_more)
            continue;
        const int wanted = gap_before(table, column) + units_text_columns(text_of(table, &table->cells[i]));
        if (table->columns[column].kind != SHEET_TEXT && wanted > layout->widths[column])
            layout->widths[column] = wanted;
        column = (column + 1) % table->column_count;
    }
}

/* Columns get room in the order of their ranks; names have theirs before. */
static struct layout lay_out(const struct sheet_table *table, const struct screen *screen) {
    struct layout layout = {.table = table, .screen = screen, .texts = OWN_LINE_INDENT};
    unsigned by_rank[SHEET_COLUMNS_MAX] = {0};
    int left = screen->width;
    measure(&layout);
    for (unsigned i = 0; i < table->column_count; i++) {
        by_rank[table->columns[i].rank] = i;
        if (table->columns[i].kind == SHEET_NAME) {
            layout.shown |= 1U << i;
            left -= layout.widths[i];
        }
    }
    for (unsigned rank = 0; rank < table->column_count; rank++) {
        const unsigned column = by_rank[rank];
        if ((table->hidden | layout.shown) & 1U << column)
            continue;
        if (layout.widths[column] > left && !table->fills)
            break;
        if (layout.widths[column] > left)
            continue;
        layout.shown |= 1U << column;
        left -= layout.widths[column];
    }
    const unsigned last = table->column_count - 1;
    if (table->columns[last].kind == SHEET_TEXT && layout.shown & 1U << last) {
        layout.texts = TEXT_GAP;
        for (unsigned i = 0; i < last; i++)
            layout.texts += layout.shown & 1U << i ? layout.widths[i] : 0;
    }
    return layout;
}

/* ---- On a terminal ------------------------------------------------------------------------------ */

/* Goes to a column of the line, or of the next one if that is behind it. */
static void go_to(const struct screen *screen, int at, int column) {
    if (at > column)
        at = fprintf(screen->stream, "\n") - 1;
    fprintf(screen->stream, "%*s", column - at, "");
}

static void print_text(const struct layout *layout, enum ink ink, const char *text) {
    if (ink != INK_PLAIN)
        screen_ink(layout->screen, ink);
    screen_print_wrapped(layout->screen, layout->texts, layout->texts, text);
    if (ink != INK_PLAIN)
        screen_ink(layout->screen, INK_PLAIN);
}

/* row: NULL: the titles */
static void print_line(const struct layout *layout, const struct row *row) {
    const struct sheet_table *table = layout->table;
    const struct screen *screen = layout->screen;
    int at = 0; /* the end of what was printed */
    int end = 0;
    for (unsigned i = 0; i < table->column_count; i++) {
        const char *text = row ? text_of(table, &row->cells[i]) : table->columns[i].title;
        const enum ink ink = row ? row->cells[i].ink : INK_FAINT;
        const int begin = end + gap_before(table, i);
        if (table->columns[i].kind == SHEET_TEXT) {
            go_to(screen, at, layout->texts);
            print_text(layout, ink, text);
            return;
        }
        if (!(layout->shown & 1U << i))
            continue;
        end += layout->widths[i];
        if (!text[0])
            continue;
        CLEANUP_FREE char *shown = screen_cut(screen, text, screen->width - begin, SCREEN_BEGINNING);
        const int columns = units_text_columns(shown ? shown : "");
        go_to(screen, at, is_at_right(&table->columns[i]) ? end - columns : begin);
        screen_print(screen, ink, shown ? shown : "");
        at = is_at_right(&table->columns[i]) ? end : begin + columns;
    }
    putc('\n', screen->stream);
}

static unsigned print_table(const struct sheet_table *table, const struct screen *screen) {
    const struct layout layout = lay_out(table, screen);
    struct row row;
    print_line(&layout, NULL);
    for (size_t i = 0; next_row(table, &i, &row);) {
        print_line(&layout, &row);
        for (size_t more = 0; more < row.more_count; more++) {
            fprintf(screen->stream, "%*s", layout.texts, "");
            print_text(&layout, row.more[more].ink, text_of(table, &row.more[more]));
        }
    }
    return layout.shown;
}

/* ---- In a browser ------------------------------------------------------------------------------- */

/* row: NULL: the titles. Returns the number of columns before the last one */
static unsigned put_row(const struct sheet_table *table, FILE *stream, const struct row *row) {
    static const enum html_cell titles[] = {HTML_NUMBER_TITLE, HTML_NUMBER_TITLE, HTML_TITLE, HTML_TITLE};
    static const enum html_cell cells[] = {HTML_NUMBER, HTML_NUMBER, HTML_NAME, HTML_TEXT};
    unsigned count = 0;
    html_begin_row(stream);
    for (unsigned i = 0; i < table->column_count; i++) {
        const enum sheet_kind kind = table->columns[i].kind;
        if (table->hidden & 1U << i)
            continue;
        if (row)
            html_put_cell(stream, cells[kind], text_of(table, &row->cells[i]));
        else
            html_put_cell(stream, titles[kind], table->columns[i].title);
        count++;
    }
    html_end_row(stream);
    return count - 1;
}

static void put_table(const struct sheet_table *table, FILE *stream) {
    struct row row;
    html_begin_table(stream);
    const unsigned before_last = put_row(table, stream, NULL);
    for (size_t i = 0; next_row(table, &i, &row);) {
        put_row(table, stream, &row);
        for (size_t more = 0; more < row.more_count; more++) {
            fprintf(stream, "<tr class=\"more\"><td colspan=\"%u\"></td><td>", before_last);
            html_put(stream, text_of(table, &row.more[more]));
            fputs("</td></tr>\n", stream);
        }
    }
    html_end_table(stream);
}

unsigned sheet_print(const struct sheet_table *table, const struct screen *screen) {
    if (!screen->html)
        return print_table(table, screen);
    put_table(table, screen->stream);
    return ~table->hidden;
}

/* ---- In Markdown -------------------------------------------------------------------------------- */

/* row: NULL: the titles, and the line below them */
static void put_markdown_row(const struct sheet_table *table, FILE *stream, const struct row *row) {
    putc('|', stream);
    for (unsigned i = 0; i < table->column_count; i++)
        if (!(table->hidden & 1U << i))
            fprintf(stream, " %s |", row ? text_of(table, &row->cells[i]) : table->columns[i].title);
    if (!row)
        fputs("\n|", stream);
    for (unsigned i = 0; i < table->column_count && !row; i++)
        if (!(table->hidden & 1U << i))
            fputs(table->columns[i].kind == SHEET_NUMBER ? "---:|" : "---|", stream);
    putc('\n', stream);
}

void sheet_print_markdown(const struct sheet_table *table, FILE *stream) {
    struct row row;
    put_markdown_row(table, stream, NULL);
    for (size_t i = 0; next_row(table, &i, &row);)
        put_markdown_row(table, stream, &row);
}
