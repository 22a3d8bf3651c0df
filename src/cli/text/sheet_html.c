/* Pages in HTML. */
#include "sheet_private.h"

#include <string.h>

#include "base.h"
#include "html.h"

/* In a cell, what would look like a blank and is part of a name is shown. */
static void put(FILE *stream, const char *text, bool is_cell) {
    const char *character;
    size_t length;
    while ((length = next_character(&text, &character)) > 0) {
        if (*character == FIRM_BLANK && !is_cell)
            fputs("&nbsp;", stream);
        else if (is_cell && (*character == '\n' || *character == '\t'))
            fputs(HTML_REPLACEMENT, stream);
        else
            html_put_character(stream, character, length);
    }
}

/* ---- Tables ------------------------------------------------------------------------------------- */

enum look { LOOK_NAME, LOOK_NUMBER, LOOK_TEXT };

static void put_cell(FILE *stream, enum look look, const char *text) {
    static const struct {
        const char *begin;
        const char *end;
    } elements[] = {
        [LOOK_NAME] = {"<th scope=\"row\">", "</th>"},
        [LOOK_NUMBER] = {"<td class=\"number\">", "</td>"},
        [LOOK_TEXT] = {"<td>", "</td>"},
    };
    if (look == LOOK_NAME && !text[0])
        look = LOOK_TEXT; /* nothing names the row */
    fputs(elements[look].begin, stream);
    put(stream, text, true);
    fputs(elements[look].end, stream);
}

/* What the figures of a column are, for its title; NULL: nothing is said. */
static const char *meaning_of(const char *title) {
    static const struct {
        const char *title; /* alone, or before ", A", ", B" or ", at most" */
        const char *means;
    } glossary[] = {
        {"p50", "median latency: half of the calls had at most this"},
        {"their p50", "median latency: half of these calls had at most this"},
        {"p90", "90 % of the calls had at most this latency"},
        {"p99", "99 % of the calls had at most this latency"},
        {"p99.9", "99.9 % of the calls had at most this latency"},
        {"mean", "total latency divided by the calls that ended"},
        {"max", "latency of the longest call; after <, an upper bound"},
        {"longest", "latency of the longest call; after <, an upper bound"},
        {"typical", "mean of the logarithm of latency, which rare slow calls do not move"},
        {"% of latency", "part of the latency of all calls, summed over threads"},
        {"self", "total minus that of the next layer below"},
    };
    static const char *const ends[] = {"", ", A", ", B", ", at most"};
    for (size_t i = 0; i < ARRAY_SIZE(glossary); i++) {
        const size_t length = strlen(glossary[i].title);
        for (size_t end = 0; strncmp(title, glossary[i].title, length) == 0 && end < ARRAY_SIZE(ends); end++)
            if (strcmp(title + length, ends[end]) == 0)
                return glossary[i].means;
    }
    return NULL;
}

static void put_title(FILE *stream, bool is_number, const char *text) {
    const char *means = meaning_of(text);
    fprintf(stream, "<th scope=\"col\"%s", is_number ? " class=\"number\"" : "");
    if (means) {
        fputs(" title=\"", stream);
        html_put(stream, means);
        putc('"', stream);
    }
    putc('>', stream);
    put(stream, text, true);
    fputs("</th>", stream);
}

/* Of a row, or the titles. Returns the number of columns before the last one */
static unsigned put_row(const struct sheet *sheet, const struct sheet_block *block, const struct sheet_cell *cells,
                        bool are_titles) {
    static const enum look looks[] = {
        [SHEET_NUMBER] = LOOK_NUMBER, [SHEET_WORD] = LOOK_NUMBER, [SHEET_NAME] = LOOK_NAME,
        [SHEET_PATH] = LOOK_NAME,     [SHEET_LINE] = LOOK_TEXT,   [SHEET_LIST] = LOOK_TEXT,
        [SHEET_PLACE] = LOOK_TEXT,    [SHEET_GROUP] = LOOK_NAME,  [SHEET_TEXT] = LOOK_TEXT,
    };
    FILE *stream = sheet->screen.stream;
    const unsigned last = block->column_count - 1;
    const unsigned first = block->columns[last].kind == SHEET_PATH ? last : 0; /* names are in front here */
    unsigned count = 0;
    fputs("<tr>", stream);
    for (unsigned place = 0; place <= last; place++) {
        const unsigned i = (first + place) % block->column_count;
        const enum look look = looks[block->columns[i].kind];
        if (block->table.hidden & 1U << i)
            continue;
        if (are_titles)
            put_title(stream, look == LOOK_NUMBER, sheet_text_of(sheet, &cells[i]));
        else
            put_cell(stream, look, sheet_text_of(sheet, &cells[i]));
        count++;
    }
    fputs("</tr>\n", stream);
    return count - 1;
}

