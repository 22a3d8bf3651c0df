/* What threads of this machine wait for, as counters.
 *
 * Invariants:
 *   - No counter decreases. A wait counts while it goes on, and what was counted of it is not counted again when it ends.
 *   - There are at most SERVE_WHY_SERIES_MAX series. Each cause has its time in some series: programs that came too late
 *     for one of their own are "other"; so are causes without a name, when there are too many.
 *   - Memory is bounded: threads that do not wait are forgotten. */
#ifndef SERVE_WHY_H
#define SERVE_WHY_H

#include "views.h"
#include "wait_watch.h"

#define SERVE_WHY_SERIES_MAX 200

struct serve_why_series {
    char *cause;
    enum wait_class class;
    char program[WAITED_NAME_BYTES + 1];
    uint64_t waits;
    uint64_t total_ns;
};

struct serve_why {
    struct attach_processes nobody; /* no processes in particular */
    struct attach_cgroup nowhere;
    struct wait_watch watch;
    struct serve_why_series series[SERVE_WHY_SERIES_MAX];
    size_t count;
    size_t others;   /* of these: of other programs, one for each cause */
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
size_t serve_why_take(struct serve_why *why, struct view_wait ret_waits[SERVE_WHY_SERIES_MAX]);

#endif
