/* Private: what is kept beside a recorder's counters, and begins, ends and is shown with them: groups, slow calls,
 * intervals and the like.
 *
 * A recorder calls its probes in the order of their places, and knows none of them. A probe is attached for good; in a
 * child process it is as one that is not there, from when it has left on until it says otherwise. */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>

#include "aggstats.h"

#define PROBES_MAX 8 /* places: what is in which is told by the probes */

struct probe;
struct snapshot_source;

/* NULL: there is nothing to do. All under the window lock, but those that say otherwise. */
struct probe_ops {
    /* Before a snapshot, without locks: may take its time. */
    void (*prepare)(struct probe *probe);

    /* Takes down what it has, before the counters are read: a call is counted there first. */
    void (*read)(struct probe *probe);

    /* Nothing that is shown changes until it goes on. */
    void (*hold)(struct probe *probe);
    void (*go_on)(struct probe *probe);

    /* From here on it shows only what comes. */
    void (*reset)(struct probe *probe);
    void (*pause)(struct probe *probe);
    void (*resume)(struct probe *probe);

    /* Gives what it has to a profile that has its ops.
     * Errors:  -ENOMEM; the caller finishes the profile */
    int (*show)(struct probe *probe, const struct snapshot_source *source, struct aggstats_profile *profile);

    /* What was just shown is being saved: mark. Ends with taking it from what is shown from now on (profile: it); or
     * with nothing having changed (NULL), also if it was never marked. After a reset, neither. */
    void (*mark)(struct probe *probe);
    void (*end_mark)(struct probe *probe, const struct aggstats_profile *taken);

    /* The recorder has waited for a call, and one begins.
     * Threads: any, without locks
     * Signals: may be called in handlers */
    void (*wake)(struct probe *probe);

    /* Its own locks, while the process forks: taken last. */
    void (*lock)(struct probe *probe);
    void (*unlock)(struct probe *probe);

    /* In a child process: threads have stayed behind. */
    void (*leave)(struct probe *probe);

    /* Without locks, when no thread counts any more: ends its threads and frees it. */
    void (*destroy)(struct probe *probe);
};

struct probe {
    const struct probe_ops *ops;
    struct aggstats_recorder *recorder;
    bool is_left; /* under the window lock */
};

#endif
