/* A block is read three times: the counters beside the buckets come from the earliest reading, buckets from the first,
 * and calls and the longest from the second after it, which preserves calls >= sum(buckets) >= failures while a thread
 * counts. The call in flight, and the object of the longest, must be the same in these two. */
#include "block_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "tally.h"

int read_whole_at(int fd, void *to, size_t size_bytes, uint64_t offset) {
    char *rest = to;
    while (size_bytes > 0) {
        const ssize_t read_bytes = pread(fd, rest, size_bytes, (off_t)offset);
        if (read_bytes < 0 && errno == EINTR)
            continue;
        if (read_bytes <= 0)
            return read_bytes < 0 ? negative_errno() : -EBADMSG;
        rest += read_bytes;
        size_bytes -= (size_t)read_bytes;
        offset += (uint64_t)read_bytes;
    }
    return 0;
}

int block_reader_init(struct block_reader *reader, int fd, const struct layout *layout, uint64_t first_offset,
                      uint64_t stride_bytes) {
    const size_t block_bytes = round_up(layout_block_bytes(layout), CACHE_LINE_BYTES);
    *reader = (struct block_reader){
        .fd = fd,
        .layout = *layout,
        .first_offset = first_offset,
        .stride_bytes = stride_bytes,
        .shared = aligned_alloc(CACHE_LINE_BYTES, block_bytes + AGGSTATS_OPS_MAX),
        .earliest = aligned_alloc(CACHE_LINE_BYTES, block_bytes),
        .first = aligned_alloc(CACHE_LINE_BYTES, block_bytes),
        .second = aligned_alloc(CACHE_LINE_BYTES, block_bytes),
    };
    return reader->shared && reader->earliest && reader->first && reader->second ? 0 : -ENOMEM;
}

void block_reader_finish(struct block_reader *reader) {
    free(reader->shared);
    free(reader->earliest);
    free(reader->first);
    free(reader->second);
    *reader = (struct block_reader){0};
}

/* ---- Reading once ---- */

/* The first places_count counters, with zeros for all other ops. */
static void spread(const struct layout *layout, struct aggstats_block *shared, unsigned places_count,
                   struct aggstats_block *ret_block) {
    memcpy(ret_block, shared, sizeof(*ret_block));
    for (unsigned op = 0; op < layout->op_count; op++) {
        struct aggstats_counters *to = layout_counters(layout, ret_block->counters, op);
        const struct aggstats_counters *from =
            shared->counters[op] <= places_count ? layout_block_counters(layout, shared, op) : NULL;
        if (from)
            memcpy(to, from, layout->counters_stride_bytes);
        else
            memset(to, 0, layout->counters_stride_bytes);
    }
}

/* Reads only what is in use: most of the rest is a hole. Returns 1 if nothing is */
static int read_shared(struct block_reader *reader, uint64_t offset, struct aggstats_block *ret_block) {
    int err = read_whole_at(reader->fd, reader->shared, layout_shared_bytes(&reader->layout, 0), offset);
    if (err < 0)
        return err;
    unsigned places_count = 0; /* ops that have counters */
    for (unsigned op = 0; op < AGGSTATS_OPS_MAX; op++)
        if (reader->shared->counters[op] > places_count)
            places_count = reader->shared->counters[op];
    if (places_count == 0 || places_count > reader->layout.op_count)
        return places_count == 0 ? 1 : -EBADMSG;
    err = read_whole_at(reader->fd, reader->shared, layout_shared_bytes(&reader->layout, places_count), offset);
    if (err == 0)
        spread(&reader->layout, reader->shared, places_count, ret_block);
    return err;
}

static int read_once(struct block_reader *reader, uint64_t offset, struct aggstats_block *ret_block) {
    return reader->layout.is_shared ? read_shared(reader, offset, ret_block)
                                    : read_whole_at(reader->fd, ret_block, layout_block_bytes(&reader->layout), offset);
}

/* ---- Merging ---- */

/* Returns false if buckets hold more calls than were made: no recorder has written that, and adding the block fails. */
static bool calls_are_possible(const struct layout *layout, const struct aggstats_counters *counters) {
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++)
        if (__builtin_add_overflow(finished, counters->buckets[bucket], &finished))
            return false;
    return finished <= counters->calls;
}

/* Merges the readings into the first. */
static void merge_readings(const struct block_reader *reader) {
    const struct layout *layout = &reader->layout;
    struct aggstats_block *first = reader->first;
    const struct aggstats_block *second = reader->second;
    if (first->current_op != second->current_op || first->current_start_cycles != second->current_start_cycles ||
        first->current_object != second->current_object || first->current_pid != second->current_pid)
        first->current_op = 0;
    for (unsigned op = 0; op < layout->op_count; op++) {
        struct aggstats_counters *counters = layout_counters(layout, first->counters, op);
        const struct aggstats_counters *later = layout_counters_const(layout, second->counters, op);
        if (later->calls == 0) { /* nor is one in flight */
            counters->calls = 0;
            if (first->current_op == op + UINT64_C(1))
                first->current_op = 0;
            continue;
        }
        bool is_still = memcmp(counters, later, layout->counters_stride_bytes) == 0;
        const struct longest before = longest_read(counters, layout->resolution);
        struct longest longest = longest_read(later, layout->resolution);
        if (before.object != longest.object || before.cycles != longest.cycles)
            longest.object = 0;
        counters->calls = later->calls;
        if (calls_are_possible(layout, counters))
            tally_settle_op(layout, first, op, is_still);
        memcpy(&counters->buckets[layout_bucket_count(layout)],
               &layout_counters_const(layout, reader->earliest->counters, op)->buckets[layout_bucket_count(layout)],
               AGGSTATS_BESIDE * sizeof(uint64_t));
        longest_put(counters, layout->resolution, longest);
    }
}

static bool has_calls(const struct layout *layout, const struct aggstats_block *block) {
    for (unsigned op = 0; op < layout->op_count; op++)
        if (layout_counters_const(layout, block->counters, op)->calls > 0)
            return true;
    return false;
}

int block_reader_read(struct block_reader *reader, uint64_t number, struct aggstats_block **ret_block) {
    const uint64_t offset = reader->first_offset + number * reader->stride_bytes;
    int err = read_once(reader, offset, reader->earliest);
    if (err == 0 && !has_calls(&reader->layout, reader->earliest))
        return 1;
    if (err == 0)
        err = read_once(reader, offset, reader->first);
    if (err == 0)
        err = read_once(reader, offset, reader->second);
    if (err != 0)
        return err;
    merge_readings(reader);
    *ret_block = reader->first;
    return 0;
}
