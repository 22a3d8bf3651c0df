/* Waits as a page or a document shows them: rows of one cause and one of those who waited, and what is true of all. */
#ifndef WAIT_VIEW_H
#define WAIT_VIEW_H

#include "wait_cgroups.h"
#include "wait_sums.h"

enum wait_by {
    WAIT_BY_PROGRAM,
    WAIT_BY_PROCESS,
    WAIT_BY_THREAD,
    WAIT_BY_CGROUP,
    WAIT_BY_NOBODY, /* one row for each cause */
};

struct wait_view_row {
    const struct wait_cause *cause;
    char who[WAIT_WHO_SIZE]; /* "" if by nobody */
    uint64_t waits;          /* that have ended */
    uint64_t now;            /* threads that wait now */
    uint64_t total_ns;       /* of both */
    uint64_t longest_ns;
    uint64_t stack;              /* of the longest; 0: it is not known */
    const struct wait_row *most; /* who of these waited most. Owner: the sums */
};

struct wait_view {
    struct wait_view_row *rows; /* [count]; those that are waiting for work come last; the longest in all first */
    size_t count;
    size_t counting_rows; /* that are not */
    uint64_t elapsed_ns;
    uint64_t total_ns;   /* of these */
    uint64_t unnamed_ns; /* of these: by function only */
    uint64_t work_ns;    /* of the others */
    uint64_t threads;    /* that have waited for something but work; unless is_folded */
    uint64_t processes;
    uint64_t work_threads; /* that have waited for work only */
};

/* Since the last wait_sums_mark(), or the beginning. cgroups: have the names of control groups
 * Owner:   the caller finishes *ret_view
 * Errors:  -ENOMEM */
int wait_view_make(const struct wait_sums *sums, uint64_t elapsed_ns, enum wait_by by, struct wait_cgroups *cgroups,
                   struct wait_view *ret_view);
void wait_view_finish(struct wait_view *view);

#endif
