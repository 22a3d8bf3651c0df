/* Where the time of a recording's operations went, in sentences. */
#ifndef LAYERS_ANSWER_H
#define LAYERS_ANSWER_H

#include "layers.h"
#include "screen.h"

/* Prints a sentence or two for each of the operations that took longest, an empty line before them. */
void layers_answer_print(const struct layers_table *table, const struct screen *screen);

#endif
