/* Private: the part of a shared live file that the processes which count in it write. Nothing here may be trusted: any
 * user whose processes count may have written anything, and may write again while it is read. So only processes that
 * count (joined.h) map it, which keep all sizes, offsets and places in private memory; everything else reads it by
 * copies, through shared_part.h. */
#ifndef SHARED_LAYOUT_H
#define SHARED_LAYOUT_H

#include "groups_file.h"
#include "live_file.h"
#include "live_owner.h"

struct live_numbers {     /* atomic */
    uint64_t last_taken;  /* the block that a thread took last: where others begin to look */
    uint64_t block_count; /* that were ever taken */
    uint64_t incomplete;  /* 1: some blocks got no memory */
    uint64_t crowded;     /* threads that found all blocks taken */
    uint64_t sums[AGGSTATS_SUMS];
    uint32_t notes[AGGSTATS_NOTES];
};

struct live_shared {
    struct live_numbers numbers;
    struct aggstats_named named;
    live_owner owners[] __attribute__((aligned(CACHE_LINE_BYTES))); /* of each block */
};

/* Without groups. */
static inline size_t shared_layout_bytes(uint64_t threads) {
    return sizeof(struct live_shared) + threads * sizeof(live_owner);
}

/* Whether a header's offsets and sizes lie within the file, do not overlap, and suit mapping. The rest of the header has
 * been checked. */
bool shared_layout_is_possible(const struct live_header *header, const struct layout *layout, uint64_t file_bytes);

#endif
