/* Private: the last chunks of records, in memory, and all other chunks needed to read them. */
#ifndef RING_H
#define RING_H

#include <stddef.h>
#include <stdint.h>

#include "events_writer.h"

struct ring_chunk {
    struct ring_chunk *next;
    size_t size_bytes;
    unsigned char bytes[];
};

struct ring {
    size_t room_bytes;
    size_t size_bytes; /* of the chunks */
    struct ring_chunk *first;
    struct ring_chunk **last;
    unsigned char *beginning; /* start of the file and its description */
    size_t beginning_bytes;
    unsigned char *beside; /* other chunks: marks, clocks, strings */
    size_t beside_bytes;
    size_t beside_room_bytes;
};

void ring_init(struct ring *ring, size_t room_bytes);
void ring_finish(struct ring *ring);

/* Copies the bytes. Errors: -ENOMEM */
int ring_begin(struct ring *ring, const void *bytes, size_t size_bytes);

/* Overwrites the oldest records if there is no room. */
int ring_add_records(struct ring *ring, const void *const parts[3], const size_t part_bytes[3]);

/* Errors: -ENOSPC there are too many: the oldest half is gone, so strings must be added anew; these are kept */
int ring_add_beside(struct ring *ring, const void *bytes, size_t size_bytes);

/* written_count: grows with each part that is written; atomic. Errors: those of writing */
int ring_write(const struct ring *ring, int fd, uint64_t *written_count);

#endif
