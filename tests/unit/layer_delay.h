/* A layer at the bottom of the stack: every op takes a known time and succeeds. */
#ifndef LAYER_DELAY_H
#define LAYER_DELAY_H

#include "aggstats.h"
#include "fs_ops.h"

struct layer_delay {
    struct fs_layer layer;
    struct aggstats_clock clock;
    uint64_t delay_cycles; /* 0: returns at once; then any number of threads may call */

    /* The true duration of the last call, by the same clock: at least delay_cycles, and more on a busy machine. */
    uint64_t elapsed_cycles;
};

void layer_delay_init(struct layer_delay *delay, struct aggstats_clock clock);

#endif
