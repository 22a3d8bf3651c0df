/* Starting the recorder as the command line asks: labels, live file, sampling, groupings, calls in flight. */
#ifndef RECORDER_START_H
#define RECORDER_START_H

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "mount_options.h"
#include "node_name.h"

/* All borrowed; the names for as long as the recorder exists. */
struct recorder_wanted {
    const struct options *options;
    char *lower; /* absolute, like the next: for labels */
    char *mountpoint;
    char *profile;            /* path of the final profile, for a label; NULL: none */
    struct node_names *names; /* names of groups by file or directory */
};

/* How calls are grouped. wanted: groupings, as bits; names: borrowed for as long as the recorder exists. Returns how
 * many there are */
unsigned recorder_groupings(const struct options *options, unsigned wanted, struct node_names *names,
                            struct aggstats_grouping_options ret_groupings[AGGSTATS_GROUPINGS]);

/* Prints errors.
 * Owner:   the caller destroys *ret_recorder, and unlinks its live file when nobody needs it
 * Errors:  those of the live file, if one was asked for by name, and of starting; *ret_recorder untouched */
int recorder_start(const struct recorder_wanted *wanted, struct aggstats_recorder **ret_recorder);

#endif
