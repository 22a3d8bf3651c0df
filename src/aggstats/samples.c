/* Sparse tables of interval by bucket: most ops are quiet most of the time. */
#include "samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int samples_reserve(struct samples *samples, size_t more) {
    if (samples->room - samples->count >= more)
        return 0;
    size_t room = samples->room * 2 > samples->count + more ? samples->room * 2 : samples->count + more;
    struct aggstats_cell *grown = reallocarray(samples->cells, room, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    samples->cells = grown;
    samples->room = room;
    return 0;
}

void samples_append_row(struct samples *samples, uint32_t interval, const uint64_t *row, unsigned bucket_count) {
    for (unsigned bucket = 0; bucket < bucket_count; bucket++) {
        if (row[bucket] == 0)
            continue;
        samples->cells[samples->count++] =
            (struct aggstats_cell){.row = interval, .bucket = bucket, .count = row[bucket]};
    }
}

size_t samples_take_row(const struct aggstats_cell *cells, size_t count, size_t at, uint32_t interval_divisor,
                        unsigned bucket_divisor, uint64_t row[AGGSTATS_BUCKETS_MAX]) {
    uint32_t interval = cells[at].row / interval_divisor;
    memset(row, 0, sizeof(uint64_t[AGGSTATS_BUCKETS_MAX]));
    for (; at < count && cells[at].row / interval_divisor == interval; at++)
        row[cells[at].bucket / bucket_divisor] += cells[at].count;
    return at;
}

/* In place: a row has no more cells than those it was made of. */
void samples_merge(struct samples *samples, uint32_t interval_divisor, unsigned bucket_divisor) {
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    struct samples merged = {.cells = samples->cells};
    for (size_t at = 0; at < samples->count;) {
        uint32_t interval = samples->cells[at].row / interval_divisor;
        at = samples_take_row(samples->cells, samples->count, at, interval_divisor, bucket_divisor, row);
        samples_append_row(&merged, interval, row, AGGSTATS_BUCKETS_MAX);
    }
    samples->count = merged.count;
}
