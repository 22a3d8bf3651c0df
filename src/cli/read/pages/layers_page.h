/* The layers of a recording side by side. */
#ifndef LAYERS_PAGE_H
#define LAYERS_PAGE_H

#include <stddef.h>

#include "layers.h"
#include "recording.h"
#include "sheet.h"

struct layers_page {
    const struct recording *recording; /* of several layers */
    const char *name;                  /* its name for the user, for recommended commands; NULL: it is not saved */
    size_t row_max;                    /* number of operations, the longest total first; 0: all */
    unsigned lines_max;                /* without the header, and operations are left out until it has so many lines; 0:
                                        * all are there */
};

/* Prints the total of each layer; a table of the operations, each at all layers, with each layer's own part; and where
 * those that took longest have spent their time. All of it fits the screen's width.
 * Errors:  -ENOMEM */
int layers_page_print(const struct layers_page *page, const struct screen *screen);

/* The same as JSON, with the profiles of all layers (docs/recording.schema.json), to a stream.
 * Errors:  -ENOMEM, -EINVAL an invalid profile, the stream's -errno */
int layers_page_write_json(const struct recording *recording, FILE *stream);

/* Puts where the operations that took longest have spent their time: a sentence or two for each, after an empty line.
 * ranks: [LAYERS_ANSWERS_MAX] of the sheet, for each sentence. They are brief then: without the reasons why a layer below
 *        took longer, if there is something else to say. NULL: none gives way */
#define LAYERS_ANSWERS_MAX 4
void layers_answer_put(struct sheet *sheet, const struct layers_table *table, const unsigned *ranks);

#endif
