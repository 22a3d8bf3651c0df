/* Memory for inodes: slots in chunks. A slot never moves, so it is found without a lock. A chunk that no slot of is
 * used gives its memory back, and keeps its addresses: zeros are read there then. Generations of its inodes are above
 * 0, so that no number leads to one that is not there; but for the first chunk's, which keeps its memory for the root.
 *
 * Chunks with room that have memory are filled first. One without used slots keeps it, so that a single inode which
 * comes and goes does not cost a chunk each time. Inodes that are merely remembered may rest in their slots: they cost
 * nothing beside others in the same chunk, and chunks that have no others are listed, to be emptied. */
#ifndef INODE_CHUNKS_H
#define INODE_CHUNKS_H

#include "inode.h"

#define INODE_CHUNK_SLOTS 1024U
#define INODE_CHUNKS_MAX (1U << 20)

struct inode_chunk; /* what is known of one */

struct inode_chunks {
    struct inode **memory;      /* [INODE_CHUNKS_MAX], filled from the front; entries are atomic */
    struct inode_chunk *states; /* [INODE_CHUNKS_MAX] */
    size_t bytes_beside;        /* of each inode, behind the chunk's inodes */
    uint32_t count;             /* of chunks that have addresses */
    uint32_t slot_count;        /* slots ever used; atomic */
    uint32_t with_room;         /* chunk + 1 of the first that has memory and room */
    uint32_t without_memory;    /* chunk + 1 of the first that has given it back */
    uint32_t spare_count;       /* that have memory, and no slot is used */
    uint32_t resting_first;     /* chunk + 1; of those whose inodes all rest, the one that does for longest */
    uint32_t resting_last;
    uint32_t resting_count;
};

/* Errors: -ENOMEM; inode_chunks_finish() frees what there is, also of a zeroed one */
int inode_chunks_init(struct inode_chunks *chunks);
void inode_chunks_finish(struct inode_chunks *chunks);

/* A slot below slot_count. Threads: any */
static inline struct inode *inode_chunks_at(const struct inode_chunks *chunks, uint32_t slot) {
    struct inode *memory = __atomic_load_n(&chunks->memory[slot / INODE_CHUNK_SLOTS], __ATOMIC_ACQUIRE);
    return &memory[slot % INODE_CHUNK_SLOTS];
}

/* What stands beside the inode of that slot. Threads: any */
static inline void *inode_chunks_beside(const struct inode_chunks *chunks, uint32_t slot) {
    struct inode *memory = inode_chunks_at(chunks, slot - slot % INODE_CHUNK_SLOTS);
    return (char *)(memory + INODE_CHUNK_SLOTS) + slot % INODE_CHUNK_SLOTS * chunks->bytes_beside;
}

/* A slot that nobody uses. Its number and its generation are set, and are no earlier inode's. NULL: no memory is left
 */
struct inode *inode_chunks_take(struct inode_chunks *chunks);

/* Nobody uses the slot any more; its generation is the next one. */
void inode_chunks_give(struct inode_chunks *chunks, struct inode *inode, bool was_resting);

/* From now on the inode is merely remembered; it is not any more. */
void inode_chunks_rest(struct inode_chunks *chunks, const struct inode *inode);
void inode_chunks_wake(struct inode_chunks *chunks, const struct inode *inode);

#endif
