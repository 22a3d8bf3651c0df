/* libaggstats, inside this project: sparse tables, of interval or value by bucket, sorted by row, then bucket. */
#ifndef AGGSTATS_CELLS_H
#define AGGSTATS_CELLS_H

#include "aggstats/profile.h"

struct cells {
    struct aggstats_cell *cells;
    size_t count;
    size_t room;
};

/* Makes room for `more` further cells, so that appending them cannot fail. Errors: -ENOMEM */
int cells_reserve(struct cells *cells, size_t more);

/* Appends the non-zero buckets of a row, as an interval after all others. There must be room. */
void cells_append_row(struct cells *cells, uint32_t interval, const uint64_t *row, unsigned bucket_count);

/* Adds up the cells of the interval that cell `at` is in, into row, which is zeroed first. Interval and bucket numbers
 * are divided by the divisors first. Returns the index after the interval's last cell. */
size_t cells_take_row(const struct aggstats_cell *cells, size_t count, size_t at, uint32_t interval_divisor,
                      unsigned bucket_divisor, uint64_t row[AGGSTATS_BUCKETS_MAX]);

/* Merges each interval_divisor adjacent intervals, and each bucket_divisor adjacent buckets, into one. */
void cells_merge(struct cells *cells, uint32_t interval_divisor, unsigned bucket_divisor);

/* Adds one to any cell; the table is unordered until cells_settle(). Errors: -ENOMEM */
int cells_count(struct cells *cells, uint32_t row, uint32_t bucket);
void cells_settle(struct cells *cells);

#endif
