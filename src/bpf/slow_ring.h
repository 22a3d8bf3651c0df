/* Private: slow calls on their way from the kernel, and what wakes who watches calls (programs/slow_calls.h). */
#ifndef SLOW_RING_H
#define SLOW_RING_H

#include "collector.h"

struct slow_ring {
    struct ring_buffer *ring; /* NULL: there is none */
    uint64_t from_ns;
    collector_slow_fn *tell; /* while they are taken */
    void *context;
};

/* from_ns: calls that have begun before are dropped
 * Errors:  those of bpf(2) */
int slow_ring_open(struct slow_ring *ret_ring, int map_fd, uint64_t from_ns);

void slow_ring_take(struct slow_ring *ring, collector_slow_fn *tell, void *context);

/* -1: there is no ring */
int slow_ring_fd(const struct slow_ring *ring);

void slow_ring_finish(struct slow_ring *ring);

#endif
