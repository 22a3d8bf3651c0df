/* Two kinds of tables: cells in a line; and numbers, a name and a text. */
#include "columns.h"

#include <string.h>

#include "base.h"
#include "html.h"

#define GAP_COLUMNS 2
#define TEXT_COLUMNS_MIN 16
#define OWN_LINE_INDENT 4

/* ---- Cells in a line ---------------------------------------------------------------------------- */

static int width_of(const struct columns_table *table, unsigned column) {
    int width = table->columns[column].width;
    for (size_t row = 0; table->gap > 0 && row < table->row_count; row++) {
        char text[COLUMNS_CELL_SIZE];
        table->format(table->page, row, column, text);
        int wanted = table->gap + units_text_columns(text);
        width = wanted > width ? wanted : width;
    }
    return width;
}

int columns_fit(struct columns_table *table, int left) {
    memset(table->widths, 0, sizeof(table->widths));
    for (unsigned i = 0; i < table->column_count; i++) {
        const unsigned column = table->order ? table->order[i] : i;
        const int width = width_of(table, column);
        if (table->hidden & 1U << column)
            continue;
        if (width > left && !table->has_gaps)
            break;
        if (width > left)
            continue;
        table->widths[column] = width;
        left -= width;
    }
    return left;
}

void columns_print_cell_titles(const struct columns_table *table) {
    for (unsigned column = 0; column < table->column_count; column++)
        if (table->widths[column] > 0)
            screen_print_right(table->screen, INK_FAINT, table->columns[column].title, table->widths[column]);
}

void columns_print_cells(const struct columns_table *table, size_t row, unsigned end) {
    for (unsigned column = 0; column < end; column++) {
        char text[COLUMNS_CELL_SIZE];
        if (table->widths[column] == 0)
            continue;
        table->format(table->page, row, column, text);
        if (units_text_columns(text) >= table->widths[column])
            putc(' ', table->screen->stream); /* so that it is not joined to the one before */
        screen_print_right(table->screen, INK_PLAIN, text, table->widths[column]);
    }
}

int columns_name_width(const struct columns_table *table, const char *title) {
    int width = units_text_columns(title);
    for (size_t row = 0; row < table->row_count; row++) {
        enum ink ink;
        int length = units_text_columns(table->name_of(table->page, row, &ink));
        width = length > width ? length : width;
    }
    return width;
}

void columns_put_cell_titles(const struct columns_table *table) {
    for (unsigned column = 0; column < table->column_count; column++)
        if (table->widths[column] > 0)
            html_put_cell(table->screen->stream, HTML_NUMBER_TITLE, table->columns[column].title);
}

void columns_put_cells(const struct columns_table *table, size_t row) {
    for (unsigned column = 0; column < table->column_count; column++) {
        char text[COLUMNS_CELL_SIZE];
        if (table->widths[column] == 0)
            continue;
        table->format(table->page, row, column, text);
        html_put_cell(table->screen->stream, HTML_NUMBER, text);
    }
}

static void put_table(struct columns_table *table, const char *name_title) {
    FILE *stream = table->screen->stream;
    columns_fit(table, table->screen->width);
    html_begin_table(stream);
    html_begin_row(stream);
    html_put_cell(stream, HTML_TITLE, name_title);
    columns_put_cell_titles(table);
    html_end_row(stream);
    for (size_t row = 0; row < table->row_count; row++) {
        enum ink ink;
        html_begin_row(stream);
        html_put_cell(stream, HTML_NAME, table->name_of(table->page, row, &ink));
        columns_put_cells(table, row);
        html_end_row(stream);
    }
    html_end_table(stream);
}

void columns_print_table(struct columns_table *table, const char *name_title) {
    if (table->screen->html) {
        put_table(table, name_title);
        return;
    }
    const int names = columns_name_width(table, name_title);
    const int left = table->screen->width - names;
    const int padded = columns_fit(table, left) < left ? names : 0;
    fprintf(table->screen->stream, "\n%-*s", padded, name_title);
    columns_print_cell_titles(table);
    putc('\n', table->screen->stream);
    for (size_t row = 0; row < table->row_count; row++) {
        enum ink ink;
        const char *name = table->name_of(table->page, row, &ink);
        const int blanks = padded - units_text_columns(name);
        screen_print(table->screen, ink, name);
        fprintf(table->screen->stream, "%*s", blanks > 0 ? blanks : 0, "");
        columns_print_cells(table, row, table->column_count);
        putc('\n', table->screen->stream);
    }
}

/* ---- Numbers, a name and a text ----------------------------------------------------------------- */

static void widen(int *width, const char *text) {
    int wanted = units_text_columns(text) + GAP_COLUMNS;
    *width = wanted > *width ? wanted : *width;
}

void columns_init(struct columns *columns, const struct screen *screen, const char *const *titles,
                  const char *name_title) {
    *columns = (struct columns){.screen = screen, .name_title = name_title};
    for (; columns->count < COLUMNS_NUMBERS_MAX && titles[columns->count]; columns->count++) {
        columns->titles[columns->count] = titles[columns->count];
        widen(&columns->widths[columns->count], titles[columns->count]);
    }
    widen(&columns->name_width, name_title);
}

