/* How much of the time calls are in flight.
 *
 * A thread looks at the places where the others name their calls in flight, a hundred times a second, at times that
 * keep no step with anything; so it costs those threads nothing. While no call begins it looks ever more rarely: all
 * that time nothing was in flight, which counts as the looks that were left out. What happened in a longer interval in
 * which a call did begin is not known, and counts as one look. */
#include <errno.h>

#include "base.h"
#include "quiet_lock.h"
#include "recorder.h"
#include "stolen.h"

#define INTERVAL_NS INT64_C(10000000)
#define INTERVAL_MAX_NS (16 * INTERVAL_NS)
#define STOLEN_INTERVAL_NS INT64_C(1000000000)

struct seen {
    uint64_t in_flight;
    uint64_t begun;
};

static struct seen look_at(const struct threads *threads) {
    struct seen seen = {0};
    for (const struct segment *segment = threads_first_segment(threads); segment; segment = segment->next) {
        const struct aggstats_block *block = segment->block;
        seen.in_flight += __atomic_load_n(&block->current_op, __ATOMIC_RELAXED) != 0;
        seen.begun = seen.begun * 31 + __atomic_load_n(&block->current_start_cycles, __ATOMIC_RELAXED);
    }
    return seen;
}

static void note(struct live_header *header, uint64_t in_flight, uint64_t looks) {
    __atomic_store_n(&header->looks, header->looks + looks, __ATOMIC_RELAXED);
    if (in_flight > 0)
        __atomic_store_n(&header->busy_looks, header->busy_looks + 1, __ATOMIC_RELAXED);
    if (in_flight > header->most_busy)
        __atomic_store_n(&header->most_busy, in_flight, __ATOMIC_RELAXED);
}

/* A tenth more or less, by a linear congruential generator (D. E. Knuth, The Art of Computer Programming, 3.3.4). */
static int64_t jittered(struct watch *watch) {
    watch->chance = watch->chance * UINT64_C(6364136223846793005) + 1;
    return watch->interval_ns * (INT64_C(9216) + (int64_t)(watch->chance >> 53)) / INT64_C(10240);
}

/* ---- Stolen time ---- */

void recorder_count_stolen(struct aggstats_recorder *recorder) {
    struct live_header *header = recorder->live.header;
    struct watch *watch = &recorder->watch;
    uint64_t now_ns;
    if (!recorder->watcher || recorder->watcher->is_left || !stolen_read_ns(&now_ns))
        return;
    if (header->tells_stolen && !live_window(&recorder->live)->paused && now_ns > watch->stolen_ns)
        __atomic_store_n(&header->stolen_ns, header->stolen_ns + now_ns - watch->stolen_ns, __ATOMIC_RELAXED);
    watch->stolen_ns = now_ns;
    watch->stolen_read_ns = read_clock_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&header->tells_stolen, 1, __ATOMIC_RELAXED);
}

void recorder_take_stolen(struct aggstats_recorder *recorder, uint64_t taken_ns) {
    struct live_header *header = recorder->live.header;
    uint64_t stolen_ns = header->stolen_ns > taken_ns ? header->stolen_ns - taken_ns : 0;
    __atomic_store_n(&header->stolen_ns, stolen_ns, __ATOMIC_RELAXED);
}

/* ---- The thread ---- */

static void look_locked(struct aggstats_recorder *recorder) {
    struct watch *watch = &recorder->watch;
    const struct seen seen = look_at(&recorder->threads);
    const bool is_idle = seen.in_flight == 0 && seen.begun == watch->begun;
    if (!live_window(&recorder->live)->paused)
        note(recorder->live.header, seen.in_flight, is_idle ? (uint64_t)(watch->interval_ns / INTERVAL_NS) : 1);
    if (read_clock_ns(CLOCK_MONOTONIC) - watch->stolen_read_ns >= STOLEN_INTERVAL_NS)
        recorder_count_stolen(recorder);
    watch->begun = seen.begun;
    watch->interval_ns = !is_idle                               ? INTERVAL_NS
                         : watch->interval_ns < INTERVAL_MAX_NS ? 2 * watch->interval_ns
                                                                : INTERVAL_MAX_NS;
}

static int64_t look(void *context) {
    struct aggstats_recorder *recorder = context;
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    look_locked(recorder);
    int64_t next_ns = jittered(&recorder->watch);
    quiet_unlock(&recorder->window_lock, &before);
    return next_ns;
}

int aggstats_recorder_watch(struct aggstats_recorder *recorder) {
    sigset_t before;
    if (recorder->watcher)
        return -EBUSY;
    recorder->watch = (struct watch){.interval_ns = INTERVAL_NS, .chance = recorder->created.raw_ns};
    int err = sampler_start(look, recorder, INTERVAL_NS, &recorder->watcher);
    if (err < 0)
        return err;
    quiet_lock(&recorder->window_lock, &before);
    recorder_count_stolen(recorder);
    quiet_unlock(&recorder->window_lock, &before);
    return 0;
}

void recorder_take_busy(struct aggstats_recorder *recorder, const struct aggstats_busy *taken) {
    struct live_header *header = recorder->live.header;
    __atomic_store_n(&header->looks, taken ? header->looks - taken->looks : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&header->busy_looks, taken ? header->busy_looks - taken->busy : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&header->most_busy, 0, __ATOMIC_RELAXED);
}
