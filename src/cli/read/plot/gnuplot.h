/* gnuplot: text in its scripts, and running it. It executes text between backticks, "|" at the beginning of a file name
 * is a command to it, and a quotation mark ends a string: so text that is not ours gets into a script only through
 * these functions.
 *
 * Strings are in single quotes, where nothing has a meaning but the quote itself, which is doubled; and each script
 * sets its terminal to "noenhanced", so that text on the picture has no markup. */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

/* Writes text for people as a string: invalid UTF-8 and characters that control a terminal become U+FFFD; after
 * characters_max characters an ellipsis follows. */
void gnuplot_put_text(FILE *script, const char *text, size_t characters_max);

/* Writes the name of a file as an expression that has exactly these bytes. */
void gnuplot_put_path(FILE *script, const char *path);

#define GNUPLOT_REASON_SIZE 256

/* Runs gnuplot from the PATH on a script whose output is standard output; the user's settings are not read.
 * Owner:   the caller frees *ret_picture
 * Errors:  -ENOENT there is no gnuplot; -EPROTO it failed, ret_reason says why in one line; and those of starting a
 *          process. *ret_picture untouched */
int gnuplot_run(const char *script, size_t script_bytes, char **ret_picture, size_t *ret_picture_bytes,
                char ret_reason[GNUPLOT_REASON_SIZE]);

#endif
