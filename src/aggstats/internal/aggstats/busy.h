/* libaggstats, inside this project: how much of the time calls were in flight. */
#ifndef AGGSTATS_BUSY_H
#define AGGSTATS_BUSY_H

#include "aggstats/recorder.h"

/* From now on snapshots tell how much of the time calls were in flight (struct aggstats_busy), and so does the live
 * file: a thread looks a hundred times a second, and while there are no calls once in some seconds. They tell stolen
 * time too, which it reads once a second, or as rarely.
 * Errors:  -EBUSY somebody looks already, -ENOMEM, those of starting a thread
 * Threads: before any thread counts */
int aggstats_recorder_watch(struct aggstats_recorder *recorder);

#endif