void columns_measure(struct columns *columns, const struct columns_row *row) {
    for (unsigned i = 0; i < columns->count; i++)
        widen(&columns->widths[i], row->numbers[i]);
    widen(&columns->name_width, row->name);
}

void columns_settle(struct columns *columns) {
    columns->text_column = GAP_COLUMNS + columns->name_width;
    for (columns->shown = 0; columns->shown < columns->count; columns->shown++) {
        int next = columns->text_column + columns->widths[columns->shown];
        if (next + (columns->shown > 0 ? TEXT_COLUMNS_MIN : 0) > columns->screen->width)
            break;
        columns->text_column = next;
    }
    if (columns->text_column + TEXT_COLUMNS_MIN > columns->screen->width)
        columns->text_column = OWN_LINE_INDENT;
}

/* The name is cut only if it is too long for a line of its own. Returns the column where it ends */
static int print_beginning(const struct columns *columns, const char *const *numbers, const char *name, enum ink first,
                           enum ink other, enum ink of_name) {
    const struct screen *screen = columns->screen;
    int column = GAP_COLUMNS;
    for (unsigned i = 0; i < columns->shown; i++) {
        screen_print_right(screen, i == 0 ? first : other, numbers[i], columns->widths[i]);
        column += columns->widths[i];
    }
    fprintf(screen->stream, "%*s", GAP_COLUMNS, "");
    CLEANUP_FREE char *shown = screen_cut(screen, name, screen->width - column, SCREEN_BEGINNING);
    screen_print(screen, of_name, shown ? shown : "");
    return column + (shown ? units_text_columns(shown) : 0);
}

static void go_to_text(const struct columns *columns, int column) {
    if (column < columns->text_column)
        fprintf(columns->screen->stream, "%*s", columns->text_column - column, "");
    else
        fprintf(columns->screen->stream, "\n%*s", columns->text_column, "");
}

static void print_text(const struct columns *columns, enum ink ink, const char *text) {
    if (ink != INK_PLAIN)
        screen_ink(columns->screen, ink);
    screen_print_wrapped(columns->screen, columns->text_column, columns->text_column, text);
    if (ink != INK_PLAIN)
        screen_ink(columns->screen, INK_PLAIN);
}

static void put_titles(const struct columns *columns, const char *text_title) {
    FILE *stream = columns->screen->stream;
    html_begin_table(stream);
    html_begin_row(stream);
    for (unsigned i = 0; i < columns->shown; i++)
        html_put_cell(stream, HTML_NUMBER_TITLE, columns->titles[i]);
    html_put_cell(stream, HTML_TITLE, columns->name_title);
    html_put_cell(stream, HTML_TITLE, text_title);
    html_end_row(stream);
}

static void put_row(const struct columns *columns, const struct columns_row *row, const char *text) {
    FILE *stream = columns->screen->stream;
    html_begin_row(stream);
    for (unsigned i = 0; i < columns->shown; i++)
        html_put_cell(stream, HTML_NUMBER, row->numbers[i]);
    html_put_cell(stream, HTML_NAME, row->name);
    html_put_cell(stream, HTML_TEXT, text);
    html_end_row(stream);
}

static void put_text(const struct columns *columns, const char *text) {
    FILE *stream = columns->screen->stream;
    fprintf(stream, "<tr class=\"more\"><td colspan=\"%u\"></td><td>", columns->shown + 1);
    html_put(stream, text);
    fputs("</td></tr>\n", stream);
}

void columns_end(const struct columns *columns) {
    if (columns->screen->html)
        html_end_table(columns->screen->stream);
}

void columns_print_titles(const struct columns *columns, const char *text_title) {
    if (columns->screen->html) {
        put_titles(columns, text_title);
        return;
    }
    go_to_text(columns,
               print_beginning(columns, columns->titles, columns->name_title, INK_FAINT, INK_FAINT, INK_FAINT));
    print_text(columns, INK_FAINT, text_title);
}

void columns_print_row(const struct columns *columns, const struct columns_row *row, enum ink ink, const char *text) {
    const char *numbers[COLUMNS_NUMBERS_MAX];
    if (columns->screen->html) {
        put_row(columns, row, text);
        return;
    }
    for (unsigned i = 0; i < COLUMNS_NUMBERS_MAX; i++)
        numbers[i] = row->numbers[i];
    go_to_text(columns, print_beginning(columns, numbers, row->name, ink, INK_PLAIN, INK_STRONG));
    print_text(columns, INK_PLAIN, text);
}

void columns_print_text(const struct columns *columns, enum ink ink, const char *text) {
    if (columns->screen->html) {
        put_text(columns, text);
        return;
    }
    fprintf(columns->screen->stream, "%*s", columns->text_column, "");
    print_text(columns, ink, text);
}
