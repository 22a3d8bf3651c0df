/* Reads records from the ring of slow calls. The size of a record says what it has: a wake-up alone, a call, or a
 * call with its user stack. */
#include "slow_ring.h"

#include <bpf/libbpf.h>

#include "base.h"

/* What is shorter has only woken the reader. */
static int take(void *context, void *record, size_t size_bytes) {
    const struct slow_ring *ring = context;
    const struct collected_slow *call = record;
    const struct collected_slow_user *user = record;
    if (size_bytes >= sizeof(*call) && call->begin_ns >= ring->from_ns)
        ring->tell(ring->context, call, size_bytes >= sizeof(*user) ? &user->from : NULL);
    return 0;
}

int slow_ring_open(struct slow_ring *ret_ring, int map_fd, uint64_t from_ns) {
    *ret_ring = (struct slow_ring){.from_ns = from_ns};
    ret_ring->ring = ring_buffer__new(map_fd, take, ret_ring, NULL);
    return ret_ring->ring ? 0 : negative_errno();
}

void slow_ring_take(struct slow_ring *ring, collector_slow_fn *tell, void *context) {
    ring->tell = tell;
    ring->context = context;
    if (ring->ring)
        ring_buffer__consume(ring->ring);
}

int slow_ring_fd(const struct slow_ring *ring) {
    return ring->ring ? ring_buffer__epoll_fd(ring->ring) : -1;
}

void slow_ring_finish(struct slow_ring *ring) {
    ring_buffer__free(ring->ring);
    ring->ring = NULL;
}
