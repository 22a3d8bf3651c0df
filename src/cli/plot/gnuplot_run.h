/* Running gnuplot. */
#ifndef GNUPLOT_RUN_H
#define GNUPLOT_RUN_H

#include <stddef.h>

#define GNUPLOT_REASON_SIZE 256

/* Has gnuplot, as found in the PATH, draw a script whose output is standard output; settings of the user's are not
 * read.
 * Owner:   the caller frees *ret_picture
 * Errors:  -ENOENT there is no gnuplot; -EPROTO it failed, ret_reason tells why in one line; and those of starting a
 *          process. *ret_picture untouched */
int gnuplot_run(const char *script, size_t script_bytes, char **ret_picture, size_t *ret_picture_bytes,
                char ret_reason[GNUPLOT_REASON_SIZE]);

#endif
