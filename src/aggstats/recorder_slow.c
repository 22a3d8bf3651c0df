/* Slow calls of a recorder. */
#include "base.h"
#include "options.h"
#include "quiet_lock.h"
#include "recorder.h"

#define NS_PER_SECOND 1e9

static bool is_possible(const struct aggstats_slow_options *options) {
    return options->find_cause && (options->threshold_ns == 0 || (options->threshold_ns >= AGGSTATS_SLOW_MIN_NS &&
                                                                  options->threshold_ns <= AGGSTATS_SLOW_MAX_NS));
}

static int start(struct aggstats_recorder *recorder, const struct aggstats_slow_options *options) {
    struct slow *left = __atomic_exchange_n(&recorder->slow, NULL, __ATOMIC_ACQ_REL);
    struct slow *slow = NULL;
    sigset_t before;
    const struct slow_place place = {
        .threads = &recorder->threads,
        .store = recorder->live.slow,
        .seen_cycles = &recorder->live.header->seen_cycles,
        .clock_kind = recorder->clock.kind,
        .op_names = (const char(*)[AGGSTATS_NAME_SIZE])recorder->op_names,
        .op_count = recorder->layout.op_count,
    };
    slow_stop(left); /* the parent's */
    int err = slow_start(&place, options, &slow);
    quiet_lock(&recorder->window_lock, &before); /* neither while somebody forks, nor while it is paused */
    if (slow)
        slow->paused = live_window(&recorder->live)->paused;
    __atomic_store_n(&recorder->slow, slow, __ATOMIC_RELEASE);
    quiet_unlock(&recorder->window_lock, &before);
    return err;
}

int aggstats_recorder_set_slow_sized(struct aggstats_recorder *recorder, const struct aggstats_slow_options *options,
                                     size_t options_bytes) {
    struct aggstats_slow_options wanted = {0};
    int err = options_copy(&wanted, sizeof(wanted), options, options_bytes);
    if (err == 0 && !is_possible(&wanted))
        err = -EINVAL;
    if (err == 0 && !recorder_slow(recorder))
        err = start(recorder, &wanted);
    if (err < 0)
        return err;
    double cycles =
        (double)wanted.threshold_ns * (double)aggstats_recorder_clock(recorder).frequency_hz / NS_PER_SECOND;
    slow_set_threshold(recorder->slow, wanted.threshold_ns, (uint64_t)cycles);
    return 0;
}

uint64_t aggstats_recorder_slow_cycles(const struct aggstats_recorder *recorder) {
    return __atomic_load_n(&recorder->live.slow->threshold_cycles, __ATOMIC_RELAXED);
}

void aggstats_slow_begin(struct aggstats_recorder *recorder) {
    struct slow *slow = recorder_slow(recorder);
    if (slow)
        slow_begin(slow);
}

void aggstats_slow_end(struct aggstats_recorder *recorder, const struct aggstats_span *span,
                       const struct aggstats_ended_call *call) {
    struct slow *slow = recorder_slow(recorder);
    if (slow && recorder->front.id != 0) /* see recorder.c */
        slow_end(slow, span, call);
}

void aggstats_slow_report(struct aggstats_recorder *recorder) {
    struct slow *slow = recorder_slow(recorder);
    if (slow)
        slow_report(slow);
}

void recorder_reset_slow(struct aggstats_recorder *recorder) {
    slow_store_begin(recorder->live.slow);
    slow_store_reset(recorder->live.slow);
    slow_store_end(recorder->live.slow);
}

void recorder_pause_slow(struct aggstats_recorder *recorder, bool paused) {
    struct slow *slow = recorder_slow(recorder);
    if (slow)
        slow->paused = paused;
}

void recorder_take_slow(struct aggstats_recorder *recorder, const struct aggstats_profile *taken) {
    struct slow *slow = recorder_slow(recorder);
    if (slow)
        pthread_mutex_lock(&slow->lock);
    slow_store_begin(recorder->live.slow);
    slow_store_take(recorder->live.slow, (const char(*)[AGGSTATS_NAME_SIZE])recorder->op_names,
                    recorder->layout.op_count, taken);
    slow_store_end(recorder->live.slow);
    if (slow)
        pthread_mutex_unlock(&slow->lock);
}
