/* A queue of chunks. */
#include "ring.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"

#define BESIDE_MAX (16U << 20)

void ring_init(struct ring *ring, size_t room_bytes) {
    *ring = (struct ring){.room_bytes = room_bytes};
    ring->last = &ring->first;
}

static void drop_first(struct ring *ring) {
    struct ring_chunk *first = ring->first;
    ring->first = first->next;
    if (!ring->first)
        ring->last = &ring->first;
    ring->size_bytes -= first->size_bytes;
    free(first);
}

void ring_finish(struct ring *ring) {
    while (ring->first)
        drop_first(ring);
    free(ring->beginning);
    free(ring->beside);
    ring_init(ring, 0);
}

int ring_begin(struct ring *ring, const void *bytes, size_t size_bytes) {
    ring->beginning = malloc(size_bytes);
    if (!ring->beginning)
        return -ENOMEM;
    memcpy(ring->beginning, bytes, size_bytes);
    ring->beginning_bytes = size_bytes;
    return 0;
}

int ring_add_records(struct ring *ring, const void *const parts[3], const size_t part_bytes[3]) {
    size_t size_bytes = part_bytes[0] + part_bytes[1] + part_bytes[2];
    while (ring->first && ring->size_bytes + size_bytes > ring->room_bytes)
        drop_first(ring);
    struct ring_chunk *chunk = malloc(sizeof(*chunk) + size_bytes);
    if (!chunk)
        return -ENOMEM;
    *chunk = (struct ring_chunk){.size_bytes = size_bytes};
    unsigned char *at = chunk->bytes;
    for (int i = 0; i < 3; i++) {
        memcpy(at, parts[i], part_bytes[i]);
        at += part_bytes[i];
    }
    *ring->last = chunk;
    ring->last = &chunk->next;
    ring->size_bytes += size_bytes;
    return 0;
}

/* Whole chunks, at least half of all bytes. */
static void forget_beside(struct ring *ring) {
    size_t gone_bytes = 0;
    while (gone_bytes < ring->beside_bytes / 2) {
        struct events_chunk chunk;
        memcpy(&chunk, ring->beside + gone_bytes, sizeof(chunk));
        gone_bytes += chunk.size_bytes;
    }
    ring->beside_bytes -= gone_bytes;
    memmove(ring->beside, ring->beside + gone_bytes, ring->beside_bytes);
}

int ring_add_beside(struct ring *ring, const void *bytes, size_t size_bytes) {
    int err = 0;
    if (ring->beside_bytes + size_bytes > BESIDE_MAX) {
        forget_beside(ring);
        err = -ENOSPC;
    }
    if (ring->beside_bytes + size_bytes > ring->beside_room_bytes) {
        size_t room_bytes = 2 * (ring->beside_bytes + size_bytes);
        unsigned char *grown = realloc(ring->beside, room_bytes);
        if (!grown)
            return -ENOMEM;
        ring->beside = grown;
        ring->beside_room_bytes = room_bytes;
    }
    memcpy(ring->beside + ring->beside_bytes, bytes, size_bytes);
    ring->beside_bytes += size_bytes;
    return err;
}

static int write_part(int fd, const void *bytes, size_t size_bytes, uint64_t *written_count) {
    int err = write_all(fd, bytes, size_bytes);
    __atomic_add_fetch(written_count, 1, __ATOMIC_RELAXED);
    return err;
}

/* Writes nothing twice: the STOP mark, if there is one, is the last of `beside`, and may be anywhere in the file. */
int ring_write(const struct ring *ring, int fd, uint64_t *written_count) {
    int err = write_part(fd, ring->beginning, ring->beginning_bytes, written_count);
    for (const struct ring_chunk *chunk = ring->first; chunk && err == 0; chunk = chunk->next)
        err = write_part(fd, chunk->bytes, chunk->size_bytes, written_count);
    return err == 0 ? write_part(fd, ring->beside, ring->beside_bytes, written_count) : err;
}
