/* Snapshots, and the changes of span that are made of them. */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile.h"
#include "recorder.h"
#include "text.h"

/* ---- From counters to a profile ---- */

static int add_op(struct aggstats_profile *profile, const char *name, const struct aggstats_counters *visible) {
    size_t buckets_bytes = 64 * (size_t)profile->resolution * sizeof(uint64_t);
    uint64_t *buckets = malloc(buckets_bytes);
    if (!buckets)
        return -ENOMEM;
    memcpy(buckets, visible->buckets, buckets_bytes);
    struct aggstats_op_profile *op = &profile->ops[profile->op_count++];
    *op = (struct aggstats_op_profile){
        .calls = visible->calls, .total_cycles = visible->total_cycles, .buckets = buckets};
    text_name_copy(op->name, name);
    return 0;
}

static int add_ops(struct aggstats_profile *profile, const struct snapshot_source *source) {
    const struct layout *layout = &source->tally->layout;
    profile->ops = calloc(layout->op_count, sizeof(*profile->ops));
    CLEANUP_FREE struct aggstats_counters *visible = malloc(layout->counters_stride_bytes);
    if (!profile->ops || !visible)
        return -ENOMEM;
    for (unsigned op = 0; op < layout->op_count; op++) {
        span_visible(source->span, source->tally, op, visible);
        int err = visible->calls > 0 ? add_op(profile, source->op_names[op], visible) : 0;
        if (err < 0)
            return err;
    }
    aggstats_profile_sort(profile);
    return 0;
}

static int add_calls_in_flight(struct aggstats_profile *profile, const struct snapshot_source *source) {
    const struct tally *tally = source->tally;
    if (source->span->paused || tally->in_flight_count == 0)
        return 0;
    profile->in_flight = calloc(tally->in_flight_count, sizeof(*profile->in_flight));
    if (!profile->in_flight)
        return -ENOMEM;
    for (size_t i = 0; i < tally->in_flight_count; i++) {
        const struct tally_call *call = &tally->in_flight[i];
        struct aggstats_call_in_flight *shown = &profile->in_flight[profile->in_flight_count++];
        *shown = (struct aggstats_call_in_flight){.object = call->object, .pid = call->pid};
        if (call->start_cycles > 0 && source->now_cycles > call->start_cycles)
            shown->age_cycles = source->now_cycles - call->start_cycles;
        text_name_copy(shown->op, source->op_names[call->op]);
    }
    return 0;
}

static int fill_profile(struct aggstats_profile *profile, const struct snapshot_source *source) {
    *profile = (struct aggstats_profile){
        .resolution = source->tally->layout.resolution,
        .clock = source->clock,
        .start_ns = source->span->start_ns,
        .has_start = true,
        .elapsed_cycles = span_elapsed_cycles(source->span, source->now_cycles),
        .has_elapsed = true,
        .clamped = span_visible_clamped(source->span, source->tally),
        .incomplete = source->incomplete,
    };
    int err = labels_copy(source->labels, source->label_count, &profile->labels);
    if (err < 0)
        return err;
    profile->label_count = source->label_count;
    err = add_ops(profile, source);
    if (err == 0)
        err = add_calls_in_flight(profile, source);
    if (err == 0 && source->timeline)
        err = timeline_show(source->timeline, source->span, source->tally, source->op_names, profile);
    if (err == 0 && source->joints)
        err = joints_show(source->joints, source->op_names, profile);
    if (err == 0 && source->grouping)
        err = grouping_show(source->grouping, source->op_names, profile);
    return err;
}

int snapshot_make(const struct snapshot_source *source, struct aggstats_profile *ret_profile) {
    struct aggstats_profile profile;
    int err = fill_profile(&profile, source);
    if (err < 0) {
        aggstats_profile_finish(&profile);
        return err;
    }
    *ret_profile = profile;
    return 0;
}

/* ---- Of a recorder ---- */

static bool fallback_used(const struct aggstats_recorder *recorder) {
    return __atomic_load_n(&recorder->fallback_used, __ATOMIC_RELAXED) != 0;
}

