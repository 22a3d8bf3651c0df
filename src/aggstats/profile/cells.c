/* Sparse tables of interval by bucket: most ops have calls in few intervals. */
#include "aggstats/cells.h"

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

/* In place: the merged table never has more cells than before. */
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

/* ---- Counting in any order ---- */

static int compare_cells(const void *left, const void *right) {
    const struct aggstats_cell *a = left;
    const struct aggstats_cell *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->bucket > b->bucket) - (a->bucket < b->bucket);
}

void cells_settle(struct cells *cells) {
    size_t kept = 0;
    if (cells->count > 1)
        qsort(cells->cells, cells->count, sizeof(*cells->cells), compare_cells);
    for (size_t i = 1; i < cells->count; i++) {
        if (compare_cells(&cells->cells[kept], &cells->cells[i]) == 0)
            cells->cells[kept].count += cells->cells[i].count;
        else
            cells->cells[++kept] = cells->cells[i];
    }
    cells->count = cells->count > 0 ? kept + 1 : 0;
}

/* A full table is settled first. Afterwards at least half of it is free, so settling is rare. */
int cells_count(struct cells *cells, uint32_t row, uint32_t bucket) {
    int err = 0;
    if (cells->count == cells->room) {
        cells_settle(cells);
        err = cells_reserve(cells, cells->count + 64);
    }
    if (err == 0)
        cells->cells[cells->count++] = (struct aggstats_cell){.row = row, .bucket = bucket, .count = 1};
    return err;
}
