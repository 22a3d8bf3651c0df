/* Private: what the files of the table of layers share. */
#ifndef LAYERS_PRIVATE_H
#define LAYERS_PRIVATE_H

#include "layers.h"

#define LAYERS_QUEUED "_QUEUED" /* see layers_is_queued() */

/* Whether a row has operations at a layer. */
bool layers_has_place(const struct layers_relation *relation, enum layer layer);

#endif
