/* Profiles of events: of all calls, or of a selection. */
#ifndef EVENTS_PROFILE_H
#define EVENTS_PROFILE_H

#include "aggstats.h"
#include "events_reader.h"

struct events_joint {
    char op[AGGSTATS_NAME_SIZE];
    enum aggstats_value value; /* not AGGSTATS_BLOCKED or AGGSTATS_CPU, which events do not have */
};

/* If zeroed, the profile is the one that osproffs itself would have shown at the end: the calls since the last reset or
 * rotation, without those that ended in a pause. */
struct events_profile_options {
    unsigned window;       /* number of the window between resets and rotations, from 1; 0: the last */
    bool all;              /* all calls of the file instead, regardless of resets, rotations and pauses */
    events_wants_fn wants; /* NULL: all calls */
    void *context;
    unsigned resolution;  /* 0: as the recorded profile */
    uint64_t interval_ns; /* length of the intervals of a sampled profile; 0: none */
    unsigned groupings;   /* bits (1 << AGGSTATS_BY_PROCESS), of process, program, uid, file and directory */
    const struct events_joint *joints;
    size_t joint_count;
};

/* Number of windows between resets and rotations; at least 1. */
unsigned events_window_count(const struct events_file *file);

/* The profile of the calls in the file. If calls are missing, it is marked incomplete. Groups include all calls; if a
 * grouping has more than AGGSTATS_GROUPS_MAX, those with the least total latency are one group, the others.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -ENOMEM, -EINVAL options, -ERANGE more than AGGSTATS_INTERVALS_MAX intervals or no such window, -EOVERFLOW a
 *          sum does not fit 64 bits */
int events_profile(const struct events_file *file, const struct events_profile_options *options,
                   struct aggstats_profile *ret_profile);

/* The clock of the latencies. */
struct aggstats_clock events_profile_clock(const struct events_file *file);

#endif
