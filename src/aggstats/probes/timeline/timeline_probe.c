/* Sampled profiles of a recorder: its profile, cut into intervals (thesis §3.1.5).
 *
 * At each border a thread of the recorder takes the difference of two snapshots, so the hot path knows nothing of it.
 * The result is sparse: a cell for each bucket that got calls in an interval. Borders are stored as they were measured;
 * the format of the thesis (§5.8) has none, and intervals without borders are read too.
 *
 * Invariant: the sum of the intervals, and of what came since the last border, is the profile; exactly, for each
 * bucket. The size is bounded: when it is full, every two neighbours are merged, and from then on intervals are twice
 * as long. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/cells.h"
#include "base.h"
#include "places.h"
#include "profile_owned.h"
#include "quiet_lock.h"
#include "recorder_state.h"
#include "sampler.h"
#include "snapshot.h"

struct timeline {
    struct layout layout;
    uint64_t wanted_cycles;   /* length of an interval, as requested */
    uint64_t interval_cycles; /* its current length */
    size_t capacity;          /* intervals; even */
    uint64_t *borders;        /* [capacity]; the end of each interval, in cycles since the start of the window */
    size_t count;
    void *seen;        /* table of counters: for each bucket, the sum of all intervals */
    struct cells *ops; /* [layout.op_count] */
};

static void timeline_destroy(struct timeline *timeline) {
    if (!timeline)
        return;
    for (unsigned op = 0; timeline->ops && op < timeline->layout.op_count; op++)
        free(timeline->ops[op].cells);
    free(timeline->ops);
    free(timeline->seen);
    free(timeline->borders);
    free(timeline);
}

