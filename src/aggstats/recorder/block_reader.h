/* Private: blocks of a live file, read while their threads count. They are read with pread(2) alone: mapping them would
 * turn a file cut short into SIGBUS. Another process may have written anything there. */
#ifndef BLOCK_READER_H
#define BLOCK_READER_H

#include "layout.h"

struct block_reader {
    int fd; /* borrowed */
    struct layout layout;
    uint64_t first_offset; /* of the first block */
    uint64_t stride_bytes;
    struct aggstats_block *shared; /* room for the readings of a block: as it is in a shared file */
    struct aggstats_block *earliest;
    struct aggstats_block *first;
    struct aggstats_block *second;
};

/* Errors: -ENOMEM; block_reader_finish() is fine then, too */
int block_reader_init(struct block_reader *reader, int fd, const struct layout *layout, uint64_t first_offset,
                      uint64_t stride_bytes);
void block_reader_finish(struct block_reader *reader);

/* Reads a block with counters for all ops, whatever kind of file it is in; calls >= sum(buckets) >= failures while a
 * thread counts.
 * Returns 1 if no thread has counted in it.
 * ret_block: valid until the next call
 * Errors:    -EBADMSG no recorder has written that, or it is cut short; those of reading */
int block_reader_read(struct block_reader *reader, uint64_t number, struct aggstats_block **ret_block);

/* Reads all of it. Errors: -EBADMSG the file is cut short; those of reading */
int read_whole_at(int fd, void *to, size_t size_bytes, uint64_t offset);

#endif
