/* Private: sparse tables, counted in any order: a number of calls for each table, row and bucket. */
#ifndef EVENTS_CELLS_H
#define EVENTS_CELLS_H

#include "aggstats.h"

struct events_cell {
    uint64_t key; /* table, row, bucket; see events_cells.c */
    uint64_t count;
};

struct events_cells {
    struct events_cell *cells; /* a hash table until they are sorted; a count of 0: a free place */
    size_t place_count;        /* a power of two, or 0 */
    size_t used_count;
};

#define EVENTS_CELL_TABLES_MAX 4096U /* rows: less than AGGSTATS_INTERVALS_MAX * 2 */

/* Counts one. Errors: -ENOMEM */
int events_cells_add(struct events_cells *cells, unsigned table, uint64_t row, unsigned bucket);

/* Afterwards only the next function may be used, and none is added. */
void events_cells_sort(struct events_cells *cells);

/* Those of a table, by row, then bucket. Owner: the caller frees *ret_cells. Errors: -ENOMEM */
int events_cells_take(const struct events_cells *cells, unsigned table, struct aggstats_cell **ret_cells,
                      size_t *ret_count);

void events_cells_finish(struct events_cells *cells);

#endif
