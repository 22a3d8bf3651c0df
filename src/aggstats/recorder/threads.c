/* Blocks, claimed by threads and given back.
 *
 * A thread's first call may be in a signal handler that has interrupted malloc(): so memory for it is mapped, and
 * signals are blocked while the registry's lock is held. */
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aggstats/numbered.h"
#include "base.h"
#include "quiet_lock.h"
#include "thread_block.h"

/* This thread's name in the registry; 0 until it has one. */
static AGGSTATS_THREAD_LOCAL uint64_t thread_id;

/* The segment of the block in this thread's cache; NULL: it shares the fallback. */
AGGSTATS_THREAD_LOCAL struct segment *threads_own_segment;

/* The library's only mutable global. */
static struct {
    pthread_mutex_t lock;
    struct threads *threads;
    uint64_t last_recorder_id;
    uint64_t last_thread_id;
    pthread_once_t exit_key_once;
    pthread_key_t exit_key;
    int exit_key_error;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .exit_key_once = PTHREAD_ONCE_INIT};

static struct segment *find_segment(const struct threads *threads, uint64_t owner_thread) {
    for (struct segment *segment = threads_first_segment(threads); segment; segment = segment->next)
        if (segment->owner_thread == owner_thread)
            return segment;
    return NULL;
}

/* ---- A thread that exits ---- */

/* Its blocks keep their counts and are free for others. Destructors that run later may record again: then the thread
 * claims blocks anew, and this runs once more. A block claimed in the last of PTHREAD_DESTRUCTOR_ITERATIONS rounds is
 * not reused. */
static void give_back_blocks(void *unused) {
    (void)unused;
    sigset_t before;
    quiet_lock(&registry.lock, &before);
    thread_block_fill_cache(AGGSTATS_NO_RECORDER, NULL);
    threads_own_segment = NULL;
    for (struct threads *threads = registry.threads; threads; threads = threads->next) {
        struct segment *segment = find_segment(threads, thread_id);
        if (!segment)
            continue;
        __atomic_store_n(&segment->block->current_op, 0, __ATOMIC_RELAXED);
        segment->owner_thread = 0;
    }
    quiet_unlock(&registry.lock, &before);
}

static void create_exit_key(void) {
    registry.exit_key_error = pthread_key_create(&registry.exit_key, give_back_blocks);
}

/* ---- A thread's first call ---- */

