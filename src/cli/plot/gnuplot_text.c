/* Text in gnuplot scripts. */
#include "gnuplot_text.h"

#include <stdbool.h>
#include <string.h>

#include "base.h"

static void put_quoted(FILE *script, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\'')
            putc('\'', script);
        putc(bytes[i], script);
    }
}

/* Controls, C1 among them, and the two noncharacters that XML forbids. */
static bool is_shown(const char *character, size_t length) {
    const unsigned char *bytes = (const unsigned char *)character;
    if (length == 1)
        return bytes[0] >= ' ' && bytes[0] != 0x7f;
    if (length == 2)
        return bytes[0] != 0xc2 || bytes[1] >= 0xa0;
    return length != 3 || bytes[0] != 0xef || bytes[1] != 0xbf || bytes[2] < 0xbe;
}

void gnuplot_put_text(FILE *script, const char *text, size_t characters_max) {
    const char *character;
    size_t length;
    const char *begin = text;
    putc('\'', script);
    for (size_t count = 0; (length = next_character(&text, &character)) > 0; count++) {
        if (count == characters_max) {
            fputs("…", script);
            break;
        }
        if (*character == '>' && character - begin >= 2 && strncmp(character - 2, "]]", 2) == 0)
            putc(' ', script); /* gnuplot leaves it as it is in SVG, where "]]>" is no text */
        if (is_shown(character, length))
            put_quoted(script, character, length);
        else
            fputs("\xef\xbf\xbd", script);
    }
    putc('\'', script);
}

/* A string in single quotes ends with its line, and gnuplot would take a "~" for somebody's home. */
void gnuplot_put_path(FILE *script, const char *path) {
    fputs(path[0] == '|' || path[0] == '~' ? "'./" : "'", script);
    for (; *path; path++) {
        if ((unsigned char)*path < ' ')
            fprintf(script, "'.\"\\%03o\".'", (unsigned)(unsigned char)*path);
        else
            put_quoted(script, path, 1);
    }
    putc('\'', script);
}
