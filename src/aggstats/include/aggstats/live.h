/* libaggstats: reading live files, which hold the counters of other processes. */
#ifndef AGGSTATS_LIVE_H
#define AGGSTATS_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

AGGSTATS_BEGIN_DECLARATIONS

#define AGGSTATS_LIVE_VERSION 13

struct aggstats_live_info {
    int64_t pid;    /* of the process that records or recorded */
    bool recording; /* it still runs */
    bool paused;
};

/* True if the file begins as a live file does. */
bool aggstats_live_is(int fd);

/* The profile in a live file, of a process that runs, hangs or has died. Reads only; hostile contents give an error,
 * never a crash. Elapsed time and ages count to now while the process records; after that to the last known moment: its
 * orderly end, or the latest of its last call's beginning, last snapshot and last reset.
 * Owner:   the caller finishes *ret_profile; ret_info and ret_error may be NULL
 * Errors:  -EBADMSG not a live file, or broken (*ret_error filled), -EAGAIN reset again and again meanwhile, -ENOMEM,
 *          errors of reading
 * Locks:   takes a shared flock(2) on fd for an instant, to see whether the process still holds its own */
int aggstats_live_read(int fd, struct aggstats_profile *ret_profile, struct aggstats_live_info *ret_info,
                       struct aggstats_parse_error *ret_error);

/* The same without any counts: labels, the beginning, resolution and clock. A few readings of a few bytes, however large
 * the file is. What it does not read may be broken. */
int aggstats_live_read_head(int fd, struct aggstats_profile *ret_profile, struct aggstats_live_info *ret_info,
                            struct aggstats_parse_error *ret_error);

AGGSTATS_END_DECLARATIONS

#endif
