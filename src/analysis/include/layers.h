/* Layers: at which of them latencies are taken, from the program down to the disk. */
#ifndef LAYERS_H
#define LAYERS_H

#include <stddef.h>

/* Where a layer stands among others: 0 is outermost, user; then come fuse, daemon, fs and block, and last what has
 * another name. */
size_t layers_rank(const char *name);

#endif
