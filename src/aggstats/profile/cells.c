/* Sparse tables of interval by bucket: most ops are quiet most of the time. */
#include "cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cells_reserve(struct cells *cells, size_t more) {
    if (cells->room - cells->count >= more)
        return 0;
    size_t room = cells->room * 2 > cells->count + more ? cells->room * 2 : cells->count + more;
    struct aggstats_cell *grown = reallocarray(cells->cells, room, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    cells->cells = grown;
    cells->room = room;
    return 0;
}

void cells_append_row(struct cells *cells, uint32_t interval, const uint64_t *row, unsigned bucket_count) {
    for (unsigned bucket = 0; bucket < bucket_count; bucket++) {
        if (row[bucket] == 0)
            continue;
        cells->cells[cells->count++] = (struct aggstats_cell){.row = interval, .bucket = bucket, .count = row[bucket]};
    }
}

size_t cells_take_row(const struct aggstats_cell *cells, size_t count, size_t at, uint32_t interval_divisor,
                      unsigned bucket_divisor, uint64_t row[AGGSTATS_BUCKETS_MAX]) {
    uint32_t interval = cells[at].row / interval_divisor;
    memset(row, 0, sizeof(uint64_t[AGGSTATS_BUCKETS_MAX]));
    for (; at < count && cells[at].row / interval_divisor == interval; at++)
        row[cells[at].bucket / bucket_divisor] += cells[at].count;
    return at;
}

/* In place: a row has no more cells than those it was made of. */
void cells_merge(struct cells *cells, uint32_t interval_divisor, unsigned bucket_divisor) {
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    struct cells merged = {.cells = cells->cells};
    for (size_t at = 0; at < cells->count;) {
        uint32_t interval = cells->cells[at].row / interval_divisor;
        at = cells_take_row(cells->cells, cells->count, at, interval_divisor, bucket_divisor, row);
        cells_append_row(&merged, interval, row, AGGSTATS_BUCKETS_MAX);
    }
    cells->count = merged.count;
}
