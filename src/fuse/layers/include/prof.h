/* The prof layer times every op of the layer below it, and is the only place that does. */
#ifndef PROF_H
#define PROF_H

#include "aggstats.h"
#include "fs_ops.h"

/* How much of the profiler runs: the variants of thesis §6.2, for measuring what each part costs. */
enum prof_timing {
    PROF_TIMING_OFF,  /* no prof layer at all: leave it out of the stack */
    PROF_TIMING_CALL, /* one more function call per op */
    PROF_TIMING_TSC,  /* and two reads of the clock */
    PROF_TIMING_FULL, /* and counters: the profiler */
};

struct prof {
    struct fs_layer layer;
    struct aggstats_recorder *recorder; /* borrowed; its ops are fs_op_names */
    uint32_t clock_kind;
};

/* timing: CALL, TSC or FULL. next and recorder are borrowed and outlive the layer. */
void prof_init(struct prof *prof, enum prof_timing timing, struct aggstats_recorder *recorder, struct fs_layer *next);

#endif
