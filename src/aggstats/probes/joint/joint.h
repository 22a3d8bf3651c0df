/* Private: the tables of a recorder's joint profiles.
 *
 * Threads add to them by atomic operations, since only those come here that have asked for it. A table that was ever
 * needed stays until the recorder goes: a thread may still be adding to it. */
#ifndef JOINT_H
#define JOINT_H

#include "cells.h"
#include "probe.h"
#include "window.h"

struct joint_table {
    bool is_on;         /* atomic */
    bool is_marked;     /* what it showed at joints_mark() can be taken from it */
    uint64_t *counts;   /* [rows][buckets]; atomic, only grow */
    uint64_t *baseline; /* what came before the window, or in its pauses */
    uint64_t *frozen;   /* when the pause going on began */
    uint64_t *seen;     /* at the latest joints_read() */
};

struct joints {
    struct probe probe; /* first */
    unsigned op_count;
    unsigned resolution;
    bool paused;                                         /* under the window lock, as all that is read */
    struct joint_table *(*tables)[AGGSTATS_VALUE_COUNT]; /* [op_count]; pointers are atomic; NULL: never asked for */
};

/* None is asked for yet. probe: the caller's business. NULL: no memory */
struct joints *joints_create(const struct layout *layout);
void joints_destroy(struct joints *joints);

/* See aggstats_recorder_set_joint(). */
int joints_set(struct joints *joints, unsigned op, unsigned wanted_values);

/* None is asked for any more. */
void joints_end(struct joints *joints);

/* See aggstats_joint_add(). Threads: any */
void joints_add(const struct joints *joints, unsigned op, enum aggstats_value value, uint64_t number,
                uint64_t latency_cycles);

/* Takes down what all tables hold: call before the op's counters are read, for a call is counted there first. So what
 * is shown here is there too, but for calls that ended just before the window did. */
void joints_read(struct joints *joints);

/* After the counters were read; but what pause freezes is what was read. */
void joints_reset(struct joints *joints);
void joints_pause(struct joints *joints);
void joints_resume(struct joints *joints);

/* joints_take() takes from each table what it gave to the profile, the first since joints_mark(); not so if it has
 * begun anew meanwhile. What the profile had no room for, since its op's counters were read later, is kept. */
void joints_mark(struct joints *joints);
void joints_take(struct joints *joints, const char (*op_names)[AGGSTATS_NAME_SIZE],
                 const struct aggstats_profile *profile);

/* Gives what the tables held at the latest joints_read() to a profile that has its ops, never more than these.
 * Errors:  -ENOMEM; the caller finishes the profile */
int joints_show(const struct joints *joints, const char (*op_names)[AGGSTATS_NAME_SIZE],
                struct aggstats_profile *profile);

#endif
