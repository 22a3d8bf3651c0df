/* Reads what other processes write, by pread(2) alone: nothing is mapped, every number is bounded before it is used,
 * and a block that no recorder can have written is left out and counted as broken. */
#include "shared_part.h"

#include <stdlib.h>
#include <string.h>

#include "aggstats/watched.h"
#include "base.h"
#include "proc.h"

struct shared_part shared_part_of(const struct live_header *header, const struct layout *layout, int fd) {
    struct shared_part part = {
        .fd = fd,
        .layout = *layout,
        .threads = header->shared_threads,
        .shared_offset = header->shared_offset,
        .groups_offset = header->groups_offset,
        .blocks_offset = header->header_bytes,
        .block_stride_bytes = header->block_stride_bytes,
        .namespace = live_owner_namespace(),
    };
    part.layout.is_shared = true;
    return part;
}

/* ---- Numbers and names ---- */

int shared_part_read_numbers(const struct shared_part *part, struct shared_numbers *ret_numbers) {
    struct live_numbers read;
    *ret_numbers = (struct shared_numbers){0};
    const int err =
        read_whole_at(part->fd, &read, sizeof(read), part->shared_offset + offsetof(struct live_shared, numbers));
    if (err < 0)
        return err;
    ret_numbers->block_count = read.block_count < part->threads ? read.block_count : part->threads;
    ret_numbers->is_incomplete = read.incomplete != 0;
    ret_numbers->crowded = read.crowded;
    memcpy(ret_numbers->sums, read.sums, sizeof(read.sums));
    memcpy(ret_numbers->notes, read.notes, sizeof(read.notes));
    return 0;
}

static uint64_t named_offset(const struct shared_part *part) {
    return part->shared_offset + offsetof(struct live_shared, named);
}

/* The state of each comes first: so one that is whole was whole before the rest of it was read. */
int shared_part_read_named(const struct shared_part *part, struct aggstats_named *ret_named) {
    *ret_named = (struct aggstats_named){0};
    int err = read_whole_at(part->fd, ret_named, offsetof(struct aggstats_named, programs), named_offset(part));
    if (ret_named->count > AGGSTATS_NAMED_MAX)
        ret_named->count = AGGSTATS_NAMED_MAX;
    if (err == 0)
        err = read_whole_at(part->fd, ret_named->programs, ret_named->count * sizeof(ret_named->programs[0]),
                            named_offset(part) + offsetof(struct aggstats_named, programs));
    if (err < 0)
        *ret_named = (struct aggstats_named){0};
    return err;
}

void shared_part_write_named(const struct shared_part *part, unsigned number, size_t member, const void *from,
                             size_t size_bytes) {
    const size_t place =
        offsetof(struct aggstats_named, programs) + number * sizeof(struct aggstats_named_program) + member;
    (void)!pwrite(part->fd, from, size_bytes, (off_t)(named_offset(part) + place));
}

/* ---- Blocks ---- */

/* False: the block's owner makes no call, because the thread has ended, or is a zombie. */
static bool owner_may_call(const struct shared_part *part, uint64_t number) {
    const size_t offset = offsetof(struct live_shared, owners) + number * sizeof(live_owner);
    struct proc_stat stat;
    live_owner owner;
    if (read_whole_at(part->fd, &owner, sizeof(owner), part->shared_offset + offset) < 0)
        return false;
    if (!live_owner_lives(owner, part->namespace))
        return false;
    const bool is_ours = part->namespace != 0 && owner >> 32 == part->namespace;
    return !is_ours || !proc_stat_read((uint32_t)owner, &stat) || (stat.state[0] != 'Z' && stat.state[0] != 'X');
}

unsigned shared_part_in_flight(const struct shared_part *part, uint64_t *ret_ops) {
    struct shared_numbers numbers;
    unsigned busy = 0;
    *ret_ops = 0;
    shared_part_read_numbers(part, &numbers);
    for (uint64_t number = 0; number < numbers.block_count; number++) {
        const uint64_t offset = part->blocks_offset + number * part->block_stride_bytes;
        uint64_t current_op = 0;
        if (read_whole_at(part->fd, &current_op, sizeof(current_op),
                          offset + offsetof(struct aggstats_block, current_op)) < 0)
            return busy;
        if (current_op != 0 && owner_may_call(part, number)) {
            busy++;
            *ret_ops |= aggstats_watched_bit(current_op);
        }
    }
    return busy;
}