/* Scrolls sideways where it is too wide; what scrolls can be reached by the keyboard. */
static void put_table(const struct sheet *sheet, const struct sheet_block *block) {
    FILE *stream = sheet->screen.stream;
    struct sheet_row row = {0};
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n", stream);
    const unsigned before_last = put_row(sheet, block, sheet->cells + block->first, true);
    while (sheet_next_row(sheet, block, &row)) {
        put_row(sheet, block, row.cells, false);
        for (size_t more = 0; more < row.more_count; more++) {
            fprintf(stream, "<tr class=\"more\"><td colspan=\"%u\"></td><td>", before_last);
            put(stream, sheet_text_of(sheet, &row.more[more]), false);
            fputs("</td></tr>\n", stream);
        }
    }
    fputs("</table></div>\n", stream);
}

/* ---- All ---------------------------------------------------------------------------------------- */

#define ITEMS_OF_LINE 5 /* where a line has no end: about as many as fit on a terminal */

static void put_spans(const struct sheet *sheet, const struct sheet_cell *cell, const struct sheet_cell *end) {
    for (; cell < end; cell++)
        put(sheet->screen.stream, sheet_text_of(sheet, cell), false);
}

static void put_list(const struct sheet *sheet, const struct sheet_block *block, const struct sheet_cell *end) {
    const struct sheet_cell *item = sheet->cells + block->first + 1;
    for (int left = ITEMS_OF_LINE * block->list_lines; item < end && left > 0; item++, left--) {
        put_spans(sheet, item, item + 1);
        fputs(item + 1 < end && left > 1 ? ", " : "", sheet->screen.stream);
    }
    if (block->count > 0)
        fprintf(sheet->screen.stream, ", others %s", units_count(block->count).text);
}

unsigned sheet_html_put(const struct sheet *sheet, const struct sheet_block *block) {
    FILE *stream = sheet->screen.stream;
    const struct sheet_cell *cell = sheet->cells + block->first;
    const struct sheet_cell *end = sheet_block_end(sheet, block);
    switch (block->form) {
    case FORM_HEADING:
    case FORM_TITLE:
        fputs("<h3>", stream);
        put_spans(sheet, cell, end);
        fputs("</h3>\n", stream);
        break;
    case FORM_LINE:
    case FORM_SENTENCE:
    case FORM_WORDS:
    case FORM_TEXT:
        fputs(cell->ink == INK_WARNING ? "<p class=\"warning\">"
              : cell->ink == INK_FAINT ? "<p class=\"faint\">"
                                       : "<p>",
              stream);
        put_spans(sheet, cell, end);
        fputs("</p>\n", stream);
        break;
    case FORM_KEYED:
    case FORM_ENTRY:
    case FORM_LIST:
        fputs("<p class=\"entry\"><span class=\"key\">", stream);
        put_spans(sheet, cell, cell + 1);
        fputs("</span> ", stream);
        if (block->form == FORM_LIST)
            put_list(sheet, block, end);
        else
            html_put(stream, sheet_text_of(sheet, cell + 1));
        put_spans(sheet, cell + 2, block->form == FORM_KEYED ? end : cell);
        fputs("</p>\n", stream);
        break;
    case FORM_TABLE:
        put_table(sheet, block);
        break;
    case FORM_PICTURE:
        if (sheet->pictures)
            sheet->pictures->put(sheet->pictures->context, sheet_text_of(sheet, cell));
        break;
    case FORM_GAP:
    case FORM_COMMAND:
    case FORM_CHART:
        break;
    }
    return ~block->table.hidden;
}
