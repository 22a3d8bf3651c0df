/* Private: how a thread finds the block that it counts in, whatever kind of recorder it is. */
#ifndef THREAD_BLOCK_H
#define THREAD_BLOCK_H

#include "aggstats.h"

/* No page is larger. */
#if defined(__x86_64__)
#define RECORDER_PAGE_BYTES 4096U
#else
#define RECORDER_PAGE_BYTES 65536U
#endif

/* The result of aggstats_thread_block_slow(). */
typedef struct aggstats_block *own_block_fn(struct aggstats_recorder *recorder);

/* The beginning of every recorder. */
struct recorder_front {
    struct aggstats_recorder_hot hot; /* first: aggstats_hot(). In pages of its own, which are zeroed in a child */
    uint64_t id;                      /* the same as in hot, also while that is AGGSTATS_ASLEEP */
    uint64_t is_noted;  /* atomic; 1: the shared file knows that this process has calls that do not count */
    int64_t pid;        /* of a shared file: the process that the memory belongs to; 0: unknown */
    uint64_t namespace; /* of its numbers (live_owner.h); 0: unknown, or not asked for yet; atomic */
    unsigned char padding[RECORDER_PAGE_BYTES - sizeof(struct aggstats_recorder_hot) - 4 * sizeof(uint64_t)];
    own_block_fn *own_block;
};

/* Makes the block the calling thread's for that recorder. A signal handler that records meanwhile finds either no block
 * in the cache, or the right one. */
void thread_block_fill_cache(uint64_t recorder_id, struct aggstats_block *block);

#endif
