/* Private: which thread counts in which block of a recorder.
 *
 * A thread keeps its block of the recorder that it used last in aggstats_thread_cache, so that the hot path takes no
 * lock. Behind the cache there is the registry: the threads of all recorders and, in their segments, the owners of
 * blocks. It is process-wide because a thread that exits must find all its blocks, and must not touch recorders that
 * have been destroyed meanwhile. */
#ifndef THREADS_H
#define THREADS_H

#include <signal.h>

#include "call_queue.h"
#include "live_file.h"
#include "tally.h"

/* One thread's block. It is never freed or moved while the recorder exists; threads come and go. */
struct segment {
    struct segment *next; /* set before the segment is published */
    struct aggstats_block *block;
    size_t size_bytes;
    uint64_t owner_thread;    /* 0: free; under the registry's lock */
    struct call_queue *queue; /* written by its owner; atomic; NULL until first used */
};

/* All threads that count for one recorder. */
struct threads {
    struct threads *next;     /* in the registry, under its lock */
    struct segment *segments; /* newest first; only grows, read without a lock */
    struct live *live;        /* holds the blocks, while it has room */
    struct layout layout;
    struct aggstats_block *fallback_block; /* shared by threads for which there was no memory */
    uint64_t fallback_used;                /* atomic */
};

/* Errors: -ENOMEM, -EAGAIN no more keys of threads; threads_finish() frees what there is */
int threads_init(struct threads *threads, const struct layout *layout, struct live *live);
void threads_finish(struct threads *threads);

/* The registry's lock, which is taken before those of recorders: for forks, and for changes that must not be half done
 * when another thread forks. threads_first_registered() begins the list of all that are registered. */
void threads_lock_registry(sigset_t *ret_before);
void threads_unlock_registry(const sigset_t *before);
struct threads *threads_first_registered(void);

/* From here on threads may count. Returns a number that no other recorder of this process has had. Call both under the
 * registry's lock. */
uint64_t threads_register(struct threads *threads);
void threads_unregister(struct threads *threads);

/* Call in a child process, whose only thread is the calling one, under the registry's lock: empties all blocks and
 * moves them out of the parent's live file. The calls that the thread has in progress go on in the child. Returns
 * another number, as threads_register() does. */
uint64_t threads_start_anew(struct threads *threads);

/* The calling thread's block, which is in its cache from now on; see aggstats_thread_block_slow(). */
struct aggstats_block *threads_own_block(struct threads *threads, uint64_t recorder_id);

/* A block of no thread, for the caller alone. NULL: no memory is left. */
struct aggstats_block *threads_add_lane(struct threads *threads);

/* The calling thread's segment of the recorder that its cache is for; NULL: it has none. */
extern AGGSTATS_THREAD_LOCAL struct segment *threads_own_segment;

/* The calling thread's queue. NULL: no memory is left. */
struct call_queue *threads_own_queue(struct threads *threads, uint64_t recorder_id);

/* The same if it has been used before; else NULL. */
static inline struct call_queue *threads_known_queue(uint64_t recorder_id) {
    const struct segment *segment = aggstats_thread_cache.recorder_id == recorder_id ? threads_own_segment : NULL;
    return segment ? segment->queue : NULL;
}

/* The newest segment, from which all others are reached. */
static inline struct segment *threads_first_segment(const struct threads *threads) {
    return __atomic_load_n(&threads->segments, __ATOMIC_ACQUIRE);
}

/* Sums up all blocks. takes_longest: and resets their longest calls. Errors: as tally_add_block() */
int threads_tally(const struct threads *threads, bool takes_longest, struct tally *tally);

/* True if updates may have been lost because threads shared a block. */
bool threads_fallback_used(const struct threads *threads);

#endif
