/* Private: the tables of a recorder's joint profiles.
 *
 * The ops that are correlated with a value have another wrapper, put into the prof layer's vector while calls go on;
 * the others keep theirs, so an op that is not correlated costs nothing. All threads share the tables and add to them
 * by atomic operations. A table that was ever needed stays until the recorder is destroyed: a thread may still be
 * adding to it. */
#ifndef JOINT_H
#define JOINT_H

#include "aggstats/cells.h"
#include "probe.h"
#include "window.h"

struct joint_table {
    bool is_on;         /* atomic */
    bool is_marked;     /* joints_mark() was called, and no reset since: the shown counts can be subtracted */
    uint64_t *counts;   /* [rows][buckets]; atomic, only grow */
    uint64_t *baseline; /* counts from before the window, or in its pauses */
    uint64_t *frozen;   /* as of the beginning of the current pause */
    uint64_t *seen;     /* as of the latest joints_read() */
};

struct joints {
    struct probe probe; /* must be first */
    unsigned op_count;
    unsigned resolution;
    bool paused;                                         /* under the window lock, like all that is read */
    struct joint_table *(*tables)[AGGSTATS_VALUE_COUNT]; /* [op_count]; pointers are atomic; NULL: never needed */
};

/* No values are selected yet. probe: the caller's business. NULL: no memory */
struct joints *joints_create(const struct layout *layout);
void joints_destroy(struct joints *joints);

/* See aggstats_recorder_set_joint(). */
int joints_set(struct joints *joints, unsigned op, unsigned wanted_values);

/* No values are selected any more. */
void joints_end(struct joints *joints);

/* See aggstats_joint_add(). Threads: any */
void joints_add(const struct joints *joints, unsigned op, enum aggstats_value value, uint64_t number,
                uint64_t latency_cycles);

/* Notes the contents of all tables. Call it before the op's counters are read, since a call is counted there first: so
 * what is shown here is in the counters too, except for calls that ended just before the window did. */
void joints_read(struct joints *joints);

/* After the counters were read; but a pause freezes what was read. */
void joints_reset(struct joints *joints);
void joints_pause(struct joints *joints);
void joints_resume(struct joints *joints);

/* joints_take() subtracts from each table what the first profile since joints_mark() got from it, unless the table has
 * been reset meanwhile. What the profile had no room for, since its op's counters were read earlier, is kept. */
void joints_mark(struct joints *joints);
void joints_take(struct joints *joints, const char (*op_names)[AGGSTATS_NAME_SIZE],
                 const struct aggstats_profile *profile);

/* Adds the contents as of the latest joints_read() to a profile that has its ops, never more than these.
 * Errors:  -ENOMEM; the caller finishes the profile */
int joints_show(const struct joints *joints, const char (*op_names)[AGGSTATS_NAME_SIZE],
                struct aggstats_profile *profile);

#endif
