/* HTML: what pages print, for a browser instead of a terminal. Text is escaped here, and nowhere else, so that none of it,
 * wherever it comes from, can be markup. */
#ifndef HTML_H
#define HTML_H

#include <stdio.h>

/* Writes text: characters with a meaning in HTML as entities, in attributes in double quotes too; bytes that are not
 * UTF-8, and characters that control a terminal, as U+FFFD; new lines and tabs as they are. */
void html_put(FILE *stream, const char *text);

/* The same of one character of next_character(). */
void html_put_character(FILE *stream, const char *character, size_t length);

/* Writes an element with a text in it. class: NULL: none */
void html_put_block(FILE *stream, const char *element, const char *class, const char *text);

/* Writes a paragraph that begins with a key; or its beginning, and its end. */
void html_begin_entry(FILE *stream, const char *key);
void html_end_entry(FILE *stream);
void html_put_entry(FILE *stream, const char *key, const char *text);

/* ---- Tables ------------------------------------------------------------------------------------- */

enum html_cell {
    HTML_TITLE,        /* of a column of texts */
    HTML_NUMBER_TITLE, /* of one of numbers */
    HTML_NAME,         /* what a row is about */
    HTML_NUMBER,
    HTML_TEXT,
};

/* A table that scrolls sideways where it is too wide; then rows, and cells in them. */
void html_begin_table(FILE *stream);
void html_begin_row(FILE *stream);
void html_put_cell(FILE *stream, enum html_cell kind, const char *text);
void html_end_row(FILE *stream);
void html_end_table(FILE *stream);

#endif