/* What all blocks hold now. */
static int tally_blocks(struct tally *tally, const struct aggstats_recorder *recorder) {
    const struct segment *segment = __atomic_load_n(&recorder->segments, __ATOMIC_ACQUIRE);
    size_t copy_bytes = round_up(layout_block_bytes(&tally->layout), CACHE_LINE_BYTES);
    CLEANUP_FREE struct aggstats_block *copy = aligned_alloc(CACHE_LINE_BYTES, copy_bytes);
    int err = copy ? 0 : -ENOMEM;
    for (; segment && err == 0; segment = segment->next) {
        tally_read_block(&tally->layout, segment->block, copy);
        err = tally_add_block(tally, copy);
        if (err == 0)
            err = tally_add_call(tally, copy);
    }
    if (fallback_used(recorder))
        tally_add_shared_block(tally, recorder->fallback_block);
    return err;
}

/* The live file, too, learns how far the clock has come and how fast it runs. */
static void note_clock(const struct aggstats_recorder *recorder, struct snapshot_source *source) {
    source->clock = aggstats_recorder_clock(recorder);
    source->now_cycles = aggstats_clock_now(source->clock.kind);
    struct live_header *header = recorder->live.header;
    __atomic_store_n(&header->frequency_hz, source->clock.frequency_hz, __ATOMIC_RELAXED);
    __atomic_store_n(&header->seen_cycles, source->now_cycles, __ATOMIC_RELAXED);
}

/* What is kept beside the counters is looked at before these. */
static void look_beside(struct aggstats_recorder *recorder) {
    joints_look(&recorder->joints);
    if (recorder->grouping)
        grouping_look(recorder->grouping);
}

static int snapshot_locked(struct aggstats_recorder *recorder, struct tally *tally,
                           struct aggstats_profile *ret_profile) {
    look_beside(recorder);
    int err = tally_blocks(tally, recorder);
    if (err < 0)
        return err;
    struct snapshot_source source = {
        .op_names = (const char(*)[AGGSTATS_NAME_SIZE])recorder->op_names,
        .span = live_span(&recorder->live),
        .tally = tally,
        .labels = recorder->labels,
        .label_count = recorder->label_count,
        .incomplete = fallback_used(recorder),
        .timeline = recorder->timeline,
        .joints = &recorder->joints,
        .grouping = recorder->grouping,
    };
    note_clock(recorder, &source);
    return snapshot_make(&source, ret_profile);
}

int aggstats_recorder_snapshot(struct aggstats_recorder *recorder, struct aggstats_profile *ret_profile) {
    struct tally tally;
    int err = tally_init(&tally, &recorder->layout);
    if (err < 0)
        return err;
    pthread_mutex_lock(&recorder->span_lock);
    err = snapshot_locked(recorder, &tally, ret_profile);
    pthread_mutex_unlock(&recorder->span_lock);
    tally_finish(&tally);
    return err;
}

/* ---- Intervals ---- */

static int64_t interval_ns(const struct aggstats_recorder *recorder) {
    return (int64_t)(1e9L * recorder->timeline->interval_cycles / recorder->clock.frequency_hz);
}

static void cut_locked(struct aggstats_recorder *recorder, struct tally *tally) {
    const struct span *span = live_span(&recorder->live);
    if (span->paused || tally_blocks(tally, recorder) < 0)
        return;
    uint64_t now_cycles = aggstats_clock_now(recorder->clock.kind);
    timeline_cut(recorder->timeline, span, tally, span_elapsed_cycles(span, now_cycles));
}

/* Without memory for it there is no border now. */
int64_t snapshot_cut(struct aggstats_recorder *recorder) {
    struct tally tally;
    int err = tally_init(&tally, &recorder->layout);
    pthread_mutex_lock(&recorder->span_lock);
    if (err == 0)
        cut_locked(recorder, &tally);
    int64_t next_ns = interval_ns(recorder);
    pthread_mutex_unlock(&recorder->span_lock);
    if (err == 0)
        tally_finish(&tally);
    return next_ns;
}

int64_t snapshot_interval_ns(struct aggstats_recorder *recorder) {
    pthread_mutex_lock(&recorder->span_lock);
    int64_t next_ns = interval_ns(recorder);
    pthread_mutex_unlock(&recorder->span_lock);
    return next_ns;
}

