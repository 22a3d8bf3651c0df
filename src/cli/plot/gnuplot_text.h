/* Text in gnuplot scripts. gnuplot runs what stands between backticks, "|" at the beginning of a file's name is a
 * command to it, and a quotation mark ends a string: so text that is not ours gets into a script only through these
 * functions.
 *
 * Strings are in single quotes, where nothing has a meaning but the quote itself, which is doubled; and each script
 * says "noenhanced" of its terminal, so that a text on the picture means nothing but its characters. */
#ifndef GNUPLOT_TEXT_H
#define GNUPLOT_TEXT_H

#include <stdio.h>

/* Writes text for the eye as a string: what is no UTF-8 and what controls a terminal becomes U+FFFD; after
 * characters_max characters an ellipsis follows. */
void gnuplot_put_text(FILE *script, const char *text, size_t characters_max);

/* Writes the name of a file as an expression that has exactly these bytes. */
void gnuplot_put_path(FILE *script, const char *path);

#endif
