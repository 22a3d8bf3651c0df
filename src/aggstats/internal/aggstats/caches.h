/* libaggstats, inside this project: how many bytes of read calls came from the page cache. */
#ifndef AGGSTATS_CACHES_H
#define AGGSTATS_CACHES_H

#include "aggstats/recorder.h"

/* From now on snapshots and the live file say that, for calls from now on.
 * Errors:  -EBUSY they do already, -ENOMEM
 * Threads: call before any thread counts */
int aggstats_recorder_begin_caches(struct aggstats_recorder *recorder);

/* Adds bytes. Does nothing while paused, or without the former.
 * Threads: any */
void aggstats_recorder_add_cache(struct aggstats_recorder *recorder, const struct aggstats_cache *cache);

#endif
