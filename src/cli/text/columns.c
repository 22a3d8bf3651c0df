/* Tables of numbers, names and texts. */
#include "columns.h"

#include <string.h>

#include "base.h"

#define GAP_COLUMNS 2
#define TEXT_COLUMNS_MIN 16
#define OWN_LINE_INDENT 4

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

/* The name is cut if it would not even fit alone. Returns where that ends */
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

void columns_print_titles(const struct columns *columns, const char *text_title) {
    go_to_text(columns,
               print_beginning(columns, columns->titles, columns->name_title, INK_FAINT, INK_FAINT, INK_FAINT));
    print_text(columns, INK_FAINT, text_title);
}

void columns_print_row(const struct columns *columns, const struct columns_row *row, enum ink ink, const char *text) {
    const char *numbers[COLUMNS_NUMBERS_MAX];
    for (unsigned i = 0; i < COLUMNS_NUMBERS_MAX; i++)
        numbers[i] = row->numbers[i];
    go_to_text(columns, print_beginning(columns, numbers, row->name, ink, INK_PLAIN, INK_STRONG));
    print_text(columns, INK_PLAIN, text);
}

void columns_print_text(const struct columns *columns, enum ink ink, const char *text) {
    fprintf(columns->screen->stream, "%*s", columns->text_column, "");
    print_text(columns, ink, text);
}
