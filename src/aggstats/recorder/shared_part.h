/* Private: what the processes that count in a shared live file have written there, for its maker and for other readers.
 * This module alone reads it, and returns copies: numbers that may be any, texts of any bytes. */
#ifndef SHARED_PART_H
#define SHARED_PART_H

#include "block_reader.h"
#include "shared_layout.h"

/* Where it is. Never changes. */
struct shared_part {
    int fd; /* borrowed */
    struct layout layout;
    uint64_t threads;
    uint64_t shared_offset;
    uint64_t groups_offset; /* 0: there are none */
    uint64_t blocks_offset;
    uint64_t block_stride_bytes;
    uint32_t namespace; /* of our PIDs; 0: unknown */
};

/* header: of a shared file, checked with shared_layout_is_possible(), or of the maker's own */
struct shared_part shared_part_of(const struct live_header *header, const struct layout *layout, int fd);

struct shared_numbers {
    uint64_t block_count; /* not more than there are threads */
    bool is_incomplete;
    uint64_t crowded;
    uint64_t sums[AGGSTATS_SUMS];
    uint32_t notes[AGGSTATS_NOTES];
};

/* For all below: Errors: -EBADMSG the file is cut short; those of reading; then all is zero. */
int shared_part_read_numbers(const struct shared_part *part, struct shared_numbers *ret_numbers);
int shared_part_read_named(const struct shared_part *part, struct aggstats_named *ret_named);

/* How many threads have a call in flight. ret_ops: bit i: one of op i */
unsigned shared_part_in_flight(const struct shared_part *part, uint64_t *ret_ops);

/* Adds all blocks. If a thread ended during a call, the call does not count as in flight. Invalid blocks, which no
 * recorder can have written, are left out.
 * takes_longest: also resets the longest calls of the blocks. A longest call that ends meanwhile may be lost
 * ret_broken:    the number of blocks left out
 * Errors:        -ENOMEM, and as above */
int shared_part_tally(const struct shared_part *part, bool takes_longest, struct tally *tally, uint64_t *ret_broken);

/* Which part of the tables of groups is read. */
enum shared_groups_part { SHARED_GROUPS_CELLS, SHARED_GROUPS_NAMES };

/* Updates the caller's copy of the tables, which was zeroed at first: the cells, or what they refer to. Read the cells
 * first. */
int shared_part_read_groups(const struct shared_part *part, enum shared_groups_part which, struct groups_file *copy);

/* ---- For the maker ---- */

/* Writes a member of one of the first AGGSTATS_NAMED_OWN_MAX programs. member: its offset */
void shared_part_write_named(const struct shared_part *part, unsigned number, size_t member, const void *from,
                             size_t size_bytes);

#endif
