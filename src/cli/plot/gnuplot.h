/* gnuplot: text in its scripts, and running it. It runs what stands between backticks, "|" at the beginning of a file's
 * name is a command to it, and a quotation mark ends a string: so text that is not ours gets into a script only through
 * these functions.
 *
 * Strings are in single quotes, where nothing has a meaning but the quote itself, which is doubled; and each script
 * says "noenhanced" of its terminal, so that a text on the picture means nothing but its characters. */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <stdio.h>
#include <stddef.h>

/* Writes text for the eye as a string: what is no UTF-8 and what controls a terminal becomes U+FFFD; after
 * characters_max characters an ellipsis follows. */
void gnuplot_put_text(FILE *script, const char *text, size_t characters_max);

/* Writes the name of a file as an expression that has exactly these bytes. */
void gnuplot_put_path(FILE *script, const char *path);

#define GNUPLOT_REASON_SIZE 256

/* Has gnuplot, as found in the PATH, draw a script whose output is standard output; settings of the user's are not
 * read.
 * Owner:   the caller frees *ret_picture
 * Errors:  -ENOENT there is no gnuplot; -EPROTO it failed, ret_reason tells why in one line; and those of starting a
 *          process. *ret_picture untouched */
int gnuplot_run(const char *script, size_t script_bytes, char **ret_picture, size_t *ret_picture_bytes,
                char ret_reason[GNUPLOT_REASON_SIZE]);

#endif
