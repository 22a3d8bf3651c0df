/* Writing HTML. */
#include "html.h"

#include "base.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void html_put_character(FILE *stream, const char *character, size_t length) {
    const char one = length == 1 ? *character : '\0';
    if (one == '&')
        fputs("&amp;", stream);
    else if (one == '<')
        fputs("&lt;", stream);
    else if (one == '>')
        fputs("&gt;", stream);
    else if (one == '"')
        fputs("&quot;", stream);
    else if (one != '\n' && one != '\t' && is_obeyed_by_terminals(character, length))
        fputs(REPLACEMENT, stream);
    else
        fwrite(character, 1, length, stream);
}

void html_put(FILE *stream, const char *text) {
    const char *character;
    size_t length;
    while ((length = next_character(&text, &character)) > 0)
        html_put_character(stream, character, length);
}

void html_put_block(FILE *stream, const char *element, const char *class, const char *text) {
    fprintf(stream, class ? "<%s class=\"%s\">" : "<%s>", element, class);
    html_put(stream, text);
    fprintf(stream, "</%s>\n", element);
}

void html_begin_entry(FILE *stream, const char *key) {
    fputs("<p class=\"entry\"><span class=\"key\">", stream);
    html_put(stream, key);
    fputs("</span> ", stream);
}

void html_end_entry(FILE *stream) {
    fputs("</p>\n", stream);
}

void html_put_entry(FILE *stream, const char *key, const char *text) {
    html_begin_entry(stream, key);
    html_put(stream, text);
    html_end_entry(stream);
}

/* ---- Tables ------------------------------------------------------------------------------------- */

static const struct {
    const char *begin;
    const char *end;
} cells[] = {
    [HTML_TITLE] = {"<th scope=\"col\">", "</th>"},
    [HTML_NUMBER_TITLE] = {"<th scope=\"col\" class=\"number\">", "</th>"},
    [HTML_NAME] = {"<th scope=\"row\">", "</th>"},
    [HTML_NUMBER] = {"<td class=\"number\">", "</td>"},
    [HTML_TEXT] = {"<td>", "</td>"},
};

/* What scrolls can be reached by the keyboard. */
void html_begin_table(FILE *stream) {
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n", stream);
}

void html_begin_row(FILE *stream) {
    fputs("<tr>", stream);
}

/* A cell is one line: what would look like a blank, and is part of a name, is shown. */
void html_put_cell(FILE *stream, enum html_cell kind, const char *text) {
    const char *character;
    size_t length;
    if (kind == HTML_NAME && !text[0])
        kind = HTML_TEXT; /* nothing names the row */
    fputs(cells[kind].begin, stream);
    while ((length = next_character(&text, &character)) > 0) {
        if (*character == '\n' || *character == '\t')
            fputs(REPLACEMENT, stream);
        else
            html_put_character(stream, character, length);
    }
    fputs(cells[kind].end, stream);
}

void html_end_row(FILE *stream) {
    fputs("</tr>\n", stream);
}

void html_end_table(FILE *stream) {
    fputs("</table></div>\n", stream);
}
