/* Which lock of the kernel a thread fights for: its kind, and the function that asked for it. */
#ifndef LOCK_PLACES_H
#define LOCK_PLACES_H

#include "locks.h"
#include "wait_causes.h"

struct lock_place {
    struct wait_cause cause; /* first: a cause of these is found in its place. "mutex, asleep: lock_rename" */
    unsigned kind;           /* of enum locked_kind */
    char function[CAUSE_FUNCTION_SIZE]; /* "": it is not known */
};

/* The place of a cause that is one of a place's. Owner: as the cause */
static inline const struct lock_place *lock_place_of(const struct wait_cause *cause) {
    return (const struct lock_place *)cause;
}

struct lock_places; /* opaque */

/* Owner:   the caller destroys it; locks must outlive it. Returns NULL without memory */
struct lock_places *lock_places_create(struct locks *locks);
void lock_places_destroy(struct lock_places *places);

/* Each place once. Owner: places. Returns NULL without memory */
const struct lock_place *lock_places_find(struct lock_places *places, const struct waited_cell *cell);

/* "rwsem"; what a lock is that may be read or written is wanted for, else NULL: "write"; "asleep". */
const char *lock_place_name(const struct lock_place *place);
const char *lock_place_access(const struct lock_place *place);
const char *lock_place_state(const struct lock_place *place);

#endif
