/* All ranges of peaks are sorted by their calls, so that equal ones are adjacent. */
#include "correlate.h"

#include "base.h"

/* The ranges of all ops: k peaks have k (k + 1) / 2. */
static int list_runs(const struct aggstats_profile *profile, struct correlate_part **ret_parts, size_t *ret_count) {
    const size_t runs_max = PEAKS_MAX * (PEAKS_MAX + 1) / 2;
    CLEANUP_FREE struct correlate_part *parts = NULL;
    struct peak peaks[PEAKS_MAX];
    size_t count = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < profile->op_count; i++) {
        if (capacity - count < runs_max) {
            capacity = 2 * capacity + runs_max;
            struct correlate_part *grown = reallocarray(parts, capacity, sizeof(*parts));
            if (!grown)
                return -ENOMEM;
            parts = grown;
        }
        const struct aggstats_op_profile *op = &profile->ops[i];
        unsigned peak_count = (unsigned)peaks_find(op, profile->resolution, peaks);
        for (unsigned first = 0; first < peak_count; first++)
            for (unsigned last = first; last < peak_count; last++)
                parts[count++] = (struct correlate_part){
                    .op = op,
                    .first_peak = first,
                    .last_peak = last,
                    .peak_count = peak_count,
                    .calls = peaks_between(op, profile->resolution, peaks[first].first, peaks[last].last + 1),
                };
    }
    *ret_parts = steal_pointer(&parts);
    *ret_count = count;
    return 0;
}

static int compare_parts(const void *left, const void *right) {
    const struct correlate_part *a = left;
    const struct correlate_part *b = right;
    if (a->calls.calls != b->calls.calls)
        return a->calls.calls > b->calls.calls ? -1 : 1;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return a->first_peak < b->first_peak ? -1 : a->first_peak > b->first_peak;
}

/* Expected coincidences near that number of calls: from the number of parts that have between half and twice as many;
 * parts are sorted. */
static double chance_of(const struct correlate_part *parts, size_t part_count, uint64_t calls) {
    size_t bounds[2]; /* the first with at most twice as many, the first with less than half */
    for (int bound = 0; bound < 2; bound++) {
        size_t low = 0;
        size_t high = part_count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            double at = (double)parts[middle].calls.calls;
            bool is_before = bound == 0 ? at > 2 * (double)calls : at >= 0.5 * (double)calls;
            if (is_before)
                low = middle + 1;
            else
                high = middle;
        }
        bounds[bound] = low;
    }
    double near = (double)(bounds[1] - bounds[0]);
    return near * (near - 1) / 2 / (1.5 * (double)calls);
}

static int find_equal(struct correlations *correlations, size_t part_count) {
    struct correlate_part *parts = correlations->parts;
    correlations->found = calloc(part_count + 1, sizeof(*correlations->found));
    if (!correlations->found)
        return -ENOMEM;
    for (size_t at = 0; at < part_count;) {
        uint64_t calls = parts[at].calls.calls;
        size_t count = 1;
        while (at + count < part_count && parts[at + count].calls.calls == calls)
            count++;
        bool of_several = parts[at].op != parts[at + count - 1].op;
        double chance = of_several ? chance_of(parts, part_count, calls) : 1;
        if (chance <= CORRELATE_CHANCE_MAX)
            correlations->found[correlations->count++] =
                (struct correlation){.calls = calls, .chance = chance, .parts = parts + at, .part_count = count};
        at += count;
    }
    return 0;
}

int correlate_profile(const struct aggstats_profile *profile, struct correlations *ret_correlations) {
    struct correlations correlations = {0};
    size_t part_count = 0;
    int err = list_runs(profile, &correlations.parts, &part_count);
    if (err < 0)
        return err;
    if (part_count > 0)
        qsort(correlations.parts, part_count, sizeof(*correlations.parts), compare_parts);
    err = find_equal(&correlations, part_count);
    if (err < 0) {
        correlate_finish(&correlations);
        return err;
    }
    *ret_correlations = correlations;
    return 0;
}

void correlate_finish(struct correlations *correlations) {
    free(correlations->found);
    free(correlations->parts);
    *correlations = (struct correlations){0};
}
