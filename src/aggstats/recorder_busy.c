/* How much of the time calls are in flight.
 *
 * A thread looks at the places where the others name their calls in flight, a hundred times a second, at times that
 * keep no step with anything; so it costs those threads nothing. While no call begins it looks ever more rarely: all
 * that time nothing was in flight, which counts as the looks that were left out. What happened in a longer interval in
 * which a call did begin is not known, and counts as one look.
 *
 * After a third of a second without calls it sleeps until the next one begins. That costs calls nothing either: each
 * compares the recorder's number with that of the block in its thread's cache anyway. While the thread sleeps the
 * number is another (AGGSTATS_ASLEEP), so the next call goes the way of a thread's first one, gives the number back and
 * wakes it. The time until then counts as looks that saw nothing; the first look after it is at a random moment of one
 * interval, so that calls which wake the thread are seen as often as others. A call that begins at the very moment at
 * which the thread falls asleep may not see the other number: so it sleeps for some seconds only. */
#include <errno.h>

#include "base.h"
#include "quiet_lock.h"
#include "recorder.h"
#include "stolen.h"

#define INTERVAL_NS INT64_C(10000000)
#define INTERVAL_MAX_NS (16 * INTERVAL_NS)
#define SLEEP_NS (256 * INTERVAL_NS)
#define STOLEN_INTERVAL_NS INT64_C(1000000000)
#define STOPPED_MIN_NS INT64_C(1000000000)
#define STOPPED_CPU_PART 50

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

/* Until then, since the last look, nothing was in flight. What is left over is of the next time. */
static void note_idle_until(struct aggstats_recorder *recorder, int64_t until_ns) {
    struct watch *watch = &recorder->watch;
    int64_t looks = (until_ns - watch->noted_ns) / INTERVAL_NS;
    if (looks <= 0)
        return;
    note(recorder, 0, (uint64_t)looks);
    watch->noted_ns += looks * INTERVAL_NS;
}

/* Until now, rounded. */
static void note_idle(struct aggstats_recorder *recorder) {
    note_idle_until(recorder, read_clock_ns(CLOCK_MONOTONIC) + INTERVAL_NS / 2);
}

static bool is_idle(const struct watch *watch, const struct seen *seen) {
    return seen->in_flight == 0 && seen->begun == watch->begun;
}

/* By a linear congruential generator (D. E. Knuth, The Art of Computer Programming, 3.3.4). Below 2048 */
static int64_t random_number(struct watch *watch) {
    watch->chance = watch->chance * UINT64_C(6364136223846793005) + 1;
    return (int64_t)(watch->chance >> 53);
}

/* A tenth more or less. */
static int64_t jittered_interval_ns(struct watch *watch) {
    return watch->interval_ns * (INT64_C(9216) + random_number(watch)) / INT64_C(10240);
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

/* ---- When the process did not run ---- */

/* A look comes late if the process was stopped by a signal, frozen with its cgroup, or got no CPU. If only this thread
 * got none, others have used some, or have begun calls. */
static void note_stop(struct aggstats_recorder *recorder) {
    struct live_header *header = recorder->live.header;
    struct watch *watch = &recorder->watch;
    const int64_t late_ns = watch->due_ns > 0 ? read_clock_ns(CLOCK_MONOTONIC) - watch->due_ns : 0;
    const int64_t cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (late_ns >= STOPPED_MIN_NS && cpu_ns - watch->cpu_ns <= late_ns / STOPPED_CPU_PART &&
        !live_window(&recorder->live)->paused)
        __atomic_store_n(&header->stopped_ns, header->stopped_ns + (uint64_t)late_ns, __ATOMIC_RELAXED);
    watch->cpu_ns = cpu_ns;
}

void recorder_take_stopped(struct aggstats_recorder *recorder, uint64_t taken_ns) {
    struct live_header *header = recorder->live.header;
    uint64_t stopped_ns = header->stopped_ns > taken_ns ? header->stopped_ns - taken_ns : 0;
    __atomic_store_n(&header->stopped_ns, stopped_ns, __ATOMIC_RELAXED);
}

/* ---- The thread ---- */

static bool is_woken(const struct aggstats_recorder *recorder) {
    return recorder->watch.is_asleep && __atomic_load_n(&recorder->front.hot.id, __ATOMIC_RELAXED) != AGGSTATS_ASLEEP;
}

/* False: a call has begun meanwhile. */
static bool fall_asleep(struct aggstats_recorder *recorder) {
    __atomic_store_n(&recorder->front.hot.id, AGGSTATS_ASLEEP, __ATOMIC_SEQ_CST);
    const struct seen seen = look_at(&recorder->threads);
    return is_idle(&recorder->watch, &seen) || !recorder_end_sleep(recorder);
}

/* What is in flight by now is none of that time's. Whole looks count, for the next one comes early: as often as not in
 * the first half of its interval. */
static int64_t end_sleep(struct aggstats_recorder *recorder) {
    struct watch *watch = &recorder->watch;
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    note_idle_until(recorder, now_ns);
    watch->noted_ns = now_ns;
    watch->is_asleep = false;
    watch->begun = look_at(&recorder->threads).begun;
    watch->interval_ns = INTERVAL_NS;
    return INTERVAL_NS * (random_number(watch) + 1) / INT64_C(2048);
}

static int64_t choose_interval_ns(struct aggstats_recorder *recorder, bool was_idle) {
    struct watch *watch = &recorder->watch;
    if (!was_idle) {
        recorder_end_sleep(recorder);
        watch->is_asleep = false;
        watch->interval_ns = INTERVAL_NS;
    } else if (watch->interval_ns < INTERVAL_MAX_NS) {
        watch->interval_ns *= 2;
    } else if (!watch->is_asleep) {
        watch->is_asleep = fall_asleep(recorder);
        watch->interval_ns = watch->is_asleep ? SLEEP_NS : INTERVAL_NS;
    }
    return jittered_interval_ns(watch);
}

static int64_t look_locked(struct aggstats_recorder *recorder) {
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
    return choose_interval_ns(recorder, was_idle);
}

static int64_t look(void *context) {
    struct aggstats_recorder *recorder = context;
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    note_stop(recorder);
    int64_t next_ns = is_woken(recorder) ? end_sleep(recorder) : look_locked(recorder);
    recorder->watch.due_ns = read_clock_ns(CLOCK_MONOTONIC) + next_ns;
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

void recorder_take_busy(struct aggstats_recorder *recorder, const struct aggstats_busy *taken) {
    struct live_header *header = recorder->live.header;
    __atomic_store_n(&header->looks, taken ? header->looks - taken->looks : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&header->busy_looks, taken ? header->busy_looks - taken->busy : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&header->most_busy, 0, __ATOMIC_RELAXED);
}
