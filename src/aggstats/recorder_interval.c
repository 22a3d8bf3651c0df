/* Sampled profiles of a recorder. */
#include <errno.h>

#include "base.h"
#include "quiet_lock.h"
#include "recorder.h"

static int64_t interval_ns(const struct aggstats_recorder *recorder) {
    return (int64_t)(1e9L * recorder->timeline->interval_cycles / recorder->clock.frequency_hz);
}

static void cut_locked(struct aggstats_recorder *recorder, struct tally *tally) {
    const struct window *window = live_window(&recorder->live);
    if (window->paused || threads_tally(&recorder->threads, false, tally) < 0)
        return;
    uint64_t now_cycles = aggstats_clock_now(recorder->clock.kind);
    timeline_cut(recorder->timeline, window, tally, window_elapsed_cycles(window, now_cycles));
}

/* Without memory for it there is no border now. */
static int64_t cut(void *context) {
    struct aggstats_recorder *recorder = context;
    struct tally tally;
    int err = tally_init(&tally, &recorder->layout);
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    if (err == 0)
        cut_locked(recorder, &tally);
    int64_t next_ns = interval_ns(recorder);
    quiet_unlock(&recorder->window_lock, &before);
    if (err == 0)
        tally_finish(&tally);
    return next_ns;
}

/* Puts the timeline in the place of the one that there is, which is given back. */
static struct timeline *exchange_timeline(struct aggstats_recorder *recorder, struct timeline *timeline) {
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    struct timeline *earlier = recorder->timeline;
    recorder->timeline = timeline;
    quiet_unlock(&recorder->window_lock, &before);
    return earlier;
}

static int start_sampling(struct aggstats_recorder *recorder, uint64_t interval_ns, size_t intervals_max) {
    uint64_t interval_cycles = (uint64_t)(1e-9L * interval_ns * recorder->clock.frequency_hz);
    struct timeline *timeline;
    int err = timeline_create(&recorder->layout, interval_cycles, intervals_max, &timeline);
    if (err < 0)
        return err;
    timeline = exchange_timeline(recorder, timeline);
    if (recorder->sampler && recorder->sampler->is_left) /* the parent's */
        sampler_stop(steal_pointer(&recorder->sampler));
    struct sampler *sampler = recorder->sampler;
    if (!sampler)
        err = sampler_start(cut, recorder, (int64_t)interval_ns, &recorder->sampler);
    else
        sampler_wake(sampler, (int64_t)interval_ns);
    if (err < 0)
        timeline = exchange_timeline(recorder, timeline);
    timeline_destroy(timeline);
    return err;
}

static void stop_sampling(struct aggstats_recorder *recorder) {
    sampler_stop(recorder->sampler);
    recorder->sampler = NULL;
    timeline_destroy(exchange_timeline(recorder, NULL));
}

int aggstats_recorder_set_interval(struct aggstats_recorder *recorder, uint64_t interval_ns, size_t intervals_max) {
    if (intervals_max == 0)
        intervals_max = AGGSTATS_INTERVALS_DEFAULT;
    if (intervals_max < 2 || intervals_max > AGGSTATS_INTERVALS_MAX || intervals_max % 2 != 0 ||
        (interval_ns > 0 && interval_ns < AGGSTATS_INTERVAL_MIN_NS) || interval_ns > AGGSTATS_INTERVAL_MAX_NS)
        return -EINVAL;
    int err = 0;
    sigset_t before;
    quiet_lock(&recorder->sampler_lock, &before);
    if (interval_ns > 0)
        err = start_sampling(recorder, interval_ns, intervals_max);
    else
        stop_sampling(recorder);
    quiet_unlock(&recorder->sampler_lock, &before);
    return err;
}
