/* Which layers a run profiles. */
#ifndef RUN_LAYERS_H
#define RUN_LAYERS_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"

enum {
    LAYER_USER = 1 << 0,
    LAYER_FUSE = 1 << 1,
    LAYER_FS = 1 << 2,
    LAYER_BLOCK = 1 << 3,
    LAYER_DAEMON = 1 << 4,
    LAYERS_ALL = LAYER_USER | LAYER_FUSE | LAYER_FS | LAYER_BLOCK,
};

struct run_layers {
    unsigned wanted;   /* as bits */
    bool are_optional; /* layers that cannot be profiled are reported, and left out */
};

/* Reads a list, "user,fs"; NULL: user. Returns false, after reporting it, if it has another word */
bool run_layers_parse(const struct command *command, const char *list, struct run_layers *ret_layers);

/* For "all" layers on a mount that osprof fuse profiles: replaces fs by daemon, since a daemon that is profiled from
 * inside is not profiled from above. */
void run_layers_choose(struct run_layers *layers, const char *const *directories, size_t count);

#endif
