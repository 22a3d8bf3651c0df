/* All blocks stay mapped, so looking at them takes no system call until there are more of them. */
#include "shared_blocks.h"

#include <sys/mman.h>

#include "aggstats/shared.h"
#include "base.h"
#include "recorder_state.h"

#define MAPPED_FIRST 64U

static size_t mapped_bytes(const struct shared_blocks *blocks, const struct live *live) {
    return blocks->mapped_count * live->header->block_stride_bytes;
}

void shared_blocks_init(struct shared_blocks *blocks) {
    pthread_mutex_init(&blocks->lock, NULL);
}

void shared_blocks_finish(struct shared_blocks *blocks, const struct live *live) {
    if (blocks->memory)
        munmap(blocks->memory, mapped_bytes(blocks, live));
    pthread_mutex_destroy(&blocks->lock);
}

/* ---- Under the lock ---- */

/* Maps twice as many as there are, for those to come. Without memory, as many as before. */
static void map_more(struct shared_blocks *blocks, const struct live *live, uint64_t wanted_count) {
    const uint64_t doubled = wanted_count > MAPPED_FIRST / 2 ? 2 * wanted_count : MAPPED_FIRST;
    const uint64_t count = doubled < live->header->shared_threads ? doubled : live->header->shared_threads;
    void *memory = mmap(NULL, count * live->header->block_stride_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, live->fd, (off_t)live->header->header_bytes);
    if (memory == MAP_FAILED)
        return;
    if (blocks->memory)
        munmap(blocks->memory, mapped_bytes(blocks, live));
    blocks->memory = memory;
    blocks->mapped_count = count;
}

/* Returns how many can be looked at. */
static uint64_t map_all(struct shared_blocks *blocks, const struct live *live) {
    const uint64_t used = __atomic_load_n(&live->header->block_count, __ATOMIC_ACQUIRE);
    const uint64_t shared = live->fd >= 0 ? live->header->shared_threads : 0;
    const uint64_t count = used < shared ? used : shared;
    if (count > blocks->mapped_count)
        map_more(blocks, live, count);
    return count < blocks->mapped_count ? count : blocks->mapped_count;
}

/* False: its thread has ended, and the call that it had begun is forgotten. */
static bool is_living(struct live_owner *owner, struct aggstats_block *block) {
    if (!live_owner_take(owner))
        return true;
    __atomic_store_n(&block->current_op, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&owner->lock);
    return false;
}

unsigned aggstats_recorder_shared_in_flight(struct aggstats_recorder *recorder) {
    struct shared_blocks *blocks = &recorder->shared;
    const struct live *live = &recorder->live;
    struct live_owner *owners = live_owners(live->header, &recorder->layout);
    unsigned busy = 0;
    pthread_mutex_lock(&blocks->lock);
    const uint64_t count = map_all(blocks, live);
    for (uint64_t number = 0; number < count; number++) {
        struct aggstats_block *block =
            (struct aggstats_block *)(void *)(blocks->memory + number * live->header->block_stride_bytes);
        if (__atomic_load_n(&owners[number].is_made, __ATOMIC_ACQUIRE) &&
            __atomic_load_n(&block->current_op, __ATOMIC_ACQUIRE) != 0)
            busy += is_living(&owners[number], block);
    }
    pthread_mutex_unlock(&blocks->lock);
    return busy;
}

void aggstats_recorder_forget_dead(struct aggstats_recorder *recorder) {
    aggstats_recorder_shared_in_flight(recorder);
}
