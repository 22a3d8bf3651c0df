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

/* What is wanted of an op's calls besides counting them: bits. */
enum prof_wanted {
    PROF_VALUES = (1U << AGGSTATS_VALUE_COUNT) - 1, /* to relate latencies to values: bits (1 << AGGSTATS_SIZE) */
    PROF_USAGE = 1U << AGGSTATS_BLOCKED | 1U << AGGSTATS_CPU, /* to those for which what a thread has used is read */
    PROF_GROUPS = 1U << AGGSTATS_VALUE_COUNT,                 /* to count them by their callers, files, directories */
    PROF_SLOW = PROF_GROUPS << 1,                             /* to tell the recorder of slow ones */
    PROF_EVENTS = PROF_GROUPS << 2,                           /* to record each */
};

struct prof {
    struct fs_layer layer;
    struct aggstats_recorder *recorder; /* borrowed; its ops are fs_op_names */
    uint32_t clock_kind;
    uint64_t slow_cycles;           /* atomic; calls that take so long are slow; UINT64_MAX: none */
    struct events_recorder *events; /* atomic; what records each call; NULL: nothing does */
    struct fs_ops ops;              /* members are atomic */
    unsigned wanted[FS_OP_COUNT];   /* atomic */
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
