/* libaggstats, inside this project: how much of the time calls were in flight. */
#ifndef AGGSTATS_BUSY_H
#define AGGSTATS_BUSY_H

#include <stdbool.h>

#include "aggstats/recorder.h"

/* From now on snapshots and the live file say how much of the time calls were in flight (struct aggstats_busy). A
 * thread samples that a hundred times a second; while there are no calls, once in some seconds. Of a shared live file
 * (aggstats/shared.h) it samples the calls of all processes, 500 times a second. They also have stolen time, which the
 * thread reads once a second, or as rarely; and, if it is this process's threads that make the calls, what these had
 * read from storage.
 * makes_calls: the calls are made by this process
 * Errors:  -EBUSY it is sampled already, -ENOMEM, those of starting a thread
 * Threads: call before any thread counts */
int aggstats_recorder_watch(struct aggstats_recorder *recorder, bool makes_calls);

#endif
