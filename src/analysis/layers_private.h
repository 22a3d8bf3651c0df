/* Private: what the files of the table of layers share. */
#ifndef LAYERS_PRIVATE_H
#define LAYERS_PRIVATE_H

#include "layers.h"

/* What the name of an operation of the layer block ends with that is the time before the disk got the request. */
#define LAYERS_QUEUED "_QUEUED"

bool layers_is_queued(enum layer layer, const char *op);

/* Whether a row has operations at a layer. */
bool layers_has_place(const struct layers_relation *relation, enum layer layer);

#endif
