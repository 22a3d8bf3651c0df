/* Memory for inodes: slots in chunks. A slot never moves, so it is found without a lock. A chunk without used slots
 * gives its memory back and keeps its addresses, which then read as zeros. Generations of its inodes are above 0, so
 * that no number leads to a slot without an inode. The first chunk, which has the root, keeps its memory.
 *
 * Chunks that have memory and room are filled first. One chunk without used slots keeps its memory, so that a single
 * inode that comes and goes does not cost a chunk each time. Forgotten inodes that are still remembered may rest in
 * their slots. A resting inode costs nothing while its chunk has other inodes. Chunks with only resting inodes are
 * listed, to be emptied. */
#ifndef INODE_CHUNKS_H
#define INODE_CHUNKS_H

#include "inode.h"

#define INODE_CHUNK_SLOTS 1024U
#define INODE_CHUNKS_MAX (1U << 20)
#define INODE_BESIDE_BYTES sizeof(uint64_t) /* for each inode, behind the chunk's inodes; memory comes with use */

struct inode_chunk; /* the state of one */

struct inode_chunks {
    struct inode **memory;      /* [INODE_CHUNKS_MAX], filled from the front; entries are atomic */
    struct inode_chunk *states; /* [INODE_CHUNKS_MAX] */
    uint32_t count;             /* chunks that have addresses */
    uint32_t slot_count;        /* slots ever used; atomic */
    uint32_t with_room;         /* chunk + 1; the first with memory and room */
    uint32_t without_memory;    /* chunk + 1; the first that has given its memory back */
    uint32_t spare_count;       /* chunks with memory and no used slot */
    uint32_t resting_first;     /* chunk + 1; list of chunks in which all inodes rest, the longest resting first */
    uint32_t resting_last;
    uint32_t resting_count;
};

/* Errors: -ENOMEM; inode_chunks_finish() frees what was allocated, also for a zeroed struct */
int inode_chunks_init(struct inode_chunks *chunks);
void inode_chunks_finish(struct inode_chunks *chunks);

/* A slot below slot_count. Threads: any */
static inline struct inode *inode_chunks_at(const struct inode_chunks *chunks, uint32_t slot) {
    struct inode *memory = __atomic_load_n(&chunks->memory[slot / INODE_CHUNK_SLOTS], __ATOMIC_ACQUIRE);
    return &memory[slot % INODE_CHUNK_SLOTS];
}

/* The bytes beside the inode of that slot. Threads: any */
static inline void *inode_chunks_beside(const struct inode_chunks *chunks, uint32_t slot) {
    struct inode *memory = inode_chunks_at(chunks, slot - slot % INODE_CHUNK_SLOTS);
    return (char *)(memory + INODE_CHUNK_SLOTS) + slot % INODE_CHUNK_SLOTS * INODE_BESIDE_BYTES;
}

/* The bytes beside all inodes become 0, and their memory is given back. */
void inode_chunks_clear_beside(const struct inode_chunks *chunks);

/* Takes an unused slot. Its number and generation are set, and differ from those of any earlier inode. NULL: no
 * memory */
struct inode *inode_chunks_take(struct inode_chunks *chunks);

/* Frees the inode's slot, and increments its generation. */
void inode_chunks_give(struct inode_chunks *chunks, struct inode *inode, bool was_resting);

/* From now on the inode is merely remembered; it is in use again. */
void inode_chunks_rest(struct inode_chunks *chunks, const struct inode *inode);
void inode_chunks_wake(struct inode_chunks *chunks, const struct inode *inode);

#endif
