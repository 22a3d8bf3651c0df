/* osprof run --vs: two commands run in turn, and what differs between their profiles. */
#ifndef VERSUS_H
#define VERSUS_H

#include "run_child.h"
#include "run_options.h"
#include "run_report.h"
#include "verdict.h"

enum { VS_A, VS_B, VS_SIDES };

#define RUN_LOOKS_FIRST 3U         /* rounds before the first look; --max-repeat takes no fewer */
#define RUN_LOOKS_MOST_DEFAULT 30U /* rounds at most */
#define VS_RUNS_MAX 1000U          /* all are kept in memory */

struct run_vs {
    const struct run_options *options; /* the command is B; `other`, for a shell, is A, with which B is compared */
    struct run_place place;          /* mounts: open, not started; none: the layer user is compared, which is open then.
                             * neighbours: none */
    const struct run_target *target; /* of VS_SIDES profiles for each directory; for a single run */
    const struct run_target *page;   /* of HTML, about both; of one directory */
    const struct run_sets *sets;     /* for several runs */
};

/* Runs both in turn; of several rounds each draws lots which goes first. Saves the profiles if wanted, and prints a
 * comparison for each directory on standard error. A round that a signal has cut short does not count.
 * Returns an exit status: that of the comparison, if asked for and all rounds were made; else that of B's first run that
 * failed; else of what ended the runs early */
int run_vs(const struct run_vs *vs);

#endif