/* Puts the timeline in the place of the one that there is, which is given back. */
static struct timeline *exchange_timeline(struct aggstats_recorder *recorder, struct timeline *timeline) {
    pthread_mutex_lock(&recorder->span_lock);
    struct timeline *earlier = recorder->timeline;
    recorder->timeline = timeline;
    pthread_mutex_unlock(&recorder->span_lock);
    return earlier;
}

static int start_sampling(struct aggstats_recorder *recorder, uint64_t interval_ns, size_t intervals_max) {
    uint64_t interval_cycles = (uint64_t)(1e-9L * interval_ns * recorder->clock.frequency_hz);
    struct timeline *timeline;
    int err = timeline_create(&recorder->layout, interval_cycles, intervals_max, &timeline);
    if (err < 0)
        return err;
    timeline = exchange_timeline(recorder, timeline);
    struct sampler *sampler = recorder->sampler;
    if (!sampler)
        err = sampler_start(recorder, &recorder->sampler);
    else
        sampler_wake(sampler);
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
    pthread_mutex_lock(&recorder->sampler_lock);
    if (interval_ns > 0)
        err = start_sampling(recorder, interval_ns, intervals_max);
    else
        stop_sampling(recorder);
    pthread_mutex_unlock(&recorder->sampler_lock);
    return err;
}

/* ---- Joint profiles ---- */

int aggstats_recorder_set_joint(struct aggstats_recorder *recorder, unsigned op, unsigned values) {
    if (op >= recorder->layout.op_count || values >> AGGSTATS_VALUE_COUNT)
        return -EINVAL;
    pthread_mutex_lock(&recorder->span_lock);
    int err = joints_set(&recorder->joints, op, values);
    pthread_mutex_unlock(&recorder->span_lock);
    return err;
}

/* ---- Reset, pause, resume ---- */

typedef void (*span_change_fn)(struct aggstats_recorder *recorder, struct span *span, const struct tally *settled,
                               uint64_t now_cycles);

static void reset_all(struct aggstats_recorder *recorder, struct span *span, const struct tally *settled,
                      uint64_t now_cycles) {
    span_reset(span, settled, now_cycles);
    joints_reset(&recorder->joints);
    if (recorder->grouping)
        grouping_reset(recorder->grouping);
    if (recorder->timeline)
        timeline_clear(recorder->timeline);
}

static void pause_all(struct aggstats_recorder *recorder, struct span *span, const struct tally *settled,
                      uint64_t now_cycles) {
    span_pause(span, settled, now_cycles);
    joints_pause(&recorder->joints);
    if (recorder->grouping)
        grouping_pause(recorder->grouping);
}

static void resume_all(struct aggstats_recorder *recorder, struct span *span, const struct tally *settled,
                       uint64_t now_cycles) {
    span_resume(span, settled, now_cycles);
    joints_resume(&recorder->joints);
    if (recorder->grouping)
        grouping_resume(recorder->grouping);
}

static int change_locked(struct aggstats_recorder *recorder, struct tally *tally, span_change_fn change) {
    look_beside(recorder);
    int err = tally_blocks(tally, recorder);
    if (err < 0)
        return err;
    tally_settle(tally);
    struct span *span = live_edit_span(&recorder->live, &recorder->layout);
    change(recorder, span, tally, aggstats_clock_now(recorder->clock.kind));
    live_publish_span(&recorder->live);
    return 0;
}

static int change_span(struct aggstats_recorder *recorder, span_change_fn change) {
    struct tally tally;
    int err = tally_init(&tally, &recorder->layout);
    if (err < 0)
        return err;
    pthread_mutex_lock(&recorder->span_lock);
    err = change_locked(recorder, &tally, change);
    pthread_mutex_unlock(&recorder->span_lock);
    tally_finish(&tally);
    return err;
}

int aggstats_recorder_reset(struct aggstats_recorder *recorder) {
    return change_span(recorder, reset_all);
}

int aggstats_recorder_pause(struct aggstats_recorder *recorder) {
    return change_span(recorder, pause_all);
}

int aggstats_recorder_resume(struct aggstats_recorder *recorder) {
    return change_span(recorder, resume_all);
}
