/* Walking along the histogram: a valley is deep enough once the curve has risen again to four times it. */
#include "peaks.h"

#include <stdbool.h>

#define VALLEY_FACTOR 4U

static bool is_below(uint64_t calls, uint64_t peak_calls) {
    return calls < (peak_calls + VALLEY_FACTOR - 1) / VALLEY_FACTOR;
}

/* Where the peak that begins at first ends: at the deepest bucket before the curve rises again. bucket_count: it is the
 * last one. */
static unsigned find_end(const uint64_t *buckets, unsigned bucket_count, unsigned first) {
    uint64_t most = buckets[first];
    unsigned valley = first;
    for (unsigned bucket = first + 1; bucket < bucket_count; bucket++) {
        uint64_t calls = buckets[bucket];
        bool was_down = is_below(buckets[valley], most);
        if (was_down && is_below(buckets[valley], calls))
            return valley;
        if (calls > most && !was_down) {
            most = calls;
            valley = bucket;
        } else if (calls < buckets[valley]) {
            valley = bucket;
        }
    }
    return bucket_count;
}

static struct peak sum_up(const uint64_t *buckets, unsigned first, unsigned end) {
    struct peak peak = {.first = first, .last = first, .mode = first};
    for (unsigned bucket = first; bucket < end; bucket++) {
        if (buckets[bucket] == 0)
            continue;
        peak.calls += buckets[bucket];
        peak.last = bucket;
        if (buckets[bucket] > buckets[peak.mode])
            peak.mode = bucket;
    }
    return peak;
}

size_t peaks_find(const uint64_t *buckets, unsigned bucket_count, struct peak *ret_peaks) {
    size_t count = 0;
    unsigned first = 0;
    while (first < bucket_count) {
        if (buckets[first] == 0) {
            first++;
            continue;
        }
        unsigned end = find_end(buckets, bucket_count, first);
        ret_peaks[count++] = sum_up(buckets, first, end);
        first = end;
    }
    return count;
}
