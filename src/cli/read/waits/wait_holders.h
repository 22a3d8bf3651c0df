/* The holders of the things that threads wait for: found during the wait, for the longest waits first. */
#ifndef WAIT_HOLDERS_H
#define WAIT_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "holders.h"
#include "lock_watch.h"
#include "wait_causes.h"
#include "wait_view.h"

/* One who waits, and for whom. */
struct wait_held {
    const struct wait_cause *cause;
    struct wait_row of; /* its process, thread, program and control group */
    bool waits_still;   /* as it did then, when threads were read last */
    int64_t seen_ns;    /* when, of the monotonic clock */
    uint64_t age_ns;    /* how long it had waited then */
    struct aggstats_chain *chain;
};

struct wait_holders; /* opaque */

/* Owner:   the caller destroys it; the table must outlive it. Returns NULL without memory */
struct wait_holders *wait_holders_create(struct thread_causes *table);
void wait_holders_destroy(struct wait_holders *holders);

/* Nobody waits any more, before those who do are noted again. */
void wait_holders_begin_now(struct wait_holders *holders);

/* Owners of locks of the kernel are known from now on. locks: outlives holders */
void wait_holders_know_locks(struct wait_holders *holders, struct lock_watch *locks);

/* A thread that waits now. */
void wait_holders_note(struct wait_holders *holders, const struct wait_cause *cause, const struct waiting_now *now);

/* Looks for the holders of what those wait for that were noted since the last time. Reads /proc: some milliseconds.
 * causes:  have the stacks of those */
void wait_holders_look(struct wait_holders *holders, struct wait_causes *causes);

/* The longest wait with the cause of that row.
 * by:      in what it has to be like the row, too. Of a row of several processes none is by process, or by thread
 * Owner:   holders
 * Returns NULL if none is known */
const struct wait_held *wait_holders_find(const struct wait_holders *holders, enum wait_by by,
                                          const struct wait_row *row);

/* What this user may not look at, in a sentence. Returns NULL if it was nothing, or nobody was looked for */
const char *wait_holders_hidden(const struct wait_holders *holders);

#endif
