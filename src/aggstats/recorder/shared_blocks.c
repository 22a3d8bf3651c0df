/* All blocks stay mapped, so looking at them takes no system call until there are more of them. */
#include "shared_blocks.h"

#include <sys/mman.h>

#include "aggstats/watched.h"
#include "base.h"
#include "live_owner.h"

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
    struct live_owner_asker asker = {.checks_max = 1};
    if (!live_owner_take(owner, &asker))
        return true;
    __atomic_store_n(&block->current_op, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&owner->lock);
    return false;
}

/* NULL: no thread has used it yet. */
static struct aggstats_block *find_block(const struct shared_blocks *blocks, const struct live *live,
                                         const struct live_owner *owners, uint64_t number) {
    if (!__atomic_load_n(&owners[number].is_made, __ATOMIC_ACQUIRE))
        return NULL;
    return (struct aggstats_block *)(void *)(blocks->memory + number * live->header->block_stride_bytes);
}

unsigned shared_blocks_in_flight(struct shared_blocks *blocks, const struct live *live, const struct layout *layout,
                                 uint64_t *ret_ops) {
    struct live_owner *owners = live_shared(live->header, layout)->owners;
    unsigned busy = 0;
    uint64_t ops = 0;
    pthread_mutex_lock(&blocks->lock);
    const uint64_t count = map_all(blocks, live);
    for (uint64_t number = 0; number < count; number++) {
        struct aggstats_block *block = find_block(blocks, live, owners, number);
        const uint64_t current_op = block ? __atomic_load_n(&block->current_op, __ATOMIC_ACQUIRE) : 0;
        if (current_op != 0 && is_living(&owners[number], block)) {
            busy++;
            ops |= aggstats_watched_bit(current_op);
        }
    }
    pthread_mutex_unlock(&blocks->lock);
    if (ret_ops)
        *ret_ops = ops;
    return busy;
}

static int tally_block(const struct layout *layout, struct aggstats_block *block, bool takes_longest,
                       struct aggstats_block *copy, struct tally *tally) {
    struct aggstats_numbered numbered;
    if (takes_longest)
        tally_take_block(layout, block, copy, &numbered);
    else
        tally_read_block(layout, block, copy);
    const int err = tally_add_block(tally, copy);
    return err < 0 ? err : tally_add_call(tally, copy);
}

int shared_blocks_tally(struct shared_blocks *blocks, const struct live *live, bool takes_longest,
                        struct tally *tally) {
    struct layout layout = tally->layout;
    if (live->header->shared_threads == 0)
        return 0;
    layout.is_shared = true;
    const struct live_owner *owners = live_shared(live->header, &layout)->owners;
    const size_t copy_bytes = round_up(layout_block_bytes(&layout), CACHE_LINE_BYTES);
    CLEANUP_FREE struct aggstats_block *copy = aligned_alloc(CACHE_LINE_BYTES, copy_bytes);
    int err = copy ? 0 : -ENOMEM;
    pthread_mutex_lock(&blocks->lock);
    const uint64_t count = map_all(blocks, live);
    for (uint64_t number = 0; number < count && err == 0; number++) {
        struct aggstats_block *block = find_block(blocks, live, owners, number);
        if (block)
            err = tally_block(&layout, block, takes_longest, copy, tally);
    }
    pthread_mutex_unlock(&blocks->lock);
    return err;
}
