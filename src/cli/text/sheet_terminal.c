/* Pages on a terminal, and tables in Markdown: where there is room for columns, and what of a text fits. */
#include "sheet_private.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define TEXT_GAP 2
#define TEXT_COLUMNS_MIN 16
#define OWN_LINE_INDENT 4

/* ---- Room --------------------------------------------------------------------------------------- */

/* Where the columns of a table are on a screen. */
struct layout {
    const struct sheet *sheet;
    const struct sheet_block *block;
    const struct screen *screen;
    unsigned shown;                /* columns, as bits */
    int widths[SHEET_COLUMNS_MAX]; /* with the blanks before the cells; 0: not shown */
    int texts;                     /* the column of the screen where texts begin */
};

static bool is_name(const struct sheet_column *column) {
    return column->kind == SHEET_NAME || column->kind == SHEET_PATH;
}

static bool is_at_right(const struct sheet_column *column) {
    return column->kind == SHEET_NUMBER || column->kind == SHEET_WORD;
}

static bool is_line(const struct sheet_column *column) {
    return column->kind == SHEET_LINE || column->kind == SHEET_PLACE || column->kind == SHEET_LIST;
}

static int gap_before(const struct sheet_block *block, unsigned column) {
    if (block->columns[column].gap > 0)
        return block->columns[column].gap;
    if (column == 0 && block->columns[column].width > 0)
        return 0; /* its width indents it */
    if (is_at_right(&block->columns[column]))
        return block->table.gap;
    return column > 0 ? TEXT_GAP : 0;
}

/* Sets the widths that titles and cells need. */
static void measure(const struct sheet *sheet, const struct sheet_block *block, int widths[SHEET_COLUMNS_MAX]) {
    struct sheet_row row = {0};
    for (unsigned i = 0; i < block->column_count; i++) {
        const struct sheet_column *column = &block->columns[i];
        widths[i] = gap_before(block, i) + units_text_columns(sheet_text_of(sheet, &sheet->cells[block->first + i]));
        if (column->kind == SHEET_TEXT)
            widths[i] = TEXT_GAP + TEXT_COLUMNS_MIN;
        else if (widths[i] < column->width && (!is_line(column) || column->most == column->width))
            widths[i] = column->width;
    }
    while (sheet_next_row(sheet, block, &row))
        for (unsigned i = 0; i < block->column_count; i++) {
            const int wanted = gap_before(block, i) + units_text_columns(sheet_text_of(sheet, &row.cells[i]));
            if (block->columns[i].kind != SHEET_TEXT && !row.cells[i].is_note && wanted > widths[i])
                widths[i] = wanted;
        }
}

