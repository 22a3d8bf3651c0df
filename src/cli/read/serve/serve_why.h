/* What threads of this machine wait for, as a bounded number of counters, a series for each cause and program.
 *
 * Invariants:
 *   - Counters only grow. A wait counts while it goes on, and its counted part is not counted again when it ends.
 *   - Each wait is in one series. Programs without a series of their own are in the series of "other" programs of the
 *     cause; so are causes without a name, when there are too many.
 *   - If there are too many programs, the program whose waits were shortest lately gives way: its counts are added to the
 *     others, and its series ends. So no counter decreases, and no sum over programs does; a series that begins again
 *     begins anew.
 *   - Memory is bounded: threads that do not wait are forgotten. */
#ifndef SERVE_WHY_H
#define SERVE_WHY_H

#include <stddef.h>
#include <stdint.h>

#include "views.h"
#include "wait_causes.h"
#include "wait_watch.h"

#define WAIT_SERIES_MAX 200

struct wait_one_series {
    char *cause;
    enum wait_class class;
    char program[WAITED_NAME_BYTES + 1];
    uint64_t waits;
    uint64_t total_ns;
    uint64_t lately_ns; /* the same, where what is a minute old counts half at most */
};

/* Zeroed, it is empty. */
struct wait_series {
    struct wait_one_series series[WAIT_SERIES_MAX];
    size_t count;
    size_t others; /* of these: of other programs, one for each cause */
};

/* What was long ago counts less from now on. Call before waits of an interval of that length are added. */
void wait_series_age(struct wait_series *series, uint64_t interval_ns);

/* Without memory they are not added. */
void wait_series_add(struct wait_series *series, const struct wait_cause *cause, const char *program, uint64_t waits,
                     uint64_t total_ns);

void wait_series_finish(struct wait_series *series);

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
