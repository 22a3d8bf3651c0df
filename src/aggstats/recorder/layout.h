/* Private: how the counters of all ops lie in memory, and so in the live file. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <assert.h>
#include <stdbool.h>

#include "aggstats.h"

#define CACHE_LINE_BYTES 64U

/* Shape: a table is op_count struct aggstats_counters, counters_stride_bytes apart. */
struct layout {
    unsigned op_count;
    unsigned resolution;
    size_t counters_stride_bytes;
    bool is_shared; /* blocks are of a shared live file: see struct aggstats_block */
};

static inline size_t round_up(size_t size, size_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
}

static inline unsigned layout_bucket_count(const struct layout *layout) {
    return 64 * layout->resolution;
}

/* The number of 64-bit counters behind calls and total: the buckets, and those beside them. */
static inline unsigned layout_word_count(const struct layout *layout) {
    return layout_bucket_count(layout) + AGGSTATS_BESIDE;
}

static inline struct layout layout_make(unsigned op_count, unsigned resolution) {
    struct layout layout = {.op_count = op_count, .resolution = resolution};
    size_t counters_bytes = sizeof(struct aggstats_counters) + layout_word_count(&layout) * sizeof(uint64_t);
    layout.counters_stride_bytes = round_up(counters_bytes, CACHE_LINE_BYTES);
    return layout;
}

static inline size_t layout_table_bytes(const struct layout *layout) {
    return layout->op_count * layout->counters_stride_bytes;
}

/* Of a block that has counters for all ops. */
static inline size_t layout_block_bytes(const struct layout *layout) {
    return sizeof(struct aggstats_block) + layout_table_bytes(layout);
}

static inline struct aggstats_counters *layout_counters(const struct layout *layout, void *table, unsigned op) {
    return (struct aggstats_counters *)(void *)((unsigned char *)table + op * layout->counters_stride_bytes);
}

static inline const struct aggstats_counters *layout_counters_const(const struct layout *layout, const void *table,
                                                                    unsigned op) {
    return (const struct aggstats_counters *)(const void *)((const unsigned char *)table +
                                                            op * layout->counters_stride_bytes);
}

/* ---- Blocks of a shared live file ---- */

static_assert(AGGSTATS_OPS_MAX % CACHE_LINE_BYTES == 0, "counters are aligned");

/* With that many counters. */
static inline size_t layout_shared_bytes(const struct layout *layout, unsigned counters_count) {
    return sizeof(struct aggstats_block) + AGGSTATS_OPS_MAX + counters_count * layout->counters_stride_bytes;
}

/* Of an op in a block of either kind; NULL: it was not called. */
static inline struct aggstats_counters *layout_block_counters(const struct layout *layout, struct aggstats_block *block,
                                                              unsigned op) {
    if (!layout->is_shared)
        return layout_counters(layout, block->counters, op);
    const unsigned place = __atomic_load_n(&block->counters[op], __ATOMIC_ACQUIRE);
    return place == 0 || place > layout->op_count
               ? NULL
               : layout_counters(layout, block->counters + AGGSTATS_OPS_MAX, place - 1);
}

#endif
