/* How much of the time calls are in flight.
 *
 * A thread looks at the places where the others name their calls in flight, a hundred times a second, at times that
 * keep no step with anything; so it costs those threads nothing. While no call begins it looks ever more rarely: all
 * that time nothing was in flight, which counts as the looks that were left out. What happened in a longer interval in
 * which a call did begin is not known, and counts as one look. Where calls wake the thread that looks for slow ones, if
 * it sleeps, that wakes this one too: so intervals may be longer, and it is known when they ended. */
#include <errno.h>

#include "base.h"
#include "quiet_lock.h"
#include "recorder.h"
#include "stolen.h"

#define INTERVAL_NS INT64_C(10000000)
#define INTERVAL_MAX_NS (16 * INTERVAL_NS)
#define STOLEN_INTERVAL_NS INT64_C(1000000000)
#define INTERVAL_WOKEN_MAX_NS (256 * INTERVAL_NS)

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

static void note(struct aggstats_recorder *recorder, uint64_t in_flight, uint64_t looks) {
    struct live_header *header = recorder->live.header;
    if (live_window(&recorder->live)->paused)
        return;
    __atomic_store_n(&header->looks, header->looks + looks, __ATOMIC_RELAXED);
    if (in_flight > 0)
        __atomic_store_n(&header->busy_looks, header->busy_looks + 1, __ATOMIC_RELAXED);
    if (in_flight > header->most_busy)
        __atomic_store_n(&header->most_busy, in_flight, __ATOMIC_RELAXED);
}

/* Until now, since the last look, nothing was in flight. What is left over is of the next time. */
static void note_idle(struct aggstats_recorder *recorder) {
    struct watch *watch = &recorder->watch;
    int64_t looks = (read_clock_ns(CLOCK_MONOTONIC) - watch->noted_ns + INTERVAL_NS / 2) / INTERVAL_NS;
    if (looks <= 0)
        return;
    note(recorder, 0, (uint64_t)looks);
    watch->noted_ns += looks * INTERVAL_NS;
}

static bool is_idle(const struct watch *watch, const struct seen *seen) {
    return seen->in_flight == 0 && seen->begun == watch->begun;
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

/* A long one stays so until somebody ends it: the thread that calls wake is awake for a moment now and then. */
static int64_t next_interval_ns(struct aggstats_recorder *recorder, bool was_idle) {
    int64_t most_ns = recorder_is_woken_by_calls(recorder) ? INTERVAL_WOKEN_MAX_NS : INTERVAL_MAX_NS;
    int64_t interval_ns = recorder->watch.interval_ns;
    if (!was_idle)
        return INTERVAL_NS;
    if (interval_ns > most_ns)
        return interval_ns;
    return 2 * interval_ns < most_ns ? 2 * interval_ns : most_ns;
}

static void look_locked(struct aggstats_recorder *recorder) {
    struct watch *watch = &recorder->watch;
    const struct seen seen = look_at(&recorder->threads);
    const bool was_idle = is_idle(watch, &seen);
    if (was_idle) {
        note_idle(recorder);
    } else {
        note(recorder, seen.in_flight, 1);
        watch->noted_ns = read_clock_ns(CLOCK_MONOTONIC);
    }
    if (read_clock_ns(CLOCK_MONOTONIC) - watch->stolen_read_ns >= STOLEN_INTERVAL_NS)
        recorder_count_stolen(recorder);
    watch->begun = seen.begun;
    watch->interval_ns = next_interval_ns(recorder, was_idle);
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
    recorder->watch = (struct watch){
        .noted_ns = read_clock_ns(CLOCK_MONOTONIC), .interval_ns = INTERVAL_NS, .chance = recorder->created.raw_ns};
    int err = sampler_start(look, recorder, INTERVAL_NS, &recorder->watcher);
    if (err < 0)
        return err;
    quiet_lock(&recorder->window_lock, &before);
    recorder_count_stolen(recorder);
    quiet_unlock(&recorder->window_lock, &before);
    return 0;
}

static bool is_watched(const struct aggstats_recorder *recorder) {
    return recorder->watcher && !recorder->watcher->is_left;
}

void recorder_settle_busy(struct aggstats_recorder *recorder) {
    if (!is_watched(recorder))
        return;
    const struct seen seen = look_at(&recorder->threads);
    if (is_idle(&recorder->watch, &seen))
        note_idle(recorder);
}

/* What is in flight by now is none of that time's. */
void recorder_end_idle(void *context) {
    struct aggstats_recorder *recorder = context;
    struct watch *watch = &recorder->watch;
    sigset_t before;
    if (!is_watched(recorder))
        return;
    quiet_lock(&recorder->window_lock, &before);
    bool is_long = watch->interval_ns > INTERVAL_MAX_NS;
    if (is_long) {
        note_idle(recorder);
        watch->begun = look_at(&recorder->threads).begun;
        watch->interval_ns = INTERVAL_NS;
    }
    quiet_unlock(&recorder->window_lock, &before);
    if (is_long)
        sampler_wake(recorder->watcher, INTERVAL_NS);
}

void recorder_take_busy(struct aggstats_recorder *recorder, const struct aggstats_busy *taken) {
    struct live_header *header = recorder->live.header;
    __atomic_store_n(&header->looks, taken ? header->looks - taken->looks : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&header->busy_looks, taken ? header->busy_looks - taken->busy : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&header->most_busy, 0, __ATOMIC_RELAXED);
}
