/* The layers of a recording side by side. */
#ifndef LAYERS_PAGE_H
#define LAYERS_PAGE_H

#include <stddef.h>

#include "layers.h"
#include "recording.h"
#include "screen.h"

struct layers_page {
    const struct recording *recording; /* of several layers */
    const char *name;                  /* how the user calls it, for what to do next; NULL: it is kept nowhere */
    size_t row_max;                    /* operations, those that took longest; 0: all */
};

/* Prints what each layer has in all; a table of the operations, each at all layers, and what stays at each; and where
 * those that took longest have spent their time. None is wider than the screen.
 * Errors:  -ENOMEM */
int layers_page_print(const struct layers_page *page, const struct screen *screen);

/* The same as JSON, with the profiles of all layers (docs/recording.schema.json), on a stream.
 * Errors: -ENOMEM, -EINVAL no valid profile, the stream's -errno */
int layers_page_write_json(const struct recording *recording, FILE *stream);

/* Prints where the time of the operations that took longest went: a sentence or two for each, an empty line before them.
 */
void layers_answer_print(const struct layers_table *table, const struct screen *screen);

#endif
