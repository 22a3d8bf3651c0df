/* Private: a probe is kept beside a recorder's counters, and begins, ends and is shown with them: groups, slow calls,
 * intervals and the like.
 *
 * A recorder calls its probes in the order of their places, and knows nothing else of them. A probe is never detached.
 * In a child process it is absent after leave(), until it is attached again. */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>

#include "aggstats.h"

#define PROBES_MAX 8 /* places; which probe has which is up to the probes */

struct probe;
struct snapshot_source;

/* NULL: nothing to do. All are called under the window lock, except those that say otherwise. */
struct probe_ops {
    /* Before a snapshot, without locks: may take long. */
    void (*prepare)(struct probe *probe);

    /* Collects its data, before the counters are read: a call is counted in the counters first. */
    void (*read)(struct probe *probe);

    /* hold: from now on the data of show() must not change; go_on: the data may change again. */
    void (*hold)(struct probe *probe);
    void (*go_on)(struct probe *probe);

    /* reset: from now on show() shows only later calls. */
    void (*reset)(struct probe *probe);
    void (*pause)(struct probe *probe);
    void (*resume)(struct probe *probe);

    /* Adds its data to a profile that has its ops.
     * Errors:  -ENOMEM; the caller finishes the profile */
    int (*show)(struct probe *probe, const struct snapshot_source *source, struct aggstats_profile *profile);

    /* mark: the profile just shown is being saved.
     * end_mark: taken: the saved profile, which is subtracted from what is shown from now on; NULL: saving failed, or
     * there was no mark, and nothing changes. Not called if there was a reset since mark(). */
    void (*mark)(struct probe *probe);
    void (*end_mark)(struct probe *probe, const struct aggstats_profile *taken);

    /* The recorder was waiting for a call, and now one begins.
     * Threads: any, without locks
     * Signals: may be called in handlers */
    void (*wake)(struct probe *probe);

    /* Takes its own locks before a fork, after all others. */
    void (*lock)(struct probe *probe);
    void (*unlock)(struct probe *probe);

    /* In a child process after a fork: its threads exist only in the parent. */
    void (*leave)(struct probe *probe);

    /* Without locks, when no thread counts any more: ends its threads and frees it. */
    void (*destroy)(struct probe *probe);
};

struct probe {
    const struct probe_ops *ops;
    struct aggstats_recorder *recorder;
    bool is_left; /* under the window lock */
};

/* A leave() for a probe that has nothing to do then. */
static inline void probe_leave(struct probe *probe) {
    probe->is_left = true;
}

#endif
