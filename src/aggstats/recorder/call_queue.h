/* Private: ended calls, on their way from the thread that made them to the groups.
 *
 * A queue has one writer and one reader at a time; neither waits for the other. */
#ifndef CALL_QUEUE_H
#define CALL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggstats/caller_groups.h"
#include "layout.h"

#define CALL_QUEUE_MAX 1024U /* a power of two */
#define CALL_QUEUE_RECENT 64U
#define CALL_QUEUE_MARK (UINT64_C(1) << 40)

struct queued_call {
    uint64_t latency_cycles;
    struct aggstats_call_of of;
    uint16_t op;
    uint16_t has_asked; /* the caller was looked up at its first call: first_calls.h has the result */
};

struct call_queue {
    uint32_t written;                                          /* atomic; by the writer, like the next */
    uint64_t recent[CALL_QUEUE_RECENT];                        /* callers met recently, + 1, with their mark */
    uint32_t taken __attribute__((aligned(CACHE_LINE_BYTES))); /* atomic; by the reader */
    struct queued_call ring[CALL_QUEUE_MAX];
};

/* For the writer: true if there is room for one more. */
static inline bool call_queue_has_room(const struct call_queue *queue, uint32_t written) {
    return written - __atomic_load_n(&queue->taken, __ATOMIC_ACQUIRE) != CALL_QUEUE_MAX;
}

/* Returns false if there is no room. */
static inline bool call_queue_put(struct call_queue *queue, const struct queued_call *call) {
    uint32_t written = queue->written;
    if (!call_queue_has_room(queue, written))
        return false;
    queue->ring[written % CALL_QUEUE_MAX] = *call;
    __atomic_store_n(&queue->written, written + 1, __ATOMIC_RELEASE);
    return true;
}

/* True if the writer has met that caller recently, and under the same mark: a multiple of CALL_QUEUE_MARK. */
static inline bool call_queue_has_met(const struct call_queue *queue, uint64_t mark, uint32_t caller) {
    return queue->recent[caller % CALL_QUEUE_RECENT] == mark + caller + 1;
}

/* The opposite, and remembers the caller. */
static inline bool call_queue_is_new(struct call_queue *queue, uint64_t mark, uint32_t caller) {
    uint64_t *place = &queue->recent[caller % CALL_QUEUE_RECENT];
    if (*place == mark + caller + 1)
        return false;
    *place = mark + caller + 1;
    return true;
}

/* Returns false if there is none. */
static inline bool call_queue_take(struct call_queue *queue, struct queued_call *ret_call) {
    uint32_t taken = queue->taken;
    if (taken == __atomic_load_n(&queue->written, __ATOMIC_ACQUIRE))
        return false;
    *ret_call = queue->ring[taken % CALL_QUEUE_MAX];
    __atomic_store_n(&queue->taken, taken + 1, __ATOMIC_RELEASE);
    return true;
}

#endif
