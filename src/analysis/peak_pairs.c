/* Peaks of two histograms are aligned like words of two texts: each is paired or left alone, at the least total
 * cost. */
#include "peak_pairs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ALONE_COST (PEAK_PAIRS_APART_OCTAVES / 2)
#define PRESENT_SHARE 0.5

struct side {
    const struct aggstats_op_profile *op;
    struct peak peaks[PEAKS_MAX];
    size_t count;
    uint64_t calls;
};

struct matching {
    struct side a;
    struct side b;
    unsigned resolution;
    double costs[PEAKS_MAX + 1][PEAKS_MAX + 1]; /* of the first i of a and j of b */
};

static void fill_side(struct side *side, const struct aggstats_op_profile *op, unsigned resolution) {
    side->op = op;
    side->count = peaks_find(op, resolution, side->peaks);
    side->calls = 0;
    for (size_t i = 0; i < side->count; i++)
        side->calls += side->peaks[i].calls;
}

/* ---- Alignment ---------------------------------------------------------------------------------- */

static double way(const struct matching *matching, size_t i, size_t j) {
    return fabs(matching->a.peaks[i].centre - matching->b.peaks[j].centre);
}

static double cost_of_pairing(const struct matching *matching, size_t i, size_t j) {
    return i > 0 && j > 0 ? matching->costs[i - 1][j - 1] + way(matching, i - 1, j - 1) : INFINITY;
}

static double cost_of_vanishing(const struct matching *matching, size_t i, size_t j) {
    return i > 0 ? matching->costs[i - 1][j] + ALONE_COST : INFINITY;
}

static double cost_of_appearing(const struct matching *matching, size_t i, size_t j) {
    return j > 0 ? matching->costs[i][j - 1] + ALONE_COST : INFINITY;
}

static void fill_costs(struct matching *matching) {
    for (size_t i = 0; i <= matching->a.count; i++) {
        for (size_t j = 0; j <= matching->b.count; j++) {
            double cost = i + j == 0 ? 0 : cost_of_pairing(matching, i, j);
            cost = fmin(cost, cost_of_vanishing(matching, i, j));
            matching->costs[i][j] = fmin(cost, cost_of_appearing(matching, i, j));
        }
    }
}

static struct peak_pair pair_of(const struct peak *a, const struct peak *b) {
    struct peak_pair pair = {.change = PEAK_STAYED, .a = *a, .b = *b, .moved_octaves = b->centre - a->centre};
    if (fabs(pair.moved_octaves) >= PEAK_PAIRS_MOVED_OCTAVES)
        pair.change = PEAK_MOVED;
    return pair;
}

static double place_of(const struct peak_pair *pair) {
    return pair->a.calls > 0 ? pair->a.centre : pair->b.centre;
}

static int compare_places(const void *left, const void *right) {
    double difference = place_of(left) - place_of(right);
    return (difference > 0) - (difference < 0);
}

/* Follows the cheapest path backwards. */
static size_t trace(const struct matching *matching, struct peak_pair *ret_pairs) {
    size_t count = 0;
    size_t i = matching->a.count;
    size_t j = matching->b.count;
    while (i + j > 0) {
        double cost = matching->costs[i][j];
        if (cost_of_pairing(matching, i, j) <= cost) {
            i--;
            j--;
            ret_pairs[count++] = pair_of(&matching->a.peaks[i], &matching->b.peaks[j]);
        } else if (cost_of_vanishing(matching, i, j) <= cost) {
            ret_pairs[count++] = (struct peak_pair){.change = PEAK_VANISHED, .a = matching->a.peaks[--i]};
        } else {
            ret_pairs[count++] = (struct peak_pair){.change = PEAK_APPEARED, .b = matching->b.peaks[--j]};
        }
    }
    qsort(ret_pairs, count, sizeof(*ret_pairs), compare_places);
    return count;
}

/* ---- Peaks that are in a flank of the other histogram -------------------------------------------- */

static double share(uint64_t part, uint64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

static struct peak *peak_of(struct peak_pair *pair, bool of_b) {
    return of_b ? &pair->b : &pair->a;
}

/* Removes the buckets of another from a peak, and keeps the larger part of the rest. */
static struct peak without(const struct side *side, unsigned resolution, const struct peak *peak,
                           const struct peak *taken) {
    if (peak->calls == 0 || peak->last < taken->first || peak->first > taken->last)
        return *peak;
    struct peak left =
        peaks_between(side->op, resolution, peak->first, taken->first > peak->first ? taken->first : peak->first);
    struct peak right = peaks_between(side->op, resolution, taken->last + 1,
                                      peak->last > taken->last ? peak->last + 1 : taken->last + 1);
    return left.calls >= right.calls ? left : right;
}

/* side: the one without the peak; its calls in that place are taken from their neighbours. */
static void take_place(const struct matching *matching, const struct side *side, struct peak_pair *pairs, size_t count,
                       size_t at) {
    const bool of_b = side == &matching->b;
    const struct side *other = of_b ? &matching->a : &matching->b;
    const struct peak *known = peak_of(&pairs[at], !of_b);
    struct peak place = peaks_between(side->op, matching->resolution, known->first, known->last + 1);
    if (place.calls == 0 || share(place.calls, side->calls) < PRESENT_SHARE * share(known->calls, other->calls))
        return;
    for (size_t i = 0; i < count; i++) { /* not if a neighbour would have nothing left */
        const struct peak *peak = peak_of(&pairs[i], of_b);
        if (peak->calls > 0 && without(side, matching->resolution, peak, &place).calls == 0)
            return;
    }
    for (size_t i = 0; i < count; i++) {
        struct peak *peak = peak_of(&pairs[i], of_b);
        *peak = without(side, matching->resolution, peak, &place);
        if (pairs[i].a.calls > 0 && pairs[i].b.calls > 0)
            pairs[i] = pair_of(&pairs[i].a, &pairs[i].b);
    }
    *peak_of(&pairs[at], of_b) = place;
    pairs[at] = pair_of(&pairs[at].a, &pairs[at].b);
}

size_t peak_pairs_match(const struct aggstats_op_profile *a, const struct aggstats_op_profile *b, unsigned resolution,
                        struct peak_pair *ret_pairs) {
    struct matching matching = {.resolution = resolution};
    fill_side(&matching.a, a, resolution);
    fill_side(&matching.b, b, resolution);
    fill_costs(&matching);
    size_t count = trace(&matching, ret_pairs);
    for (size_t i = 0; i < count; i++) {
        if (ret_pairs[i].change == PEAK_APPEARED)
            take_place(&matching, &matching.a, ret_pairs, count, i);
        else if (ret_pairs[i].change == PEAK_VANISHED)
            take_place(&matching, &matching.b, ret_pairs, count, i);
    }
    return count;
}
