/* Ending intervals, and merging them when full. */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile_owned.h"

int timeline_create(const struct layout *layout, uint64_t interval_cycles, size_t capacity,
                    struct timeline **ret_timeline) {
    struct timeline *timeline = calloc(1, sizeof(*timeline));
    if (!timeline)
        return -ENOMEM;
    *timeline = (struct timeline){
        .layout = *layout,
        .wanted_cycles = interval_cycles,
        .interval_cycles = interval_cycles,
        .capacity = capacity,
        .borders = calloc(capacity, sizeof(*timeline->borders)),
        .seen = calloc(1, layout_table_bytes(layout)),
        .ops = calloc(layout->op_count, sizeof(*timeline->ops)),
    };
    if (!timeline->borders || !timeline->seen || !timeline->ops) {
        timeline_destroy(timeline);
        return -ENOMEM;
    }
    *ret_timeline = timeline;
    return 0;
}

void timeline_destroy(struct timeline *timeline) {
    if (!timeline)
        return;
    for (unsigned op = 0; timeline->ops && op < timeline->layout.op_count; op++)
        free(timeline->ops[op].cells);
    free(timeline->ops);
    free(timeline->seen);
    free(timeline->borders);
    free(timeline);
}

void timeline_clear(struct timeline *timeline) {
    timeline->count = 0;
    timeline->interval_cycles = timeline->wanted_cycles;
    memset(timeline->seen, 0, layout_table_bytes(&timeline->layout));
    for (unsigned op = 0; op < timeline->layout.op_count; op++)
        timeline->ops[op].count = 0;
}

/* ---- Cutting ---- */

static void halve(struct timeline *timeline) {
    for (unsigned op = 0; op < timeline->layout.op_count; op++)
        cells_merge(&timeline->ops[op], 2, 1);
    timeline->count /= 2;
    for (size_t i = 0; i < timeline->count; i++)
        timeline->borders[i] = timeline->borders[2 * i + 1];
    timeline->interval_cycles *= 2;
}

/* What the op shows now and no interval has. A count that has become smaller, as may happen in a block that several
 * threads share, adds nothing. Returns how many buckets have something. */
static unsigned find_new(const struct timeline *timeline, const struct aggstats_counters *visible, unsigned op,
                         uint64_t row[AGGSTATS_BUCKETS_MAX]) {
    const struct aggstats_counters *seen = layout_counters_const(&timeline->layout, timeline->seen, op);
    unsigned used = 0;
    for (unsigned bucket = 0; bucket < layout_bucket_count(&timeline->layout); bucket++) {
        uint64_t now = visible->buckets[bucket];
        row[bucket] = now > seen->buckets[bucket] ? now - seen->buckets[bucket] : 0;
        used += row[bucket] > 0;
    }
    return used;
}

static void take_over(struct timeline *timeline, unsigned op, const uint64_t *row) {
    struct aggstats_counters *seen = layout_counters(&timeline->layout, timeline->seen, op);
    unsigned bucket_count = layout_bucket_count(&timeline->layout);
    cells_append_row(&timeline->ops[op], (uint32_t)timeline->count, row, bucket_count);
    for (unsigned bucket = 0; bucket < bucket_count; bucket++)
        seen->buckets[bucket] += row[bucket];
}

int timeline_cut(struct timeline *timeline, const struct window *window, const struct tally *tally,
                 uint64_t elapsed_cycles) {
    const struct layout *layout = &timeline->layout;
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    CLEANUP_FREE struct aggstats_counters *visible = malloc(layout->counters_stride_bytes);
    if (!visible)
        return -ENOMEM;
    if (timeline->count > 0 && elapsed_cycles <= timeline->borders[timeline->count - 1])
        return 0; /* no time has passed: the window is paused, or has just begun */
    for (unsigned op = 0; op < layout->op_count; op++)
        if (cells_reserve(&timeline->ops[op], layout_bucket_count(layout)) < 0)
            return -ENOMEM;
    if (timeline->count == timeline->capacity)
        halve(timeline);
    for (unsigned op = 0; op < layout->op_count; op++) {
        window_visible(window, tally, op, visible);
        if (find_new(timeline, visible, op, row) > 0)
            take_over(timeline, op, row);
    }
    timeline->borders[timeline->count++] = elapsed_cycles;
    return 0;
}

/* ---- Showing ---- */

static int show_borders(const struct timeline *timeline, struct aggstats_profile *profile) {
    profile->borders = calloc(timeline->count + 1, sizeof(*profile->borders));
    if (!profile->borders)
        return -ENOMEM;
    memcpy(profile->borders, timeline->borders, timeline->count * sizeof(*timeline->borders));
    profile->interval_count = timeline->count;
    profile->interval_cycles = timeline->interval_cycles;
    uint64_t last_cycles = timeline->count > 0 ? timeline->borders[timeline->count - 1] : 0;
    if (profile->elapsed_cycles > last_cycles || timeline->count == 0)
        profile->borders[profile->interval_count++] = profile->elapsed_cycles;
    return 0;
}

/* Keeps the invariant if counts have become smaller. */
static void raise_to_samples(struct aggstats_op_profile *op, const struct aggstats_counters *seen,
                             unsigned bucket_count) {
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < bucket_count; bucket++) {
        if (op->buckets[bucket] < seen->buckets[bucket])
            op->buckets[bucket] = seen->buckets[bucket];
        finished += op->buckets[bucket];
    }
    if (op->calls < finished)
        op->calls = finished;
    profile_settle_longest(op, bucket_count / 64);
}

static int show_op(const struct timeline *timeline, unsigned op_number, const struct aggstats_counters *visible,
                   struct aggstats_profile *profile, struct aggstats_op_profile *op) {
    const struct cells *kept = &timeline->ops[op_number];
    unsigned bucket_count = layout_bucket_count(&timeline->layout);
    struct cells samples = {.cells = NULL};
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    unsigned used = find_new(timeline, visible, op_number, row);
    if (cells_reserve(&samples, kept->count + used + 1) < 0)
        return -ENOMEM;
    if (kept->count > 0)
        memcpy(samples.cells, kept->cells, kept->count * sizeof(*kept->cells));
    samples.count = kept->count;
    cells_append_row(&samples, (uint32_t)(profile->interval_count - 1), row, bucket_count);
    cells_merge(&samples, 1, 1); /* if no time has passed since the last border, it belongs to the interval before */
    raise_to_samples(op, layout_counters_const(&timeline->layout, timeline->seen, op_number), bucket_count);
    op->samples = samples.cells;
    op->sample_count = samples.count;
    return 0;
}

int timeline_show(const struct timeline *timeline, const struct window *window, const struct tally *tally,
                  const char (*op_names)[AGGSTATS_NAME_SIZE], struct aggstats_profile *profile) {
    CLEANUP_FREE struct aggstats_counters *visible = malloc(timeline->layout.counters_stride_bytes);
    int err = visible ? show_borders(timeline, profile) : -ENOMEM;
    for (unsigned number = 0; err == 0 && number < timeline->layout.op_count; number++) {
        struct aggstats_op_profile *op = profile_find_op(profile, op_names[number]);
        if (!op)
            continue;
        window_visible(window, tally, number, visible);
        err = show_op(timeline, number, visible, profile, op);
    }
    return err;
}
