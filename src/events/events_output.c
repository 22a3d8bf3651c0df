/* Where chunks go: the file that is recorded to, or the ring, a queue of chunks in memory.
 * If a write fails, what was written of it is cut off again, so the file stays readable.
 *
 * While calls are saved, blocks behind the end of the file are kept allocated, if the file system can do that. So if
 * the disk becomes full, a part of the calls is missing, but the end of the file, which says what is missing, always
 * fits. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base.h"
#include "recorder_private.h"

#define BESIDE_MAX (16U << 20)

/* Continues after a short write: the next one returns the error. */
static int write_at_end(int fd, struct iovec vectors[3], size_t total_bytes, uint64_t offset) {
    while (total_bytes > 0) {
        ssize_t written_bytes = pwritev(fd, vectors, 3, (off_t)offset);
        if (written_bytes < 0 && errno == EINTR)
            continue;
        if (written_bytes <= 0)
            return written_bytes < 0 ? negative_errno() : -EIO;
        offset += (uint64_t)written_bytes;
        total_bytes -= (size_t)written_bytes;
        for (int i = 0; i < 3; i++) {
            size_t here_bytes = vectors[i].iov_len < (size_t)written_bytes ? vectors[i].iov_len : (size_t)written_bytes;
            vectors[i].iov_base = (char *)vectors[i].iov_base + here_bytes;
            vectors[i].iov_len -= here_bytes;
            written_bytes -= (ssize_t)here_bytes;
        }
    }
    return 0;
}

int events_output_write(struct events_recorder *events, const void *const parts[3], const size_t part_bytes[3]) {
    struct iovec vectors[3];
    size_t total_bytes = 0;
    int err;
    for (int i = 0; i < 3; i++) {
        vectors[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i], .iov_len = part_bytes[i]};
        total_bytes += part_bytes[i];
    }
    if (events->keeps_reserve && fallocate(events->wanted.fd, FALLOC_FL_KEEP_SIZE, (off_t)events->size_bytes,
                                           (off_t)(total_bytes + EVENTS_END_BYTES)) < 0) {
        err = negative_errno();
        if (err == -ENOSPC || err == -EDQUOT || err == -EFBIG || err == -EIO)
            return err;
        events->keeps_reserve = err == -EINTR; /* otherwise the file system cannot do it */
    }
    err = write_at_end(events->wanted.fd, vectors, total_bytes, events->size_bytes);
    if (err == 0)
        events->size_bytes += total_bytes;
    else if (ftruncate(events->wanted.fd, (off_t)events->size_bytes) < 0)
        return negative_errno();
    return err;
}

/* ---- The ring ---- */

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

int ring_add_beside(struct ring *ring, const void *bytes, size_t size_bytes) {
    int err = 0;
    if (ring->beside_bytes + size_bytes > BESIDE_MAX) {
        size_t gone_bytes = 0;
        while (gone_bytes < ring->beside_bytes / 2) { /* whole chunks, at least half of all bytes */
            struct events_chunk chunk;
            memcpy(&chunk, ring->beside + gone_bytes, sizeof(chunk));
            gone_bytes += chunk.size_bytes;
        }
        ring->beside_bytes -= gone_bytes;
        memmove(ring->beside, ring->beside + gone_bytes, ring->beside_bytes);
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
