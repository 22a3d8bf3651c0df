/* Starting the recorder as the command line asks: labels, live file, sampling, groupings, calls in flight. */
#ifndef RECORDER_START_H
#define RECORDER_START_H

#include "aggstats.h"
#include "mount_options.h"
#include "node_name.h"

/* All borrowed; the names while the recorder is there. */
struct recorder_wanted {
    const struct options *options;
    char *lower; /* absolute, as the next: for labels */
    char *mountpoint;
    char *profile;            /* where the final profile goes, for a label; NULL: none */
    struct node_names *names; /* those of groups by file or directory come from */
};

/* Says what goes wrong.
 * Owner:   the caller destroys *ret_recorder, and unlinks its live file when nobody needs it
 * Errors:  those of the live file, if one was asked for by name, and of starting; *ret_recorder untouched */
int recorder_start(const struct recorder_wanted *wanted, struct aggstats_recorder **ret_recorder);

#endif
