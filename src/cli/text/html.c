/* Writing HTML. */
#include "html.h"

#include "base.h"

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
        fputs(HTML_REPLACEMENT, stream);
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