/* Gives a column its width, or less if it can be cut. Returns false if there is no room for it */
static bool make_room(struct layout *layout, unsigned column, int wanted, int *left) {
    const struct sheet_column *of = &layout->block->columns[column];
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
static struct layout lay_out(const struct sheet *sheet, const struct screen *screen, const struct sheet_block *block) {
    struct layout layout = {.sheet = sheet, .block = block, .screen = screen, .texts = OWN_LINE_INDENT};
    const struct sheet_column *columns = block->columns;
    const unsigned hidden = block->table.hidden;
    int wanted[SHEET_COLUMNS_MAX];
    unsigned by_rank[SHEET_COLUMNS_MAX] = {0};
    int left = screen->width;
    assert(block->column_count > 0);
    measure(sheet, block, wanted);
    for (unsigned i = 0; i < block->column_count; i++) {
        assert(columns[i].rank < block->column_count);
        by_rank[columns[i].rank] = i;
        if (is_name(&columns[i]) && !(hidden & 1U << i))
            make_room(&layout, i, wanted[i], &left);
    }
    for (unsigned rank = 0; rank < block->column_count; rank++)
        if (!((hidden | layout.shown) & 1U << by_rank[rank]) &&
            !make_room(&layout, by_rank[rank], wanted[by_rank[rank]], &left) && !block->table.fills &&
            columns[by_rank[rank]].kind != SHEET_GROUP)
            break;
    unsigned last = block->column_count - 1;
    while (last > 0 && !(layout.shown & 1U << last))
        last--;
    const int more = wanted[last] - layout.widths[last];
    if (left > 0)
        layout.widths[last] += more < left ? more : left;
    if (columns[last].kind == SHEET_TEXT) {
        layout.texts = TEXT_GAP;
        for (unsigned i = 0; i < last; i++)
            layout.texts += layout.widths[i];
    }
    return layout;
}

/* ---- Rows --------------------------------------------------------------------------------------- */

/* Goes to a column of the line, or of the next one if that is behind it. */
static void go_to(const struct screen *screen, int at, int column) {
    if (at > column)
        at = fprintf(screen->stream, "\n") - 1;
    fprintf(screen->stream, "%*s", column - at, "");
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
static void put_group(const struct layout *layout, const struct sheet_row *row) {
    const struct sheet_cell *last = &row->cells[layout->block->column_count - 1];
    screen_print_untrusted(layout->screen, row->cells[0].ink, sheet_text_of(layout->sheet, row->cells));
    if (last->is_note) {
        putc(' ', layout->screen->stream);
        screen_print_untrusted(layout->screen, last->ink, sheet_text_of(layout->sheet, last));
    }
    putc('\n', layout->screen->stream);
}

/* row: NULL: the titles */
static void put_row(const struct layout *layout, const struct sheet_row *row) {
    const struct sheet_block *block = layout->block;
    const struct screen *screen = layout->screen;
    const struct sheet_cell *cells = row ? row->cells : layout->sheet->cells + block->first;
    const bool has_group_line = block->columns[0].kind == SHEET_GROUP && !(layout->shown & 1U);
    int at = 0;  /* where the line ends so far */
    int end = 0; /* of the column */
    if (row && has_group_line && !row->is_of_same_group)
        put_group(layout, row);
    if (row && block->table.marked == row->number + 1) {
        screen_print(screen, INK_STRONG, ">");
        at = 1;
    }
    for (unsigned i = 0; i < block->column_count; i++) {
        const struct sheet_column *column = &block->columns[i];
        const char *text = sheet_text_of(layout->sheet, &cells[i]);
        const enum ink title_ink = block->table.ordered & (1U << i) ? INK_STRONG : INK_FAINT;
        const enum ink ink = row ? cells[i].ink : title_ink;
        const int begin = end + gap_before(block, i);
        if (column->kind == SHEET_TEXT) {
            go_to(screen, at, layout->texts);
            screen_print_wrapped(screen, ink, layout->texts, layout->texts, text);
            return;
        }
        end += layout->widths[i];
        if (row && cells[i].is_note && !has_group_line && at + TEXT_GAP + units_text_columns(text) <= screen->width) {
            fprintf(screen->stream, "%*s", TEXT_GAP, "");
            screen_print_untrusted(screen, INK_PLAIN, text);
        }
        if (!(layout->shown & 1U << i) || !text[0] || (row && (cells[i].is_note || (i == 0 && row->is_of_same_group))))
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

static unsigned put_table(const struct sheet *sheet, const struct screen *screen, const struct sheet_block *block) {
    const struct layout layout = lay_out(sheet, screen, block);
    struct sheet_row row = {0};
    put_row(&layout, NULL);
    while (sheet_next_row(sheet, block, &row)) {
        put_row(&layout, &row);
        for (size_t more = 0; more < row.more_count; more++) {
            fprintf(screen->stream, "%*s", layout.texts, "");
            screen_print_wrapped(screen, row.more[more].ink, layout.texts, layout.texts,
                                 sheet_text_of(sheet, &row.more[more]));
        }
    }
    return layout.shown;
}

/* A row of cells, or the titles and the line below them. */
static void put_markdown_row(const struct sheet *sheet, const struct sheet_block *block, const struct sheet_cell *cells,
                             bool are_titles) {
    FILE *stream = sheet->screen.stream;
    putc('|', stream);
    for (unsigned i = 0; i < block->column_count; i++)
        if (!(block->table.hidden & 1U << i))
            fprintf(stream, " %s |", sheet_text_of(sheet, &cells[i]));
    if (are_titles)
        fputs("\n|", stream);
    for (unsigned i = 0; i < block->column_count && are_titles; i++)
        if (!(block->table.hidden & 1U << i))
            fputs(block->columns[i].kind == SHEET_NUMBER ? "---:|" : "---|", stream);
    putc('\n', stream);
}

static unsigned put_markdown(const struct sheet *sheet, const struct sheet_block *block) {
    struct sheet_row row = {0};
    put_markdown_row(sheet, block, sheet->cells + block->first, true);
    while (sheet_next_row(sheet, block, &row))
        put_markdown_row(sheet, block, row.cells, false);
    return ~block->table.hidden;
}

/* ---- Other blocks ------------------------------------------------------------------------------- */

/* The last of the list has what had no room. */
static void put_list(const struct sheet *sheet, const struct screen *screen, const struct sheet_block *block) {
    const struct sheet_cell *cells = sheet->cells + block->first;
    const size_t count = (size_t)(sheet_block_end(sheet, block) - cells);
    int column = units_text_columns(sheet_text_of(sheet, cells));
    int lines_left = screen->width < 80 ? 2 * block->list_lines : block->list_lines - 1; /* after the current one */
    bool is_begun = false;
    bool is_room = true;
    wide_count others = block->count;
    CLEANUP_STR struct str last = {0};
    screen_print_key(screen, sheet_text_of(sheet, cells));
    column = column < SCREEN_KEY_COLUMNS ? SCREEN_KEY_COLUMNS : column + 1;
    for (size_t i = 1; i < count || (i == count && others > 0); i++) {
        if (i == count)
            str_addf(&last, "others %s", units_count(others).text);
        const char *text = i < count ? sheet_text_of(sheet, &cells[i]) : str_text(&last);
        const int columns = units_text_columns(text) + 1; /* with the comma after it */
        const bool is_new_line = is_begun && column + 1 + columns > screen->width;
        is_room = is_room || (i < count && cells[i].count > 0) || i == count;
        if (!is_room || (is_new_line && lines_left == 0)) {
            others += i < count ? cells[i].count : 0;
            is_room = false;
            continue;
        }
        fputs(is_new_line ? ",\n" : is_begun ? ", " : "", screen->stream);
        if (is_new_line) {
            column = fprintf(screen->stream, "%*s", SCREEN_KEY_COLUMNS, "");
            lines_left--;
        }
        screen_print_untrusted(screen, INK_PLAIN, text);
        column += columns + (is_begun && !is_new_line);
        is_begun = true;
    }
    putc('\n', screen->stream);
}

/* The argument of a command, or what stands for it; NULL: there is no room for either. */
static const char *argument_of(const struct sheet *sheet, const struct sheet_block *block) {
    const struct sheet_cell *cells = sheet->cells + block->first;
    for (size_t i = 1; i <= 2; i++) {
        const char *argument = sheet_text_of(sheet, &cells[i]);
        if (SCREEN_KEY_COLUMNS + units_text_columns(sheet_text_of(sheet, cells)) + (argument[0] != '\0') +
                units_text_columns(argument) <=
            sheet->screen.width)
            return argument;
    }
    return NULL;
}

/* There is room for it. */
static void put_command(const struct sheet *sheet, const struct screen *screen, const struct sheet_block *block,
                        bool has_key) {
    const struct sheet_cell *cells = sheet->cells + block->first;
    const char *argument = argument_of(sheet, block);
    const char *why = sheet_text_of(sheet, &cells[3]);
    CLEANUP_STR struct str command = {0};
    str_addf(&command, "%s%s%s", sheet_text_of(sheet, cells), argument[0] ? " " : "", argument);
    screen_print_key(screen, has_key ? "next" : "");
    screen_print_untrusted(screen, INK_STRONG, str_text(&command));
    if (SCREEN_KEY_COLUMNS + units_text_columns(str_text(&command)) + 4 + units_text_columns(why) <= screen->width) {
        screen_ink(screen, INK_FAINT);
        fprintf(screen->stream, "  # %s", why);
        screen_ink(screen, INK_PLAIN);
    }
    putc('\n', screen->stream);
}

static void put_chart(const struct sheet *sheet, const struct screen *screen, const struct sheet_block *block) {
    const struct sheet_cell *caption = sheet->cells + block->first;
    if (caption < sheet_block_end(sheet, block)) {
        fputs("  ", screen->stream);
        screen_print(screen, INK_FAINT, sheet_text_of(sheet, caption));
        putc('\n', screen->stream);
    }
    if (block->ops[1])
        chart_print_pair(&block->axis, block->ops, &sheet->units, screen);
    else if (block->axis.resolution > 0)
        chart_print(&block->axis, block->ops[0], &sheet->units, screen);
    else
        chart_print_buckets(block->ops[0], block->resolution, &sheet->units, screen);
}

static void put_spans(const struct sheet *sheet, const struct screen *screen, const struct sheet_cell *cell,
                      const struct sheet_cell *end, const char *behind) {
    for (; cell < end; cell++)
        screen_print_untrusted(screen, cell->ink, sheet_text_of(sheet, cell));
    fputs(behind, screen->stream);
}

bool sheet_terminal_shows(const struct sheet *sheet, const struct sheet_block *block) {
    return block->form == FORM_COMMAND ? argument_of(sheet, block) != NULL : block->form != FORM_PICTURE;
}

unsigned sheet_terminal_put(const struct sheet *sheet, const struct screen *screen, const struct sheet_block *block,
                            bool has_key) {
    const struct sheet_cell *cell = sheet->cells + block->first;
    const struct sheet_cell *end = sheet_block_end(sheet, block);
    const char *text = cell < end ? sheet_text_of(sheet, cell) : "";
    const int columns = units_text_columns(text);
    switch (block->form) {
    case FORM_LINE:
    case FORM_HEADING:
    case FORM_TITLE:
        fprintf(screen->stream, "%*s", block->indent, "");
        put_spans(sheet, screen, cell, end, block->form == FORM_TITLE ? ":\n" : "\n");
        break;
    case FORM_SENTENCE:
    case FORM_WORDS:
        screen_print_words(screen, cell->ink, block->indent, block->form == FORM_WORDS ? 2 : 2 * block->indent, text);
        break;
    case FORM_TEXT:
        fprintf(screen->stream, "%*s", block->indent, "");
        screen_print_wrapped(screen, cell->ink, block->indent, 2 * block->indent, text);
        break;
    case FORM_KEYED:
        screen_print_key(screen, text);
        put_spans(sheet, screen, cell + 1, end, "\n");
        break;
    case FORM_ENTRY:
        screen_print_key(screen, text);
        screen_print_wrapped(screen, INK_PLAIN, columns < SCREEN_KEY_COLUMNS ? SCREEN_KEY_COLUMNS : columns + 1,
                             SCREEN_KEY_COLUMNS, sheet_text_of(sheet, cell + 1));
        break;
    case FORM_LIST:
        put_list(sheet, screen, block);
        break;
    case FORM_COMMAND:
        put_command(sheet, screen, block, has_key);
        break;
    case FORM_TABLE:
        return block->table.is_markdown ? put_markdown(sheet, block) : put_table(sheet, screen, block);
    case FORM_CHART:
        put_chart(sheet, screen, block);
        break;
    case FORM_GAP:
    case FORM_PICTURE:
        break;
    }
    return 0;
}
