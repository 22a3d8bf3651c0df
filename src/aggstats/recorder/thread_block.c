/* Each thread's cache of its block, and how a block is found without it. */
#include "thread_block.h"

AGGSTATS_THREAD_LOCAL struct aggstats_thread_cache aggstats_thread_cache = {.recorder_id = AGGSTATS_NO_RECORDER};

void thread_block_fill_cache(uint64_t recorder_id, struct aggstats_block *block) {
    aggstats_thread_cache.recorder_id = AGGSTATS_NO_RECORDER;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    aggstats_thread_cache.block = block;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    aggstats_thread_cache.recorder_id = recorder_id;
}

struct aggstats_block *aggstats_thread_block_slow(struct aggstats_recorder *recorder) {
    return ((const struct recorder_front *)(const void *)recorder)->own_block(recorder);
}
