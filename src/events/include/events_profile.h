/* Profiles of events: of all calls, or of those that somebody wants. */
#ifndef EVENTS_PROFILE_H
#define EVENTS_PROFILE_H

#include "aggstats.h"
#include "events_reader.h"

/* Whether a call is to be counted. */
typedef bool (*events_wants_fn)(void *context, const struct event *event);

struct events_joint {
    char op[AGGSTATS_NAME_SIZE];
    enum aggstats_value value; /* not AGGSTATS_BLOCKED or AGGSTATS_CPU, which events do not have */
};

/* Zeroed: what osproffs itself would have shown at the end: the calls since the last reset or rotation, without those
 * that ended in a pause. */
struct events_profile_options {
    unsigned window;       /* the so many-th of the spans that resets and rotations make, from 1; 0: the last */
    bool all;              /* instead: all that is in the file, whatever was reset, rotated or paused */
    events_wants_fn wants; /* NULL: all calls */
    void *context;
    unsigned resolution;  /* 0: that of the recorded profile */
    uint64_t interval_ns; /* length of the intervals of a sampled profile; 0: none */
    unsigned groupings;   /* bits (1 << AGGSTATS_BY_PROCESS), of process, program, uid, file and directory */
    const struct events_joint *joints;
    size_t joint_count;
};

/* Spans that resets and rotations make; at least 1. */
unsigned events_window_count(const struct events_file *file);

/* The profile of the calls that are in the file. Where calls are missing it says so: it is incomplete.
 * Groups are of all calls; those beyond AGGSTATS_GROUPS_MAX of a grouping, by total latency, are one: the others.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -ENOMEM, -EINVAL options, -ERANGE more than AGGSTATS_INTERVALS_MAX intervals or no such window, -EOVERFLOW a
 *          sum does not fit 64 bits */
int events_profile(const struct events_file *file, const struct events_profile_options *options,
                   struct aggstats_profile *ret_profile);

/* The clock whose cycles they are in. */
struct aggstats_clock events_profile_clock(const struct events_file *file);

#endif
