/* The names of layers, as the header line "layer" has them. */
#include <string.h>

#include "base.h"
#include "layers.h"

static const char *const names[] = {"user", "fuse", "daemon", "fs", "block"};

size_t layers_rank(const char *name) {
    size_t rank = 0;
    while (rank < ARRAY_SIZE(names) && strcmp(names[rank], name) != 0)
        rank++;
    return rank;
}
