/* Private: what the files of the crew share. crew.c is who is in it, and its beginning and end; crew_calls.c what a
 * worker does about it at each call; crew_looks.c what the main thread does; crew_company.c how many callers there are;
 * crew_places.c where members are bound to.
 *
 * What ends in _locked is called with the lock held, all else without. A member holds the lock only outside of
 * SCHED_IDLE, where it might keep it for long. */
#ifndef CREW_PRIVATE_H
#define CREW_PRIVATE_H

#include "crew.h"

#define WINDOW_CALLS 64U
#define LOOK_EVERY 256U /* calls: the scheduler has moved the caller meanwhile */

static inline unsigned crew_count(const struct crew *crew) {
    return __atomic_load_n(&crew->count, __ATOMIC_ACQUIRE);
}

static inline unsigned crew_most(const struct crew *crew) {
    return __atomic_load_n(&crew->most, __ATOMIC_RELAXED);
}

static inline unsigned crew_wanted(const struct crew *crew) {
    return __atomic_load_n(&crew->wanted, __ATOMIC_ACQUIRE);
}

static inline enum crew_manner crew_current_manner(const struct crew *crew) {
    return __atomic_load_n(&crew->manner, __ATOMIC_ACQUIRE);
}

static inline bool crew_is_bound(enum crew_manner manner) {
    return manner == CREW_GIVES_WAY || manner == CREW_GOES_FIRST;
}

static inline uint64_t crew_calls_since_joined(const struct crew_member *member) {
    return (__atomic_load_n(&member->progress, __ATOMIC_RELAXED) - member->joined) / 2;
}

/* callers: a bit for each */
static inline unsigned crew_count_callers(uint64_t callers) {
    return (unsigned)__builtin_popcountll(callers);
}

/* ---- crew.c ---- */

enum crew_end {
    CREW_ENDS_WITHOUT_REQUESTS,
    CREW_ENDS_SLOW, /* calls are, or one is stuck */
    CREW_ENDS_STARVED,
    CREW_ENDS_FOR_QUEUE,
};

/* How many members there may be. */
unsigned crew_most_in(const struct crew *crew, enum crew_manner manner);

/* With this worker, who is to enter it then. Returns false if there is to be none yet. */
bool crew_begin(struct crew *crew, struct crew_member *worker);

/* Returns false if there was none. */
bool crew_end_locked(struct crew *crew, enum crew_end reason);
void crew_end(struct crew *crew, enum crew_end reason);

/* But for the last member, who stays. */
void crew_leave(struct crew *crew, struct crew_member *worker);

void crew_set_manner_locked(struct crew *crew, enum crew_manner manner);
void crew_rank_by_manner_locked(struct crew *crew);

/* Members got no CPU lately: they are not to be bound to one. */
bool crew_was_starved(const struct crew *crew);

/* It is known lately that unbound workers serve the queue best. */
bool crew_is_queue_known(const struct crew *crew, uint64_t now);

/* ---- crew_calls.c ---- */

void crew_start_window(struct crew_member *worker);

/* In the device, for a worker. */
bool crew_requests_wait(int device_fd);

/* ---- crew_company.c ---- */

/* callers: a bit for each, of so many calls, some of them on names */
enum crew_company crew_company_of(const struct crew *crew, uint64_t callers, unsigned calls, unsigned on_names);

/* Too many threads in the system want a CPU. */
bool crew_is_crowded(const struct crew *crew);

/* With the manner that is best for the company as far as can be told before it is measured. */
void crew_begin_trial_locked(struct crew *crew, bool is_starved);

/* ---- crew_places.c ---- */

/* By the crew's manner. */
void crew_find_place(struct crew *crew, struct crew_member *worker);
void crew_unbind(struct crew *crew, struct crew_member *worker);

/* Its callers run where another member is: each request wakes this one, and then the caller, across CPUs. */
bool crew_is_apart(const struct crew *crew, const struct crew_member *worker);

/* A caller of it runs where no member is. */
bool crew_has_caller_elsewhere(const struct crew *crew, const struct crew_member *worker);

#endif
