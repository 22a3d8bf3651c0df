/* Open addressing; half of the places stay free. */
#include "events_cells.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKET_BITS 9U
#define ROW_BITS 32U
#define FIRST_PLACES 1024U

_Static_assert(AGGSTATS_BUCKETS_MAX <= 1U << BUCKET_BITS, "a bucket's number fits");

static uint64_t key_of(unsigned table, uint64_t row, unsigned bucket) {
    return (uint64_t)table << (ROW_BITS + BUCKET_BITS) | row << BUCKET_BITS | bucket;
}

static struct events_cell *place_of(const struct events_cells *cells, uint64_t key) {
    size_t at = (size_t)(key * UINT64_C(11400714819323198485) >> 20) & (cells->place_count - 1);
    while (cells->cells[at].count > 0 && cells->cells[at].key != key)
        at = (at + 1) & (cells->place_count - 1);
    return &cells->cells[at];
}

static int grow(struct events_cells *cells) {
    struct events_cells grown = {.place_count = cells->place_count ? 2 * cells->place_count : FIRST_PLACES,
                                 .used_count = cells->used_count};
    grown.cells = calloc(grown.place_count, sizeof(*grown.cells));
    if (!grown.cells)
        return -ENOMEM;
    for (size_t i = 0; i < cells->place_count; i++)
        if (cells->cells[i].count > 0)
            *place_of(&grown, cells->cells[i].key) = cells->cells[i];
    free(cells->cells);
    *cells = grown;
    return 0;
}

int events_cells_add(struct events_cells *cells, unsigned table, uint64_t row, unsigned bucket) {
    int err = 2 * cells->used_count >= cells->place_count ? grow(cells) : 0;
    if (err < 0)
        return err;
    uint64_t key = key_of(table, row, bucket);
    struct events_cell *cell = place_of(cells, key);
    cells->used_count += cell->count == 0;
    cell->key = key;
    cell->count++;
    return 0;
}

static int compare_cells(const void *left, const void *right) {
    const struct events_cell *a = left;
    const struct events_cell *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

void events_cells_sort(struct events_cells *cells) {
    size_t kept = 0;
    for (size_t i = 0; i < cells->place_count; i++)
        if (cells->cells[i].count > 0)
            cells->cells[kept++] = cells->cells[i];
    if (kept > 0)
        qsort(cells->cells, kept, sizeof(*cells->cells), compare_cells);
}

/* The first one that has that key or a larger one. */
static size_t find(const struct events_cells *cells, uint64_t key) {
    size_t from = 0;
    size_t to = cells->used_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (cells->cells[middle].key < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

int events_cells_take(const struct events_cells *cells, unsigned table, struct aggstats_cell **ret_cells,
                      size_t *ret_count) {
    size_t first = find(cells, key_of(table, 0, 0));
    size_t end = find(cells, key_of(table + 1, 0, 0));
    size_t count = end > first ? end - first : 0;
    struct aggstats_cell *taken = calloc(count + 1, sizeof(*taken));
    if (!taken)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct events_cell *cell = &cells->cells[first + i];
        taken[i] = (struct aggstats_cell){.row = (uint32_t)(cell->key >> BUCKET_BITS),
                                          .bucket = (uint32_t)(cell->key & ((1U << BUCKET_BITS) - 1)),
                                          .count = cell->count};
    }
    *ret_cells = taken;
    *ret_count = count;
    return 0;
}

void events_cells_finish(struct events_cells *cells) {
    free(cells->cells);
    *cells = (struct events_cells){0};
}
