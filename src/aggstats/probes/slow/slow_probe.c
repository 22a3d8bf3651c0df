/* Slow calls of a recorder. */
#include "aggstats/slow.h"
#include "base.h"
#include "places.h"
#include "quiet_lock.h"
#include "recorder_state.h"
#include "slow_watcher.h"

static struct slow *to_slow(struct probe *probe) {
    _Static_assert(offsetof(struct slow, probe) == 0, "a probe's address is that of what looks for slow calls");
    return (struct slow *)probe;
}

/* The one in this process; NULL: there is none. */
static struct slow *slow_of(const struct aggstats_recorder *recorder) {
    return to_slow(recorder_probe(recorder, PROBE_SLOW));
}

/* ---- As a probe ---- */

static void lock(struct probe *probe) {
    pthread_mutex_lock(&to_slow(probe)->lock);
}

static void unlock(struct probe *probe) {
    pthread_mutex_unlock(&to_slow(probe)->lock);
}

/* Held. */
static void reset(struct probe *probe) {
    struct slow_store *store = to_slow(probe)->store;
    slow_store_begin(store);
    slow_store_reset(store);
    slow_store_end(store);
}

static void freeze(struct probe *probe) {
    to_slow(probe)->paused = true;
}

static void thaw(struct probe *probe) {
    to_slow(probe)->paused = false;
}

static void end_mark(struct probe *probe, const struct aggstats_profile *taken) {
    struct slow *slow = to_slow(probe);
    if (!taken)
        return;
    pthread_mutex_lock(&slow->lock);
    slow_store_begin(slow->store);
    slow_store_take(slow->store, slow->op_names, slow->op_count, taken);
    slow_store_end(slow->store);
    pthread_mutex_unlock(&slow->lock);
}

static void destroy(struct probe *probe) {
    slow_stop(to_slow(probe));
}

static const struct probe_ops ops = {
    .hold = lock,
    .go_on = unlock,
    .reset = reset,
    .pause = freeze,
    .resume = thaw,
    .end_mark = end_mark,
    .lock = lock,
    .unlock = unlock,
    .leave = probe_leave,
    .destroy = destroy,
};

/* ---- The interface ---- */

static int start(struct aggstats_recorder *recorder, const struct aggstats_slow_options *options) {
    struct slow *slow = NULL;
    const struct slow_place place = {
        .threads = &recorder->threads,
        .store = recorder->live.slow,
        .seen_cycles = &recorder->live.header->seen_cycles,
        .clock_kind = recorder->clock.kind,
        .op_names = (const char(*)[AGGSTATS_NAME_SIZE])recorder->op_names,
        .op_count = recorder->layout.op_count,
    };
    int err = slow_start(&place, options, &slow);
    if (err < 0)
        return err;
    slow->probe = (struct probe){.ops = &ops, .recorder = recorder};
    struct probe *parents = recorder_attach(recorder, PROBE_SLOW, &slow->probe);
    if (parents)
        destroy(parents);
    return 0;
}

int aggstats_recorder_set_slow(struct aggstats_recorder *recorder, const struct aggstats_slow_options *options) {
    if (!options->find_cause || (options->threshold_ns != 0 && (options->threshold_ns < AGGSTATS_SLOW_MIN_NS ||
                                                                options->threshold_ns > AGGSTATS_SLOW_MAX_NS)))
        return -EINVAL;
    int err = slow_of(recorder) ? 0 : start(recorder, options);
    if (err < 0)
        return err;
    double cycles = (double)options->threshold_ns * (double)aggstats_recorder_clock(recorder).frequency_hz / NS_PER_S;
    slow_set_threshold(slow_of(recorder), options->threshold_ns, (uint64_t)cycles);
    return 0;
}

uint64_t aggstats_recorder_slow_cycles(const struct aggstats_recorder *recorder) {
    return __atomic_load_n(&recorder->live.slow->threshold_cycles, __ATOMIC_RELAXED);
}

void aggstats_slow_begin(struct aggstats_recorder *recorder) {
    struct slow *slow = slow_of(recorder);
    if (slow)
        slow_begin(slow);
}

void aggstats_slow_end(struct aggstats_recorder *recorder, const struct aggstats_span *span, unsigned op,
                       const struct aggstats_call *call, const char *function) {
    struct slow *slow = slow_of(recorder);
    if (slow && recorder->front.id != 0) /* see recorder.c */
        slow_end(slow, span, op, call, function);
}

void aggstats_slow_report(struct aggstats_recorder *recorder) {
    struct slow *slow = slow_of(recorder);
    if (slow)
        slow_report(slow);
}
