/* The prof layer times each op of the layer below. Nothing else times ops. */
#ifndef PROF_H
#define PROF_H

#include "aggstats.h"
#include "events_recorder.h"
#include "fs_ops.h"

/* What is recorded of an op's calls besides counting them: bits. */
enum prof_wanted {
    PROF_VALUES = (1U << AGGSTATS_VALUE_COUNT) - 1,           /* latencies by values: bits (1 << AGGSTATS_SIZE) */
    PROF_USAGE = 1U << AGGSTATS_BLOCKED | 1U << AGGSTATS_CPU, /* the values of resource usage */
    PROF_GROUPS = 1U << AGGSTATS_VALUE_COUNT,                 /* callers, files, directories */
    PROF_SLOW = PROF_GROUPS << 1,                             /* slow calls are reported to the recorder */
    PROF_EVENTS = PROF_GROUPS << 2,                           /* events */
};

struct prof {
    struct fs_layer layer;
    struct aggstats_recorder *recorder; /* borrowed; its ops are fs_op_names */
    uint64_t slow_cycles;               /* atomic; calls with at least this latency are slow; UINT64_MAX: none */
    struct events_recorder *events;     /* atomic; NULL: no events are recorded */
    struct fs_ops ops;                  /* members are atomic */
    unsigned wanted[FS_OP_COUNT];       /* atomic */
};

/* next and recorder are borrowed and outlive the layer. */
void prof_init(struct prof *prof, struct aggstats_recorder *recorder, struct fs_layer *next);

/* Finds an op and one of its values by name; case does not matter. Returns NULL, or the reason why there is none.
 * Threads: any */
const char *prof_find_joint(const char *op_name, const char *value_name, unsigned *ret_op,
                            enum aggstats_value *ret_value);

/* From now on correlates the latencies of an op with these values, bits (1 << AGGSTATS_SIZE), and with no others. Other
 * ops are not affected.
 * Errors:  -ENOMEM.
 * Threads: any, one at a time, while ops are called */
int prof_set_joint(struct prof *prof, enum fs_op op, unsigned values);

/* From now on reports slow calls to the recorder, if it watches for them; otherwise stops that.
 * Threads: any, one at a time, while ops are called */
void prof_set_slow(struct prof *prof);

/* From now on also records an event for each call; NULL: stops that. events: borrowed until no op is called any more;
 * its ops are fs_op_events.
 * Threads: any, one at a time, while ops are called */
void prof_set_events(struct prof *prof, struct events_recorder *events);

/* From now on also counts all calls by caller, for a recorder with groupings; or no more.
 * Threads: any, one at a time, while ops are called */
void prof_set_grouped(struct prof *prof, bool is_grouped);

#endif
