/* libaggstats, inside this project: sparse tables, of interval or value by bucket, sorted by row, then bucket. */
#ifndef AGGSTATS_CELLS_H
#define AGGSTATS_CELLS_H

#include "aggstats/profile.h"

struct cells {
    struct aggstats_cell *cells;
    size_t count;
    size_t room;
};

/* Room for that many more, so that appending them cannot fail. Errors: -ENOMEM */
int cells_reserve(struct cells *cells, size_t more);

/* Appends what is not 0 of a row of buckets, as an interval behind all others. There must be room. */
void cells_append_row(struct cells *cells, uint32_t interval, const uint64_t *row, unsigned bucket_count);

/* Sums up the cells of the interval in which cell `at` lies, into row, which is zeroed first. Interval and bucket
 * numbers are first divided by the divisors. Returns the index behind them. */
size_t cells_take_row(const struct aggstats_cell *cells, size_t count, size_t at, uint32_t interval_divisor,
                      unsigned bucket_divisor, uint64_t row[AGGSTATS_BUCKETS_MAX]);

/* Makes so many neighbours of intervals, and of buckets, one. */
void cells_merge(struct cells *cells, uint32_t interval_divisor, unsigned bucket_divisor);

/* Counts one in any place; only cells_settle() brings the table into its order again. Errors: -ENOMEM */
int cells_count(struct cells *cells, uint32_t row, uint32_t bucket);
void cells_settle(struct cells *cells);

#endif