/* Begins anew with the longest calls of a block, as it was read. */
static void forget_longest(const struct shared_part *part, uint64_t number, const struct block_reader *reader) {
    const struct layout *layout = &part->layout;
    const uint64_t offset = part->blocks_offset + number * part->block_stride_bytes;
    for (unsigned op = 0; op < layout->op_count; op++) {
        const struct aggstats_counters *counters = layout_block_counters(layout, reader->shared, op);
        const uint64_t zero = 0;
        if (!counters || counters->longest_cycles == 0)
            continue;
        const size_t in_block = (size_t)((const char *)&counters->longest_cycles - (const char *)reader->shared);
        (void)!pwrite(part->fd, &zero, sizeof(zero), (off_t)(offset + in_block));
    }
}

/* Returns 1 if the block is left out, because no recorder has written that. */
static int tally_block(const struct shared_part *part, struct block_reader *reader, uint64_t number, bool takes_longest,
                       struct tally *tally) {
    struct aggstats_block *block;
    int err = block_reader_read(reader, number, &block);
    if (err == 1)
        return 0;
    if (err == 0 && !tally_may_add_block(tally, block))
        err = -EBADMSG;
    if (err < 0)
        return err == -EBADMSG ? 1 : err;
    if (takes_longest)
        forget_longest(part, number, reader);
    if (block->current_op != 0 && !owner_may_call(part, number))
        block->current_op = 0;
    err = tally_add_block(tally, block);
    return err < 0 ? err : tally_add_call(tally, block);
}

int shared_part_tally(const struct shared_part *part, bool takes_longest, struct tally *tally, uint64_t *ret_broken) {
    struct shared_numbers numbers;
    struct block_reader reader;
    uint64_t broken = 0;
    shared_part_read_numbers(part, &numbers);
    int err = block_reader_init(&reader, part->fd, &part->layout, part->blocks_offset, part->block_stride_bytes);
    for (uint64_t number = 0; number < numbers.block_count && err >= 0; number++) {
        err = tally_block(part, &reader, number, takes_longest, tally);
        broken += err == 1;
    }
    block_reader_finish(&reader);
    if (err < 0)
        return err;
    *ret_broken = broken;
    return 0;
}

/* ---- Groups ---- */

#define READ_GROUPS(part, copy, first, bytes)                                                                          \
    read_whole_at((part)->fd, &(copy)->first, (bytes), (part)->groups_offset + offsetof(struct groups_file, first))

/* Memory of blocks of cells that are free is not touched. */
static int read_cells(const struct shared_part *part, struct groups_file *copy) {
    int err = READ_GROUPS(part, copy, groupings, offsetof(struct groups_file, mounts));
    for (size_t block = 0; block < GROUPS_BLOCKS && err == 0; block++) {
        struct group_cell *cells = &copy->cells[block * GROUPS_CELLS_TOGETHER];
        const size_t bytes = GROUPS_CELLS_TOGETHER * sizeof(*cells);
        if (copy->used_blocks[block] != 0)
            err = read_whole_at(part->fd, cells, bytes, part->groups_offset + (uint64_t)((char *)cells - (char *)copy));
    }
    return err;
}

static int read_names(const struct shared_part *part, struct groups_file *copy) {
    const size_t tables_bytes = offsetof(struct groups_file, cells) - offsetof(struct groups_file, mounts);
    int err = READ_GROUPS(part, copy, mounts, tables_bytes);
    if (err == 0) /* after the objects, which lead there */
        err = READ_GROUPS(part, copy, names_used, sizeof(copy->names_used));
    const uint64_t used = copy->names_used + _Alignof(struct group_name);
    if (err == 0)
        err = READ_GROUPS(part, copy, names, used < GROUPS_NAMES_BYTES ? used : GROUPS_NAMES_BYTES);
    return err;
}

int shared_part_read_groups(const struct shared_part *part, enum shared_groups_part which, struct groups_file *copy) {
    return which == SHARED_GROUPS_CELLS ? read_cells(part, copy) : read_names(part, copy);
}
