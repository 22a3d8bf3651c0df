/* libaggstats: latency distributions in logarithmic buckets, recorded by many threads at next to no cost.
 *
 * The OSprof method (thesis chapter 3): for every operation keep how many calls took 2^b..2^(b+1) clock cycles.
 * Invariants that everything else relies on:
 *   - A counter is written by one thread only, and its signal handlers, and only ever grows. The hot path has no lock,
 *     no atomic read-modify-write (on x86-64), no allocation and no system call.
 *   - A call is counted before it begins, its bucket after it ends; readers read in the opposite order.
 *     So calls - sum(buckets) is the number of calls in flight, never negative (thesis §5.8).
 *   - Reset and pause change what readers subtract, never a counter: nothing can be lost.
 *
 * Life cycle: aggstats_clock_detect, aggstats_recorder_create, any number of threads calling
 * aggstats_begin/aggstats_end, aggstats_recorder_snapshot at any time, aggstats_recorder_destroy.
 *
 * The headers below may be included by themselves. abi.h says which library a program needs. hot.h holds what is
 * compiled into programs and is no interface.
 *
 * Functions return 0 or a negative errno value unless they say otherwise. The library never prints, logs or exits. */
#ifndef AGGSTATS_H
#define AGGSTATS_H

#include "aggstats/abi.h"
#include "aggstats/bucket.h"
#include "aggstats/clock.h"
#include "aggstats/failure.h"
#include "aggstats/live.h"
#include "aggstats/profile.h"
#include "aggstats/recorder.h"
#include "aggstats/text.h"
#include "aggstats/value.h"

#endif
