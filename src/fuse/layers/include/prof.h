/* The prof layer times every op of the layer below it, and is the only place that does. */
#ifndef PROF_H
#define PROF_H

#include "aggstats.h"
#include "events_recorder.h"
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
    bool is_grouped;                /* calls are counted by their callers, too */
    uint64_t slow_cycles;           /* atomic; calls that take so long are told to the recorder; UINT64_MAX: none */
    struct events_recorder *events; /* atomic; what records each call; NULL: nothing does */
    struct fs_ops ops;              /* members are atomic */
    unsigned joint[FS_OP_COUNT];    /* atomic; values that latencies are related to, as bits */
};

/* timing: CALL, TSC or FULL. next and recorder are borrowed and outlive the layer. */
void prof_init(struct prof *prof, enum prof_timing timing, struct aggstats_recorder *recorder, struct fs_layer *next);

/* Finds an op and one of its values by their names, in letters of either case. Returns NULL, or what is wrong with
 * them.
 * Threads: any */
const char *prof_find_joint(const char *op_name, const char *value_name, enum fs_op *ret_op,
                            enum aggstats_value *ret_value);

/* Relates the latencies of an op to those values, as bits (1 << AGGSTATS_SIZE), from now on, and to no other. Other ops
 * do not notice. timing: FULL.
 * Errors:  -ENOMEM.
 * Threads: any, one at a time, while ops are called */
int prof_set_joint(struct prof *prof, enum fs_op op, unsigned values);

/* Tells the recorder, which looks for slow calls, of those; or no more, if it does not. timing: FULL.
 * Threads: any, one at a time, while ops are called */
void prof_set_slow(struct prof *prof);

/* Records each call too, from now on; NULL: no more. events: borrowed until no op is called any more; its ops are
 * fs_op_events. timing: FULL.
 * Threads: any, one at a time, while ops are called */
void prof_set_events(struct prof *prof, struct events_recorder *events);

/* Counts all calls by their callers, too; the recorder is grouped. timing: FULL.
 * Threads: before any op is called */
void prof_set_grouped(struct prof *prof);

#endif
