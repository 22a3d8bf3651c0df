/* Watches which of the kernel's locks threads fight for, and who has the locks. */
#ifndef LOCK_WATCH_H
#define LOCK_WATCH_H

#include "holders.h"
#include "locks.h"
#include "number_map.h"
#include "wait_causes.h"
#include "wait_sums.h"

/* Where a lock is fought for: its kind, and the function that asked for it. */
struct lock_place {
    struct wait_cause cause; /* first: a cause of these is found in its place. "mutex, asleep: lock_rename" */
    unsigned kind;           /* of enum locked_kind */
    char function[CAUSE_FUNCTION_SIZE]; /* "": it is not known */
};

/* The place of a cause that is one of a place's. Owner: as the cause */
static inline const struct lock_place *lock_place_of(const struct wait_cause *cause) {
    return (const struct lock_place *)cause;
}

/* "rwsem"; what a lock is that may be read or written is wanted for, else NULL: "write"; "asleep". */
const char *lock_place_name(const struct lock_place *place);
const char *lock_place_access(const struct lock_place *place);
const char *lock_place_state(const struct lock_place *place);

/* A thread that is asleep for a lock, when that was read last. */
struct lock_waiter {
    uint32_t thread;
    uint32_t owner_thread; /* 0: unknown */
    const struct lock_place *place;
};

struct lock_watch {
    struct locks *locks;
    struct lock_place **places; /* [place_count] */
    size_t place_count;
    struct number_map seen;      /* places from 1, by stack and kind; bounded */
    struct wait_sums sums;       /* causes are those of places */
    struct lock_waiter *waiters; /* [waiter_count], of the whole machine */
    size_t waiter_count;
};

/* beside: whose processes are watched, as for locks_start()
 * Owner:   the caller destroys *ret_watch
 * Errors:  reported to the user */
int lock_watch_start(const struct waits *beside, struct lock_watch **ret_watch);

/* NULL is fine. */
void lock_watch_destroy(struct lock_watch *watch);

/* Whether a thread of the processes that are watched is looked at. */
typedef bool lock_watched_fn(void *context, const struct waited_cell *cell);

/* Adds what has happened since the last time. Errors: -ENOMEM, those of bpf(2) and read(2) */
int lock_watch_read(struct lock_watch *watch, lock_watched_fn *is_watched, void *context);

/* A holders_kernel_lock_fn; context: a struct lock_watch. As of the last lock_watch_read(). A lock of unknown owner is not
 * found: something else may be known of what the thread waits for. */
bool lock_watch_find_owner(void *context, uint64_t thread, struct holders_kernel_lock *ret_lock);

/* Fights that were not counted. */
struct waits_losses lock_watch_lost(const struct lock_watch *watch);

#endif
