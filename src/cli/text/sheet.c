/* Tables: the cells, where there is room for them, and the two writers. */
#include "sheet.h"

#include <assert.h>
#include <limits.h>
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
    bool is_note; /* in the last column, and over all empty ones before it */
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
    table->cells[table->cell_count++] =
        (struct sheet_cell){.text = table->texts.length, .ink = ink, .is_more = is_more};
    str_add_bytes(&table->texts, text, strlen(text) + 1);
}

static bool is_name(const struct sheet_column *column) {
    return column->kind == SHEET_NAME || column->kind == SHEET_PATH;
}

void sheet_add(struct sheet_table *table, const char *text) {
    const struct sheet_column *column = &table->columns[table->next];
    add_cell(table, text, is_name(column) || column->kind == SHEET_GROUP ? INK_STRONG : INK_PLAIN, false);
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

void sheet_add_note(struct sheet_table *table, const char *text) {
    while (table->next < table->column_count - 1)
        sheet_add(table, "");
    sheet_add(table, text);
    if (table->cell_count > 0)
        table->cells[table->cell_count - 1].is_note = true;
}

static const char *text_of(const struct sheet_table *table, const struct sheet_cell *cell) {
    return table->texts.text + cell->text;
}

struct row {
    const struct sheet_cell *cells; /* [columns of the table] */
    const struct sheet_cell *more;
    size_t more_count;
    bool is_of_same_group; /* as the row before */
};

/* Steps over the row at *index. ret_row: the one before. Returns false behind the last one */
static bool next_row(const struct sheet_table *table, size_t *index, struct row *ret_row) {
    if (table->texts.failed || *index >= table->cell_count)
        return false;
    assert(*index + table->column_count <= table->cell_count);
    const struct sheet_cell *before = *index > 0 ? ret_row->cells : NULL;
    *ret_row = (struct row){.cells = table->cells + *index, .more = table->cells + *index + table->column_count};
    *index += table->column_count;
    while (*index < table->cell_count && table->cells[*index].is_more) {
        ret_row->more_count++;
        (*index)++;
    }
    ret_row->is_of_same_group = before && table->columns[0].kind == SHEET_GROUP &&
                                strcmp(text_of(table, before), text_of(table, ret_row->cells)) == 0;
    return true;
}

/* ---- Room --------------------------------------------------------------------------------------- */

/* Where the columns of a table are on a screen. */
struct layout {
    const struct sheet_table *table;
    const struct screen *screen;
    unsigned shown;                /* columns, as bits */
    int widths[SHEET_COLUMNS_MAX]; /* with the blanks before the cells; 0: not shown */
    int texts;                     /* the column of the screen where texts begin */
};

static bool is_at_right(const struct sheet_column *column) {
    return column->kind == SHEET_NUMBER || column->kind == SHEET_WORD;
}

static bool is_line(const struct sheet_column *column) {
    return column->kind == SHEET_LINE || column->kind == SHEET_PLACE || column->kind == SHEET_LIST;
}

static int gap_before(const struct sheet_table *table, unsigned column) {
    if (column == 0 && table->columns[column].width > 0)
        return 0; /* its width indents it */
    if (table->columns[column].gap > 0)
        return table->columns[column].gap;
    if (is_at_right(&table->columns[column]))
        return table->gap;
    return column > 0 ? TEXT_GAP : 0;
}

/* Sets the widths that the contents of columns need. */
static void measure(const struct sheet_table *table, int widths[SHEET_COLUMNS_MAX]) {
    unsigned column = 0;
    for (unsigned i = 0; i < table->column_count; i++) {
        const int wanted = gap_before(table, i) + units_text_columns(table->columns[i].title);
        widths[i] = wanted > table->columns[i].width || is_line(&table->columns[i]) ? wanted : table->columns[i].width;
        if (table->columns[i].kind == SHEET_TEXT)
            widths[i] = TEXT_GAP + TEXT_COLUMNS_MIN;
    }
    for (size_t i = 0; i < table->cell_count && !table->texts.failed; i++) {
        if (table->cells[i].is_more)
            continue;
        const int wanted = gap_before(table, column) + units_text_columns(text_of(table, &table->cells[i]));
        if (table->columns[column].kind != SHEET_TEXT && !table->cells[i].is_note && wanted > widths[column])
            widths[column] = wanted;
        column = (column + 1) % table->column_count;
    }
}

/* Gives a column its width, or less if it can be cut. Returns false if there is no room for it */
static bool make_room(struct layout *layout, unsigned column, int wanted, int *left) {
    const struct sheet_column *of = &layout->table->columns[column];
    if (of->most > 0 && wanted > of->most)
        wanted = of->most;
    if (wanted > *left && !is_name(of)) {
        if (!is_line(of) || *left < of->width)
            return false;
        wanted = *left;
    }
    layout->shown |= 1U << column;
    layout->widths[column] = wanted;
    *left -= wanted;
    return true;
}

/* Names get room before other columns; the last column of the line also gets the rest of the line. */
static struct layout lay_out(const struct sheet_table *table, const struct screen *screen) {
    struct layout layout = {.table = table, .screen = screen, .texts = OWN_LINE_INDENT};
    int wanted[SHEET_COLUMNS_MAX];
    unsigned by_rank[SHEET_COLUMNS_MAX] = {0};
    int left = screen->width;
    assert(table->column_count > 0);
    measure(table, wanted);
    for (unsigned i = 0; i < table->column_count; i++) {
        assert(table->columns[i].rank < table->column_count);
        by_rank[table->columns[i].rank] = i;
        if (is_name(&table->columns[i]) && !(table->hidden & 1U << i))
            make_room(&layout, i, wanted[i], &left);
    }
    for (unsigned rank = 0; rank < table->column_count; rank++)
        if (!((table->hidden | layout.shown) & 1U << by_rank[rank]) &&
            !make_room(&layout, by_rank[rank], wanted[by_rank[rank]], &left) && !table->fills &&
            table->columns[by_rank[rank]].kind != SHEET_GROUP)
            break;
    unsigned last = table->column_count - 1;
    while (last > 0 && !(layout.shown & 1U << last))
        last--;
    const int more = wanted[last] - layout.widths[last];
    if (left > 0)
        layout.widths[last] += more < left ? more : left;
    if (table->columns[last].kind == SHEET_TEXT) {
        layout.texts = TEXT_GAP;
        for (unsigned i = 0; i < last; i++)
            layout.texts += layout.widths[i];
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

/* What there is room for.
 * Owner:   the caller frees it. Returns NULL without memory */
static char *cut(const struct screen *screen, enum sheet_kind kind, const char *text, int columns) {
    char *shown = screen_cut(screen, text, kind == SHEET_LIST ? INT_MAX : columns,
                             kind == SHEET_PATH || kind == SHEET_PLACE ? SCREEN_PATH : SCREEN_BEGINNING);
    while (shown && kind == SHEET_LIST && units_text_columns(shown) > columns) {
        char *end = strrchr(shown, ',');
        *(end ? end : shown) = '\0';
    }
    return shown;
}

/* "file in .../data" of "file in /srv/data"; without room for that "file". Owner: as of cut() */
static char *cut_title(const struct screen *screen, const char *title, int columns) {
    static const char before[] = " in ";
    const char *path = strchr(title, '/');
    char *text = NULL;
    if (!path || units_text_columns(title) <= columns)
        return screen_cut(screen, title, columns, SCREEN_BEGINNING);
    int words = (int)(path - title);
    CLEANUP_FREE char *end = columns - words > 3 ? screen_cut(screen, path, columns - words, SCREEN_END) : NULL;
    if (!end && words > (int)strlen(before)) {
        words -= (int)strlen(before);
        words -= title[words - 1] == ',';
    }
    return asprintf(&text, "%.*s%s", words, title, end ? end : "") < 0 ? NULL : text;
}

/* The name of a group, and a note of its first row, on a line of their own. */
static void print_group(const struct layout *layout, const struct row *row) {
    const struct sheet_cell *last = &row->cells[layout->table->column_count - 1];
    screen_print_untrusted(layout->screen, row->cells[0].ink, text_of(layout->table, row->cells));
    if (last->is_note) {
        putc(' ', layout->screen->stream);
        screen_print_untrusted(layout->screen, last->ink, text_of(layout->table, last));
    }
    putc('\n', layout->screen->stream);
}

static void print_note(const struct layout *layout, int at, const char *text) {
    if (at + TEXT_GAP + units_text_columns(text) > layout->screen->width)
        return;
    fprintf(layout->screen->stream, "%*s", TEXT_GAP, "");
    screen_print_untrusted(layout->screen, INK_PLAIN, text);
}

/* row: NULL: the titles */
static void print_line(const struct layout *layout, const struct row *row) {
    const struct sheet_table *table = layout->table;
    const struct screen *screen = layout->screen;
    int at = 0;  /* where the line ends so far */
    int end = 0; /* of the column */
    const bool has_group_line = table->columns[0].kind == SHEET_GROUP && !(layout->shown & 1U);
    if (row && has_group_line && !row->is_of_same_group)
        print_group(layout, row);
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct sheet_column *column = &table->columns[i];
        const char *text = row ? text_of(table, &row->cells[i]) : column->title;
        const enum ink ink = row ? row->cells[i].ink : INK_FAINT;
        const int begin = end + gap_before(table, i);
        if (column->kind == SHEET_TEXT) {
            go_to(screen, at, layout->texts);
            print_text(layout, ink, text);
            return;
        }
        end += layout->widths[i];
        if (row && row->cells[i].is_note && !has_group_line)
            print_note(layout, at, text);
        if (!(layout->shown & 1U << i) || !text[0] ||
            (row && (row->cells[i].is_note || (i == 0 && row->is_of_same_group))))
            continue;
        const int room = (end < screen->width ? end : screen->width) - begin;
        CLEANUP_FREE char *shown = row ? cut(screen, column->kind, text, room) : cut_title(screen, text, room);
        const int columns = units_text_columns(shown ? shown : "");
        go_to(screen, at, is_at_right(column) ? end - columns : begin);
        screen_print(screen, ink, shown ? shown : "");
        at = is_at_right(column) ? end : begin + columns;
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
    static const enum html_cell cells[] = {
        [SHEET_NUMBER] = HTML_NUMBER, [SHEET_WORD] = HTML_NUMBER, [SHEET_NAME] = HTML_NAME,
        [SHEET_PATH] = HTML_NAME,     [SHEET_LINE] = HTML_TEXT,   [SHEET_LIST] = HTML_TEXT,
        [SHEET_PLACE] = HTML_TEXT,    [SHEET_GROUP] = HTML_NAME,  [SHEET_TEXT] = HTML_TEXT,
    };
    const unsigned last = table->column_count - 1;
    const unsigned first = table->columns[last].kind == SHEET_PATH ? last : 0; /* names are in front here */
    unsigned count = 0;
    html_begin_row(stream);
    for (unsigned place = 0; place <= last; place++) {
        const unsigned i = (first + place) % table->column_count;
        const enum sheet_kind kind = table->columns[i].kind;
        if (table->hidden & 1U << i)
            continue;
        if (row)
            html_put_cell(stream, cells[kind], text_of(table, &row->cells[i]));
        else
            html_put_cell(stream, cells[kind] == HTML_NUMBER ? HTML_NUMBER_TITLE : HTML_TITLE, table->columns[i].title);
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
