/* osprof run --vs: two commands run in turn, and what differs between their profiles. */
#ifndef VERSUS_H
#define VERSUS_H

#include "run_child.h"
#include "run_report.h"
#include "verdict.h"

enum { VS_A, VS_B, VS_SIDES };

#define RUN_LOOKS_FIRST 3U         /* rounds before the first look; --max-repeat takes no fewer */
#define RUN_LOOKS_MOST_DEFAULT 30U /* rounds at most */
#define VS_RUNS_MAX 1000U          /* all are kept in memory */

struct run_vs {
    const char *other;          /* A, for a shell: the command that B is compared with */
    const char *const *command; /* B, NULL at the end */
    unsigned warmup_count;
    unsigned repeat_count; /* if several, each round draws lots which goes first; 0: until all ops are decided */
    unsigned most_count;   /* then: rounds at most */
    unsigned most_seconds; /* then: no round begins after this time; 0: no limit */
    unsigned fail_on; /* differences that make the exit status 1: VERDICT_ON_*; 0: the status is that of the commands */
    struct run_place place;          /* mounts: open, not started; none: the layer user is compared, which is open then.
                                * neighbours: none */
    const struct run_target *target; /* of VS_SIDES profiles for each directory; for a single run */
    const struct run_target *page;   /* of HTML, about both; of one directory */
    const struct run_sets *sets;     /* for several runs */
    bool is_quiet;                   /* no page */
    bool charts;                     /* of several runs: histograms of what changed */
};

/* Runs both in turn, saves the profiles if wanted, and prints a comparison for each directory on standard error. A
 * round that a signal has cut short does not count.
 * Returns an exit status: that of the comparison, if asked for and all rounds were made; else that of B's first run that
 * failed; else of what ended the runs early */
int run_vs(const struct run_vs *vs);

#endif
