/* osprof run --vs: two commands run in turn, and what differs between their profiles.
 *
 * Each run has mounts of its own, with empty caches: were both mounted at once, one would go on showing names and
 * attributes that the other has just changed. The profiles of several runs are compared as two sets. */
#ifndef RUN_VS_H
#define RUN_VS_H

#include "namespace.h"
#include "run_mounts.h"
#include "run_report.h"
#include "run_sets.h"
#include "run_signals.h"

enum { VS_A, VS_B, VS_SIDES };

#define VS_RUNS_MAX 1000U /* all are kept in memory */

struct run_vs {
    const char *other;          /* A, for a shell: what B is compared with */
    const char *const *command; /* B, NULL at the end */
    unsigned warmup_count;
    unsigned repeat_count;     /* with several, a throw decides in each round which goes first; 0: until all ops are
                                  decided */
    unsigned most_count;       /* then: rounds at most */
    unsigned most_seconds;     /* then: no round begins after so long; 0: however long it takes */
    struct run_mounts *mounts; /* open, not started */
    const struct namespace *space;
    const struct run_signals *signals;
    const struct run_target *target; /* of VS_SIDES profiles for each directory; of a single run */
    const struct run_sets *sets;     /* of several */
};

/* Runs both in turn, saves the profiles if they have a place, and prints a comparison for each directory on standard
 * error. A round that a signal has cut short does not count.
 * Returns an exit status: that of B's first run that failed; else of what ended the runs early */
int run_vs(const struct run_vs *vs);

#endif
