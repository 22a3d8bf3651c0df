/* What threads wait for, from snapshot to snapshot, for osprof top -a. */
#ifndef TOP_WAITS_H
#define TOP_WAITS_H

#include "command.h"
#include "sheet.h"
#include "top_waits.h"
#include "wait_watch.h"

/* One that waited for something but work, in all its causes. */
struct top_waiter {
    const char *who; /* owned by by_who */
    uint64_t total_ns;
    uint64_t longest_ns;
    const struct wait_view_row *most; /* its longest row; owned by by_who */
};

struct top_waits {
    struct wait_watch watch;
    enum wait_by by;   /* who stands in the lower part; not nobody */
    const char *whose; /* whose waits these are; NULL: of all of the machine */

    /* The latest snapshot. */
    struct wait_row *rows; /* [row_count] marked as at the snapshot before */
    size_t row_count;
    int64_t
        begin_ns; /* of the monotonic clock: of where summing begins (struct wait_row's begun), of the snapshot before, and of the latest */
    int64_t previous_ns;
    int64_t taken_ns;
    int64_t read_ns;  /* when the kernel was read last */
    int64_t clock_ns; /* of the latest snapshot, in Unix time */

    /* What is shown of it. */
    bool summing;           /* since that; else since the snapshot before */
    struct wait_row *shown; /* [row_count] */
    struct wait_view by_cause;
    struct wait_view by_who;
    struct top_waiter *waiters; /* [waiter_count] the longest first */
    size_t waiter_count;
    char chosen[WAIT_WHO_SIZE]; /* "": always the first */
};

/* by: not nobody
 * Errors:  reported to the user
 * Owner:   the caller finishes *ret_waits; scope must outlive it */
int top_waits_start(const struct wait_scope *scope, enum wait_by by, struct top_waits *ret_waits);
void top_waits_finish(struct top_waits *waits);

/* Takes a snapshot. Errors: -ENOMEM, those of bpf(2) */
int top_waits_refresh(struct top_waits *waits);

/* Reads the kernel if that is due, so that it has room for all waits. Errors: as before */
int top_waits_read(struct top_waits *waits);
int64_t top_waits_due_ns(const struct top_waits *waits); /* from now */

/* These change what is shown, without another snapshot. Errors: -ENOMEM */
int top_waits_sum(struct top_waits *waits, bool summing);
int top_waits_begin_here(struct top_waits *waits);

/* The index of the chosen waiter; waiter_count: it has not waited. */
size_t top_waits_chosen(const struct top_waits *waits);
void top_waits_choose(struct top_waits *waits, size_t index);

/* ---- Pages -------------------------------------------------------------------------------------- */

/* Puts the time of the snapshot, over which time the numbers are, and of whom. */
void top_waits_page_put_heading(struct sheet *sheet, const struct top_waits *waits);

/* For a screen: causes, and below them who waited longest, and the causes of the one that is chosen.
 * room_lines: of the screen */
void top_waits_page_put(struct sheet *sheet, const struct top_waits *waits, int room_lines);

/* As osprof why -a prints it. by: nobody: the waiters, of each cause; else a row for each, as they were added up */
void top_waits_page_put_report(struct sheet *sheet, const struct top_waits *waits, enum wait_by by);

/* As top_screen_run(). */
enum status top_waits_screen_run(struct top_waits *waits, int64_t delay_ns);

#endif
