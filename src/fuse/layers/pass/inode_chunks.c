/* Chunks of slots, and lists of the chunks with room. */
#include "inode_chunks.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base.h"

#define SPARES_MAX 1U

struct links {
    uint32_t before; /* chunk + 1; 0: it is the first */
    uint32_t after;
};

struct inode_chunk {
    uint32_t used_count;
    uint32_t resting_count; /* of these, slots that rest */
    uint32_t touched_count; /* slots from the front used since it got memory; the others are zeros */
    uint32_t free_slots;    /* slot + 1 of its first free touched slot, chained through hash_next */
    uint32_t generation;    /* above those of all inodes it has had; untouched slots begin there */
    struct links room;      /* in the list of chunks with room, or of chunks without memory */
    struct links resting;   /* in the list of chunks whose inodes all rest */
};

int inode_chunks_init(struct inode_chunks *chunks) {
    *chunks = (struct inode_chunks){
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are meant. Pages come with use */
        .memory = calloc(INODE_CHUNKS_MAX, sizeof(*chunks->memory)),
        .states = calloc(INODE_CHUNKS_MAX, sizeof(*chunks->states)),
    };
    return chunks->memory && chunks->states ? 0 : -ENOMEM;
}

#define CHUNK_BYTES (INODE_CHUNK_SLOTS * (sizeof(struct inode) + INODE_BESIDE_BYTES))

void inode_chunks_finish(struct inode_chunks *chunks) {
    for (uint32_t chunk = 0; chunk < chunks->count; chunk++)
        munmap(chunks->memory[chunk], CHUNK_BYTES);
    free(chunks->memory);
    free(chunks->states);
    *chunks = (struct inode_chunks){.count = 0};
}

/* Gives the memory back as whole pages. If pages are too large for that, zeroes each entry instead. */
void inode_chunks_clear_beside(const struct inode_chunks *chunks) {
    for (uint32_t chunk = 0; chunk < chunks->count; chunk++) {
        uint64_t *beside = inode_chunks_beside(chunks, chunk * INODE_CHUNK_SLOTS);
        if (madvise(beside, INODE_CHUNK_SLOTS * INODE_BESIDE_BYTES, MADV_DONTNEED) == 0)
            continue;
        for (uint32_t index = 0; index < INODE_CHUNK_SLOTS; index++)
            __atomic_store_n(&beside[index], 0, __ATOMIC_RELAXED);
    }
}

/* ---- Lists ---- */

static void push(struct inode_chunks *chunks, uint32_t *first, uint32_t chunk) {
    chunks->states[chunk].room = (struct links){.after = *first};
    if (*first)
        chunks->states[*first - 1].room.before = chunk + 1;
    *first = chunk + 1;
}

static void take_out(struct inode_chunks *chunks, uint32_t *first, uint32_t chunk) {
    const struct links links = chunks->states[chunk].room;
    *(links.before ? &chunks->states[links.before - 1].room.after : first) = links.after;
    if (links.after)
        chunks->states[links.after - 1].room.before = links.before;
}

static bool all_rest(const struct inode_chunk *state) {
    return state->used_count > 0 && state->resting_count == state->used_count;
}

/* Changes the counts of a chunk's slots, and moves it into or out of the list of chunks whose inodes all rest. */
static void count(struct inode_chunks *chunks, uint32_t chunk, int used_more, int resting_more) {
    struct inode_chunk *state = &chunks->states[chunk];
    bool did_rest = all_rest(state);
    state->used_count += (uint32_t)used_more;
    state->resting_count += (uint32_t)resting_more;
    if (did_rest && !all_rest(state)) {
        const struct links links = state->resting;
        *(links.before ? &chunks->states[links.before - 1].resting.after : &chunks->resting_first) = links.after;
        *(links.after ? &chunks->states[links.after - 1].resting.before : &chunks->resting_last) = links.before;
        chunks->resting_count--;
    } else if (!did_rest && all_rest(state)) {
        state->resting = (struct links){.before = chunks->resting_last};
        *(chunks->resting_last ? &chunks->states[chunks->resting_last - 1].resting.after : &chunks->resting_first) =
            chunk + 1;
        chunks->resting_last = chunk + 1;
        chunks->resting_count++;
    }
}

void inode_chunks_rest(struct inode_chunks *chunks, const struct inode *inode) {
    count(chunks, inode->slot / INODE_CHUNK_SLOTS, 0, 1);
}

void inode_chunks_wake(struct inode_chunks *chunks, const struct inode *inode) {
    count(chunks, inode->slot / INODE_CHUNK_SLOTS, 0, -1);
}

/* Makes sure that some chunk has room. */
static int make_room(struct inode_chunks *chunks) {
    if (chunks->with_room)
        return 0;
    if (!chunks->without_memory) {
        if (chunks->count == INODE_CHUNKS_MAX)
            return -ENOMEM;
        void *memory = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return -ENOMEM;
        __atomic_store_n(&chunks->memory[chunks->count], memory, __ATOMIC_RELEASE);
        chunks->states[chunks->count].generation = chunks->count > 0; /* the root stays, and is 1 */
        push(chunks, &chunks->without_memory, chunks->count++);
    }
    uint32_t chunk = chunks->without_memory - 1;
    take_out(chunks, &chunks->without_memory, chunk);
    push(chunks, &chunks->with_room, chunk);
    chunks->spare_count++;
    return 0;
}

struct inode *inode_chunks_take(struct inode_chunks *chunks) {
    if (make_room(chunks) < 0)
        return NULL;
    uint32_t chunk = chunks->with_room - 1;
    struct inode_chunk *state = &chunks->states[chunk];
    struct inode *inode;
    if (state->free_slots) {
        inode = inode_chunks_at(chunks, state->free_slots - 1);
        state->free_slots = inode->hash_next;
    } else { /* the next slot that has not been used since the chunk got memory */
        uint32_t slot = chunk * INODE_CHUNK_SLOTS + state->touched_count++;
        inode = inode_chunks_at(chunks, slot);
        inode->slot = slot;
        __atomic_store_n(&inode->generation, state->generation, __ATOMIC_RELAXED);
        if (slot >= chunks->slot_count)
            __atomic_store_n(&chunks->slot_count, slot + 1, __ATOMIC_RELEASE);
    }
    chunks->spare_count -= state->used_count == 0;
    count(chunks, chunk, 1, 0);
    if (state->used_count == INODE_CHUNK_SLOTS)
        take_out(chunks, &chunks->with_room, chunk);
    return inode;
}

void inode_chunks_give(struct inode_chunks *chunks, struct inode *inode, bool was_resting) {
    uint32_t chunk = inode->slot / INODE_CHUNK_SLOTS;
    struct inode_chunk *state = &chunks->states[chunk];
    inode->hash_next = state->free_slots;
    state->free_slots = inode->slot + 1;
    if (inode->generation > state->generation)
        state->generation = inode->generation;
    if (state->used_count == INODE_CHUNK_SLOTS)
        push(chunks, &chunks->with_room, chunk);
    count(chunks, chunk, -1, was_resting ? -1 : 0);
    if (state->used_count > 0 || ++chunks->spare_count <= SPARES_MAX ||
        madvise(chunks->memory[chunk], CHUNK_BYTES, MADV_DONTNEED) < 0)
        return;
    take_out(chunks, &chunks->with_room, chunk);
    state->touched_count = 0;
    state->free_slots = 0;
    chunks->spare_count--;
    push(chunks, &chunks->without_memory, chunk);
}