/* Zeroed memory of the process's own; NULL: none is left. */
static void *map_memory(size_t size_bytes) {
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Memory for a block: in the live file if there is one and it has room. */
static int map_block(struct threads *threads, struct segment *segment) {
    struct live_header *header = threads->live->header;
    segment->size_bytes = header->block_stride_bytes;
    int err = live_add_block(threads->live, &segment->block);
    if (err == 0)
        return 0;
    segment->block = map_memory(segment->size_bytes);
    if (segment->block && err != -ENOTSUP)
        __atomic_store_n(&header->incomplete, 1, __ATOMIC_RELEASE);
    return segment->block ? 0 : -ENOMEM;
}

static struct segment *add_segment(struct threads *threads) {
    struct segment *segment = map_memory(sizeof(*segment));
    if (!segment)
        return NULL;
    if (map_block(threads, segment) < 0) {
        munmap(segment, sizeof(*segment));
        return NULL;
    }
    segment->next = threads->segments;
    __atomic_store_n(&threads->segments, segment, __ATOMIC_RELEASE);
    return segment;
}

/* Finds or makes the calling thread's; call under the registry's lock. NULL: no memory is left. */
static struct segment *claim_segment(struct threads *threads) {
    if (thread_id == 0)
        thread_id = ++registry.last_thread_id;
    struct segment *segment = find_segment(threads, thread_id);
    if (!segment)
        segment = find_segment(threads, 0);
    if (!segment)
        segment = add_segment(threads);
    if (!segment) {
        __atomic_store_n(&threads->fallback_used, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&threads->live->header->incomplete, 1, __ATOMIC_RELEASE);
        return NULL;
    }
    segment->owner_thread = thread_id;
    __atomic_store_n(&segment->block->thread, (uint64_t)gettid(), __ATOMIC_RELAXED);
    return segment;
}

struct aggstats_block *threads_own_block(struct threads *threads, uint64_t recorder_id) {
    sigset_t before;
    int saved_errno = errno;
    quiet_lock(&registry.lock, &before);
    struct segment *segment = claim_segment(threads);
    struct aggstats_block *block = segment ? segment->block : threads->fallback_block;
    threads_own_segment = segment;
    thread_block_fill_cache(recorder_id, block);
    quiet_unlock(&registry.lock, &before);
    /* any value but NULL makes the destructor run. Without memory for it the block is not reused, but counts */
    pthread_setspecific(registry.exit_key, &registry);
    errno = saved_errno;
    return block;
}

/* Its owner is a number that no thread has. */
struct aggstats_block *threads_add_lane(struct threads *threads) {
    sigset_t before;
    quiet_lock(&registry.lock, &before);
    struct segment *segment = add_segment(threads);
    if (segment)
        segment->owner_thread = ++registry.last_thread_id;
    quiet_unlock(&registry.lock, &before);
    return segment ? segment->block : NULL;
}

struct call_queue *threads_own_queue(struct threads *threads, uint64_t recorder_id) {
    if (aggstats_thread_cache.recorder_id != recorder_id)
        threads_own_block(threads, recorder_id);
    struct segment *segment = threads_own_segment;
    if (!segment || segment->queue)
        return segment ? segment->queue : NULL;
    struct call_queue *queue = map_memory(sizeof(*queue));
    if (queue)
        __atomic_store_n(&segment->queue, queue, __ATOMIC_RELEASE);
    return queue;
}

/* ---- Life cycle ---- */

int threads_init(struct threads *threads, const struct layout *layout, struct live *live) {
    *threads = (struct threads){.layout = *layout, .live = live};
    pthread_once(&registry.exit_key_once, create_exit_key);
    if (registry.exit_key_error)
        return -registry.exit_key_error;
    size_t block_bytes = round_up(layout_block_bytes(layout), CACHE_LINE_BYTES);
    threads->fallback_block = aligned_alloc(CACHE_LINE_BYTES, block_bytes);
    if (!threads->fallback_block)
        return -ENOMEM;
    memset(threads->fallback_block, 0, block_bytes);
    return 0;
}

void threads_finish(struct threads *threads) {
    struct segment *next;
    for (struct segment *segment = threads->segments; segment; segment = next) {
        next = segment->next;
        munmap(segment->block, segment->size_bytes);
        if (segment->queue)
            munmap(segment->queue, sizeof(*segment->queue));
        munmap(segment, sizeof(*segment));
    }
    free(threads->fallback_block);
}

void threads_lock_registry(sigset_t *ret_before) {
    quiet_lock(&registry.lock, ret_before);
}

void threads_unlock_registry(const sigset_t *before) {
    quiet_unlock(&registry.lock, before);
}

struct threads *threads_first_registered(void) {
    return registry.threads;
}

uint64_t threads_register(struct threads *threads) {
    threads->next = registry.threads;
    registry.threads = threads;
    return ++registry.last_recorder_id;
}

void threads_unregister(struct threads *threads) {
    struct threads **link = &registry.threads;
    while (*link != threads)
        link = &(*link)->next;
    *link = threads->next;
}

/* ---- In a child process ---- */

/* Empties the block, except for calls in progress. */
static void keep_open_calls(const struct layout *layout, struct segment *segment) {
    struct aggstats_block *block = segment->block;
    const struct aggstats_block current = *block;
    uint64_t open_calls[AGGSTATS_OPS_MAX];
    for (unsigned op = 0; op < layout->op_count; op++) {
        const struct aggstats_counters *counters = layout_counters(layout, block->counters, op);
        open_calls[op] = counters->calls;
        for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++)
            open_calls[op] -= counters->buckets[bucket];
    }
    live_replace_memory(block, segment->size_bytes);
    *block = current;
    block->clamped = 0;
    for (unsigned op = 0; op < layout->op_count; op++)
        layout_counters(layout, block->counters, op)->calls = open_calls[op];
}

uint64_t threads_start_anew(struct threads *threads) {
    for (struct segment *segment = threads->segments; segment; segment = segment->next) {
        if (thread_id > 0 && segment->owner_thread == thread_id) {
            keep_open_calls(&threads->layout, segment);
        } else {
            live_replace_memory(segment->block, segment->size_bytes);
            segment->owner_thread = 0;
        }
        if (segment->queue)
            live_replace_memory(segment->queue, sizeof(*segment->queue));
    }
    memset(threads->fallback_block, 0, layout_block_bytes(&threads->layout));
    threads->fallback_used = 0;
    return ++registry.last_recorder_id;
}

/* ---- Reading ---- */

bool threads_fallback_used(const struct threads *threads) {
    return __atomic_load_n(&threads->fallback_used, __ATOMIC_RELAXED) != 0;
}

int threads_tally(const struct threads *threads, bool takes_longest, struct tally *tally) {
    const struct segment *segment = threads_first_segment(threads);
    size_t copy_bytes = round_up(layout_block_bytes(&tally->layout), CACHE_LINE_BYTES);
    CLEANUP_FREE struct aggstats_block *copy = aligned_alloc(CACHE_LINE_BYTES, copy_bytes);
    int err = copy ? 0 : -ENOMEM;
    for (; segment && err == 0; segment = segment->next) {
        struct aggstats_numbered numbered = {0};
        if (takes_longest)
            tally_take_block(&tally->layout, segment->block, copy, &numbered);
        else
            tally_read_block(&tally->layout, segment->block, copy);
        err = tally_add_numbered(tally, &numbered);
        if (err == 0)
            err = tally_add_block(tally, copy);
        if (err == 0)
            err = tally_add_call(tally, copy);
    }
    if (threads_fallback_used(threads)) {
        tally_add_shared_block(tally, threads->fallback_block);
        for (unsigned op = 0; op < tally->layout.op_count && takes_longest; op++)
            longest_take(layout_counters(&tally->layout, threads->fallback_block->counters, op),
                         tally->layout.resolution);
    }
    return err;
}
