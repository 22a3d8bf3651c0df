/* Private: calls that have ended, on their way from the thread that made them to the groups.
 *
 * A queue has one writer and one reader at a time; neither waits for the other. */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

#define EVENTS_MAX 1024U /* a power of two */
#define EVENTS_RECENT 64U

struct event {
    uint64_t latency_cycles;
    struct aggstats_call_of of;
    uint16_t op;
    uint16_t has_asked; /* the caller has just been asked for: first_calls.h has what it is */
};

struct events {
    uint32_t written;                                          /* atomic; by the writer, as the next */
    uint64_t recent[EVENTS_RECENT];                            /* callers met lately, + 1 */
    uint32_t taken __attribute__((aligned(CACHE_LINE_BYTES))); /* atomic; by the reader */
    struct event ring[EVENTS_MAX];
};

/* The writer's: whether there is room for one more. */
static inline bool events_have_room(const struct events *events, uint32_t written) {
    return written - __atomic_load_n(&events->taken, __ATOMIC_ACQUIRE) != EVENTS_MAX;
}

/* False: there is no room. */
static inline bool events_put(struct events *events, const struct event *event) {
    uint32_t written = events->written;
    if (!events_have_room(events, written))
        return false;
    events->ring[written % EVENTS_MAX] = *event;
    __atomic_store_n(&events->written, written + 1, __ATOMIC_RELEASE);
    return true;
}

/* Whether the writer has met that caller lately. */
static inline bool events_has_met(const struct events *events, uint32_t caller) {
    return events->recent[caller % EVENTS_RECENT] == (uint64_t)caller + 1;
}

/* True if the writer has not met that caller lately. */
static inline bool events_is_new(struct events *events, uint32_t caller) {
    uint64_t *place = &events->recent[caller % EVENTS_RECENT];
    if (*place == (uint64_t)caller + 1)
        return false;
    *place = (uint64_t)caller + 1;
    return true;
}

/* False: there is none. */
static inline bool events_take(struct events *events, struct event *ret_event) {
    uint32_t taken = events->taken;
    if (taken == __atomic_load_n(&events->written, __ATOMIC_ACQUIRE))
        return false;
    *ret_event = events->ring[taken % EVENTS_MAX];
    __atomic_store_n(&events->taken, taken + 1, __ATOMIC_RELEASE);
    return true;
}

#endif
