/* HTML. Text is escaped here, and nowhere else, so that none of it, wherever it comes from, can be markup. */
#ifndef HTML_H
#define HTML_H

#include <stdio.h>

#define HTML_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD: instead of what is no text */

/* Writes text: characters with a meaning in HTML as entities, in attributes in double quotes too; bytes that are not
 * UTF-8, and characters that control a terminal, as U+FFFD; new lines and tabs as they are. */
void html_put(FILE *stream, const char *text);

/* The same of one character of next_character(). */
void html_put_character(FILE *stream, const char *character, size_t length);

/* Writes an element with a text in it. class: NULL: none */
void html_put_block(FILE *stream, const char *element, const char *class, const char *text);

#endif
