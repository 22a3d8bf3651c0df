/* What threads of this machine wait for, as counters.
 *
 * Invariants:
 *   - Counters only grow. A wait counts while it goes on, and what was counted of it is not counted again when it ends.
 *   - There is a bounded number of series: wait_series.h.
 *   - Memory is bounded: threads that do not wait are forgotten. */
#ifndef SERVE_WHY_H
#define SERVE_WHY_H

#include "views.h"
#include "wait_series.h"
#include "wait_watch.h"

struct serve_why {
    struct attach_processes nobody; /* no processes in particular */
    struct attach_cgroup nowhere;
    struct wait_watch watch;
    struct wait_series series;
    int64_t read_ns; /* when the kernel was read last */
    bool has_failed;
};

/* Owner:   the caller finishes *ret_why, and does not move it
 * Errors:  reported to the user */
int serve_why_start(struct serve_why *ret_why);
void serve_why_finish(struct serve_why *why);

/* Reads the kernel, if that was a second ago. Errors: reported to the user, once */
void serve_why_read(struct serve_why *why);

/* Reads it now, and fills waits; they borrow from why. Returns their number */
size_t serve_why_take(struct serve_why *why, struct view_wait ret_waits[WAIT_SERIES_MAX]);

#endif