/* Empty: its first interval begins with the window. Errors: -ENOMEM */
static int timeline_create(const struct layout *layout, uint64_t interval_cycles, size_t capacity,
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

/* Ends an interval: it gets what the window shows now and no interval has. Without memory nothing changes, and the
 * interval goes on. */
static void end_interval(struct timeline *timeline, const struct window *window, const struct tally *tally,
                         uint64_t elapsed_cycles) {
    const struct layout *layout = &timeline->layout;
    const unsigned bucket_count = layout_bucket_count(layout);
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    CLEANUP_FREE struct aggstats_counters *visible = malloc(layout->counters_stride_bytes);
    if (!visible || (timeline->count > 0 && elapsed_cycles <= timeline->borders[timeline->count - 1]))
        return; /* no time has passed: the window is paused, or has just begun */
    for (unsigned op = 0; op < layout->op_count; op++)
        if (cells_reserve(&timeline->ops[op], bucket_count) < 0)
            return;
    if (timeline->count == timeline->capacity)
        halve(timeline);
    for (unsigned op = 0; op < layout->op_count; op++) {
        window_visible(window, tally, op, visible);
        if (find_new(timeline, visible, op, row) == 0)
            continue;
        struct aggstats_counters *seen = layout_counters(layout, timeline->seen, op);
        cells_append_row(&timeline->ops[op], (uint32_t)timeline->count, row, bucket_count);
        for (unsigned bucket = 0; bucket < bucket_count; bucket++)
            seen->buckets[bucket] += row[bucket];
    }
    timeline->borders[timeline->count++] = elapsed_cycles;
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

struct intervals {
    struct probe probe;
    struct timeline *timeline; /* under the window lock; NULL: not sampled */
    struct sampler *sampler;   /* under the lock of probes; NULL: not sampled */
};

static struct intervals *to_intervals(struct probe *probe) {
    return container_of(probe, struct intervals, probe);
}

/* ---- The thread ---- */

static int64_t interval_ns(const struct intervals *intervals) {
    return (int64_t)(1e9L * intervals->timeline->interval_cycles / intervals->probe.recorder->clock.frequency_hz);
}

/* Without memory the interval goes on. */
static int64_t cut(void *context) {
    struct intervals *intervals = context;
    struct aggstats_recorder *recorder = intervals->probe.recorder;
    struct tally tally;
    int err = tally_init(&tally, &recorder->layout);
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    const struct window *window = live_window(&recorder->live);
    if (err == 0 && !window->paused && recorder_tally(recorder, false, &tally) == 0)
        end_interval(intervals->timeline, window, &tally,
                     window_elapsed_cycles(window, aggstats_clock_now(recorder->clock.kind)));
    int64_t next_ns = interval_ns(intervals);
    quiet_unlock(&recorder->window_lock, &before);
    if (err == 0)
        tally_finish(&tally);
    return next_ns;
}

/* ---- As a probe ---- */

static void reset(struct probe *probe) {
    struct timeline *timeline = to_intervals(probe)->timeline;
    if (!timeline)
        return;
    timeline->count = 0;
    timeline->interval_cycles = timeline->wanted_cycles;
    memset(timeline->seen, 0, layout_table_bytes(&timeline->layout));
    for (unsigned op = 0; op < timeline->layout.op_count; op++)
        timeline->ops[op].count = 0;
}

/* The current interval is the last one. */
static int show(struct probe *probe, const struct snapshot_source *source, struct aggstats_profile *profile) {
    const struct timeline *timeline = to_intervals(probe)->timeline;
    if (!timeline)
        return 0;
    CLEANUP_FREE struct aggstats_counters *visible = malloc(timeline->layout.counters_stride_bytes);
    int err = visible ? show_borders(timeline, profile) : -ENOMEM;
    for (unsigned number = 0; err == 0 && number < timeline->layout.op_count; number++) {
        struct aggstats_op_profile *op = profile_find_op(profile, source->op_names[number]);
        if (!op)
            continue;
        window_visible(source->window, source->tally, number, visible);
        err = show_op(timeline, number, visible, profile, op);
    }
    return err;
}

/* The intervals that ended meanwhile are merged into one, which begins where the span ended. */
static void end_mark(struct probe *probe, const struct aggstats_profile *taken) {
    if (taken)
        reset(probe);
}

static void leave(struct probe *probe) {
    probe->is_left = true;
    if (to_intervals(probe)->sampler)
        to_intervals(probe)->sampler->is_left = true;
}

static void destroy(struct probe *probe) {
    struct intervals *intervals = to_intervals(probe);
    sampler_stop(intervals->sampler);
    timeline_destroy(intervals->timeline);
    free(intervals);
}

static const struct probe_ops ops = {
    .reset = reset,
    .show = show,
    .end_mark = end_mark,
    .leave = leave,
    .destroy = destroy,
};

/* Those of a parent process cannot be used any more. Call under the lock of probes */
static int find(struct aggstats_recorder *recorder, struct intervals **ret_intervals) {
    struct probe *probe = recorder_probe(recorder, PROBE_TIMELINE);
    if (!probe) {
        struct intervals *intervals = calloc(1, sizeof(*intervals));
        if (!intervals)
            return -ENOMEM;
        probe = &intervals->probe;
        *probe = (struct probe){.ops = &ops, .recorder = recorder};
        struct probe *parents = recorder_attach(recorder, PROBE_TIMELINE, probe);
        if (parents)
            destroy(parents);
    }
    *ret_intervals = to_intervals(probe);
    return 0;
}

/* ---- Options; under the lock of probes ---- */

/* Replaces the current timeline, which is returned. */
static struct timeline *exchange_timeline(struct intervals *intervals, struct timeline *timeline) {
    sigset_t before;
    quiet_lock(&intervals->probe.recorder->window_lock, &before);
    struct timeline *earlier = intervals->timeline;
    intervals->timeline = timeline;
    quiet_unlock(&intervals->probe.recorder->window_lock, &before);
    return earlier;
}

static int start_sampling(struct aggstats_recorder *recorder, uint64_t interval_ns, size_t intervals_max) {
    uint64_t interval_cycles = (uint64_t)(1e-9L * interval_ns * recorder->clock.frequency_hz);
    struct intervals *intervals;
    struct timeline *timeline;
    int err = find(recorder, &intervals);
    if (err == 0)
        err = timeline_create(&recorder->layout, interval_cycles, intervals_max, &timeline);
    if (err < 0)
        return err;
    timeline = exchange_timeline(intervals, timeline);
    if (!intervals->sampler)
        err = sampler_start(cut, intervals, (int64_t)interval_ns, &intervals->sampler);
    else
        sampler_wake(intervals->sampler, (int64_t)interval_ns);
    if (err < 0)
        timeline = exchange_timeline(intervals, timeline);
    timeline_destroy(timeline);
    return err;
}

int aggstats_recorder_set_interval(struct aggstats_recorder *recorder, uint64_t interval_ns, size_t intervals_max) {
    if (intervals_max == 0)
        intervals_max = AGGSTATS_INTERVALS_DEFAULT;
    if (intervals_max < 2 || intervals_max > AGGSTATS_INTERVALS_MAX || intervals_max % 2 != 0 ||
        (interval_ns > 0 && interval_ns < AGGSTATS_INTERVAL_MIN_NS) || interval_ns > AGGSTATS_INTERVAL_MAX_NS)
        return -EINVAL;
    int err = 0;
    sigset_t before;
    quiet_lock(&recorder->probes_lock, &before);
    struct probe *probe = recorder_probe(recorder, PROBE_TIMELINE);
    if (interval_ns > 0) {
        err = start_sampling(recorder, interval_ns, intervals_max);
    } else if (probe) {
        sampler_stop(to_intervals(probe)->sampler);
        to_intervals(probe)->sampler = NULL;
        timeline_destroy(exchange_timeline(to_intervals(probe), NULL));
    }
    quiet_unlock(&recorder->probes_lock, &before);
    return err;
}
