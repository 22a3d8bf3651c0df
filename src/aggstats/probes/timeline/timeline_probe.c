/* Sampled profiles of a recorder. */
#include <errno.h>
#include <stdlib.h>

#include "base.h"
#include "places.h"
#include "quiet_lock.h"
#include "recorder_state.h"
#include "sampler.h"
#include "snapshot.h"
#include "timeline.h"

struct intervals {
    struct probe probe;
    struct timeline *timeline; /* under the window lock; NULL: not sampled */
    struct sampler *sampler;   /* under the lock of probes; NULL: not sampled */
};

static struct intervals *to_intervals(struct probe *probe) {
    return container_of(probe, struct intervals, probe);
}

/* ---- Cutting ---- */

static int64_t interval_ns(const struct intervals *intervals) {
    return (int64_t)(1e9L * intervals->timeline->interval_cycles / intervals->probe.recorder->clock.frequency_hz);
}

static void cut_locked(struct intervals *intervals, struct tally *tally) {
    struct aggstats_recorder *recorder = intervals->probe.recorder;
    const struct window *window = live_window(&recorder->live);
    if (window->paused || recorder_tally(recorder, false, tally) < 0)
        return;
    uint64_t now_cycles = aggstats_clock_now(recorder->clock.kind);
    timeline_cut(intervals->timeline, window, tally, window_elapsed_cycles(window, now_cycles));
}

/* Without memory the interval goes on. */
static int64_t cut(void *context) {
    struct intervals *intervals = context;
    struct aggstats_recorder *recorder = intervals->probe.recorder;
    struct tally tally;
    int err = tally_init(&tally, &recorder->layout);
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    if (err == 0)
        cut_locked(intervals, &tally);
    int64_t next_ns = interval_ns(intervals);
    quiet_unlock(&recorder->window_lock, &before);
    if (err == 0)
        tally_finish(&tally);
    return next_ns;
}

/* ---- As a probe ---- */

static void reset(struct probe *probe) {
    if (to_intervals(probe)->timeline)
        timeline_clear(to_intervals(probe)->timeline);
}

static int show(struct probe *probe, const struct snapshot_source *source, struct aggstats_profile *profile) {
    const struct timeline *timeline = to_intervals(probe)->timeline;
    return timeline ? timeline_show(timeline, source->window, source->tally, source->op_names, profile) : 0;
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

static void stop_sampling(struct aggstats_recorder *recorder) {
    struct probe *probe = recorder_probe(recorder, PROBE_TIMELINE);
    if (!probe)
        return;
    struct intervals *intervals = to_intervals(probe);
    sampler_stop(intervals->sampler);
    intervals->sampler = NULL;
    timeline_destroy(exchange_timeline(intervals, NULL));
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
    if (interval_ns > 0)
        err = start_sampling(recorder, interval_ns, intervals_max);
    else
        stop_sampling(recorder);
    quiet_unlock(&recorder->probes_lock, &before);
    return err;
}
