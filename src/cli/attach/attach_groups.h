/* Which files calls are on, and whose they are: what the kernel has counted in windows, as groups of a recorder. Files
 * are called by their paths below the root of the file system, as of when they were first seen. */
#ifndef ATTACH_GROUPS_H
#define ATTACH_GROUPS_H

#include "collector.h"

struct attach_groups; /* opaque */

/* groupings: bits (1 << AGGSTATS_BY_FILE); groups_max: of each, 0: the default. Call before anything is counted.
 * Owner:   the caller finishes *ret_groups before the collector, and after the recorder
 * Errors:  -ENOMEM, those of aggstats_recorder_begin_groups() */
int attach_groups_start(struct collector *collector, struct aggstats_recorder *recorder, unsigned groupings,
                        unsigned groups_max, struct attach_groups **ret_groups);

/* NULL is fine. */
void attach_groups_finish(struct attach_groups *groups);

#endif
