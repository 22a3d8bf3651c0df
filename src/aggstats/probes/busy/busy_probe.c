/* How much of the time calls are in flight, of any op and of each.
 *
 * A thread samples the places where the others name their calls in flight, a hundred times a second, at jittered
 * intervals; so it costs those threads nothing. While no call begins it looks ever more rarely: in all that time
 * nothing was in flight, and it counts as the looks that were left out. What happened in a longer interval in which a
 * call did begin is unknown, and counts as one look.
 *
 * After a third of a second without calls it sleeps until the next one begins. That costs calls nothing either: each
 * compares the recorder's number with that of the block in its thread's cache anyway. While the thread sleeps the
 * number is another (AGGSTATS_ASLEEP), so the next call takes the path of a thread's first one, restores the number and
 * wakes the thread. The time asleep counts as looks that saw no call. The first look after waking is at a random moment
 * of an interval, so that a call that wakes the thread is as likely to be seen as any other call. A call that begins
 * just when the thread falls asleep may not see AGGSTATS_ASLEEP: so the thread sleeps for some seconds at most.
 *
 * In a live file that other processes count in, calls cannot wake the thread. Such a file counts a command, which may
 * run for a short time: so the thread looks 500 times a second, and does not sleep. It waits longer only if there are
 * so many threads that looking takes long. */
#include <errno.h>
#include <stdlib.h>

#include "aggstats/busy.h"
#include "aggstats/shared.h"
#include "aggstats/watched.h"
#include "base.h"
#include "places.h"
#include "proc.h"
#include "quiet_lock.h"
#include "recorder_state.h"
#include "sampler.h"
#include "stolen.h"

#define INTERVAL_NS INT64_C(10000000)
#define SHARED_INTERVAL_NS INT64_C(2000000)
#define SHARED_LOOK_PART 200 /* looking takes no more than this part of the time */
#define INTERVAL_MAX_NS (16 * INTERVAL_NS)
#define SLEEP_NS (256 * INTERVAL_NS)
#define FACTS_INTERVAL_NS NS_PER_S
#define STOPPED_MIN_NS NS_PER_S
#define STOPPED_CPU_PART 50
#define NOT_READ UINT64_MAX

/* The sampling thread, and the state of its last look. */
struct watch {
    struct probe probe;
    struct sampler *sampler;
    uint64_t begun;   /* changes when a call begins */
    int64_t noted_ns; /* up to here it is known whether calls were in flight; CLOCK_MONOTONIC */
    int64_t interval_ns;
    bool is_asleep; /* until a call begins, or for a few seconds */
    uint64_t chance;
    uint64_t stolen_ns;          /* the machine's, when it was last read; NOT_READ: never */
    uint64_t storage_read_bytes; /* the process's, likewise */
    int64_t facts_read_ns;       /* when these were read */
    bool makes_calls;
    int64_t due_ns; /* latest time of the next look; CLOCK_MONOTONIC; 0: there was none yet */
    int64_t cpu_ns; /* CPU time of the process at the last look */
};

static struct watch *to_watch(struct probe *probe) {
    return container_of(probe, struct watch, probe);
}

static struct live_header *header_of(const struct watch *watch) {
    return watch->probe.recorder->live.header;
}

/* Other processes count. */
static bool is_shared(const struct watch *watch) {
    return watch->probe.recorder->live.is_shared;
}

static bool is_paused(const struct watch *watch) {
    return live_window(&watch->probe.recorder->live)->paused;
}

struct seen {
    uint64_t in_flight;
    uint64_t ops; /* of these calls: bit i: op i */
    uint64_t begun;
};

static struct seen look_at_calls(const struct watch *watch) {
    const struct threads *threads = &watch->probe.recorder->threads;
    struct seen seen = {0};
    for (const struct segment *segment = threads_first_segment(threads); segment; segment = segment->next) {
        const struct aggstats_block *block = segment->block;
        const uint64_t current_op = __atomic_load_n(&block->current_op, __ATOMIC_RELAXED);
        seen.in_flight += current_op != 0;
        seen.ops |= aggstats_watched_bit(current_op);
        seen.begun = seen.begun * 31 + __atomic_load_n(&block->current_start_cycles, __ATOMIC_RELAXED);
    }
    return seen;
}

static struct live_looks *looks_of(const struct watch *watch) {
    return watch->probe.recorder->live.looks;
}

static void note(const struct watch *watch, const struct seen *seen, uint64_t looks) {
    struct live_header *header = header_of(watch);
    if (is_paused(watch))
        return;
    __atomic_store_n(&header->looks, header->looks + looks, __ATOMIC_RELAXED);
    if (seen->in_flight > 0)
        __atomic_store_n(&header->busy_looks, header->busy_looks + 1, __ATOMIC_RELAXED);
    if (seen->in_flight > header->most_busy)
        __atomic_store_n(&header->most_busy, seen->in_flight, __ATOMIC_RELAXED);
    for (uint64_t ops = seen->ops; ops != 0; ops &= ops - 1) {
        uint64_t *busy = &looks_of(watch)->busy[__builtin_ctzll(ops)];
        __atomic_store_n(busy, *busy + 1, __ATOMIC_RELAXED);
    }
}

/* Nothing was in flight from the last look until then. The fraction of a look is kept for the next time. */
static void note_idle_until(struct watch *watch, int64_t until_ns) {
    const struct seen none = {0};
    int64_t looks = (until_ns - watch->noted_ns) / INTERVAL_NS;
    if (looks <= 0)
        return;
    note(watch, &none, (uint64_t)looks);
    watch->noted_ns += looks * INTERVAL_NS;
}

/* Until now, rounded. */
static void note_idle(struct watch *watch) {
    note_idle_until(watch, read_clock_ns(CLOCK_MONOTONIC) + INTERVAL_NS / 2);
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

/* ---- What the kernel counts ---- */

/* Adds what a counter of the kernel has grown by since it was read before. */
static void count_growth(const struct watch *watch, enum fact_place place, uint64_t now, uint64_t *before) {
    struct live_header *header = header_of(watch);
    const bool counts = !is_paused(watch) && now > *before;
    live_fact_set(header, place, live_fact(header, place) + (counts ? now - *before : 0));
    *before = now;
}

static void count_facts(struct watch *watch) {
    uint64_t stolen_ns;
    struct proc_io io;
    if (stolen_read_ns(&stolen_ns))
        count_growth(watch, FACT_STOLEN, stolen_ns, &watch->stolen_ns);
    if (watch->makes_calls && proc_io_read("self", &io))
        count_growth(watch, FACT_STORAGE_READ, io.storage_read_bytes, &watch->storage_read_bytes);
    watch->facts_read_ns = read_clock_ns(CLOCK_MONOTONIC);
    live_write_facts(&watch->probe.recorder->live);
}

/* ---- When the process did not run ---- */

/* A look is late if the process was stopped by a signal, frozen with its cgroup, or got no CPU. If only this thread got
 * none, other threads have used CPU time, or have begun calls. */
static void note_stop(struct watch *watch) {
    struct live_header *header = header_of(watch);
    const int64_t late_ns = watch->due_ns > 0 ? read_clock_ns(CLOCK_MONOTONIC) - watch->due_ns : 0;
    const int64_t cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (late_ns >= STOPPED_MIN_NS && cpu_ns - watch->cpu_ns <= late_ns / STOPPED_CPU_PART && !is_paused(watch))
        live_fact_set(header, FACT_STOPPED, live_fact(header, FACT_STOPPED) + (uint64_t)late_ns);
    watch->cpu_ns = cpu_ns;
}

/* ---- The thread ---- */

/* Returns false if a call has begun meanwhile. */
static bool fall_asleep(const struct watch *watch) {
    struct aggstats_recorder *recorder = watch->probe.recorder;
    __atomic_store_n(&recorder->front.hot.id, AGGSTATS_ASLEEP, __ATOMIC_SEQ_CST);
    const struct seen seen = look_at_calls(watch);
    return is_idle(watch, &seen) || !recorder_end_sleep(recorder);
}

/* Calls in flight now do not belong to the time asleep. The next look is at a random moment of the coming interval, so
 * the remaining fraction of a look is dropped, not added to the interval. */
static int64_t end_sleep(struct watch *watch) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    note_idle_until(watch, now_ns);
    watch->noted_ns = now_ns;
    watch->is_asleep = false;
    watch->begun = look_at_calls(watch).begun;
    watch->interval_ns = INTERVAL_NS;
    return INTERVAL_NS * (random_number(watch) + 1) / INT64_C(2048);
}

static int64_t choose_interval_ns(struct watch *watch, bool was_idle) {
    if (!was_idle) {
        recorder_end_sleep(watch->probe.recorder);
        watch->is_asleep = false;
        watch->interval_ns = INTERVAL_NS;
    } else if (watch->interval_ns < INTERVAL_MAX_NS) {
        watch->interval_ns *= 2;
    } else if (!watch->is_asleep) {
        watch->is_asleep = fall_asleep(watch);
        watch->interval_ns = watch->is_asleep ? SLEEP_NS : INTERVAL_NS;
    }
    return jittered_interval_ns(watch);
}

static int64_t look_locked(struct watch *watch) {
    const struct seen seen = look_at_calls(watch);
    const bool was_idle = is_idle(watch, &seen);
    if (was_idle) {
        note_idle(watch);
    } else {
        note(watch, &seen, 1);
        watch->noted_ns = read_clock_ns(CLOCK_MONOTONIC);
    }
    if (read_clock_ns(CLOCK_MONOTONIC) - watch->facts_read_ns >= FACTS_INTERVAL_NS)
        count_facts(watch);
    watch->begun = seen.begun;
    return choose_interval_ns(watch, was_idle);
}

/* The more threads there are, the longer it takes, and the more rarely it looks. */
static int64_t look_at_shared(struct watch *watch) {
    struct seen seen = {0};
    const int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
    seen.in_flight = aggstats_recorder_shared_in_flight(watch->probe.recorder, &seen.ops);
    note(watch, &seen, 1);
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const int64_t affordable_ns = SHARED_LOOK_PART * (now_ns - begin_ns);
    watch->interval_ns = affordable_ns > SHARED_INTERVAL_NS ? affordable_ns : SHARED_INTERVAL_NS;
    if (now_ns - watch->facts_read_ns >= FACTS_INTERVAL_NS)
        count_facts(watch);
    return jittered_interval_ns(watch);
}

static int64_t look(void *context) {
    struct watch *watch = context;
    sigset_t before;
    int64_t next_ns;
    quiet_lock(&watch->probe.recorder->window_lock, &before);
    if (is_shared(watch)) {
        next_ns = look_at_shared(watch);
    } else {
        note_stop(watch);
        const bool is_woken = watch->is_asleep && __atomic_load_n(&watch->probe.recorder->front.hot.id,
                                                                  __ATOMIC_RELAXED) != AGGSTATS_ASLEEP;
        next_ns = is_woken ? end_sleep(watch) : look_locked(watch);
    }
    watch->due_ns = read_clock_ns(CLOCK_MONOTONIC) + next_ns;
    quiet_unlock(&watch->probe.recorder->window_lock, &before);
    return next_ns;
}

/* ---- As a probe ---- */

/* Counts what is known of the time since the last look. */
static void settle(struct probe *probe) {
    struct watch *watch = to_watch(probe);
    count_facts(watch);
    if (is_shared(watch))
        return;
    const struct seen seen = look_at_calls(watch);
    if (is_idle(watch, &seen))
        note_idle(watch);
}

static void take_from(uint64_t *sum, uint64_t taken) {
    __atomic_store_n(sum, *sum > taken ? *sum - taken : 0, __ATOMIC_RELAXED);
}

static void set_zero(uint64_t *sum) {
    __atomic_store_n(sum, 0, __ATOMIC_RELAXED);
}

static void reset(struct probe *probe) {
    struct live_header *header = header_of(to_watch(probe));
    set_zero(&header->looks);
    set_zero(&header->busy_looks);
    set_zero(&header->most_busy);
    for (unsigned op = 0; op < AGGSTATS_OPS_MAX; op++)
        set_zero(&looks_of(to_watch(probe))->busy[op]);
    set_zero(&header->facts[FACT_STOLEN]);
    set_zero(&header->facts[FACT_STOPPED]);
    set_zero(&header->facts[FACT_STORAGE_READ]);
}

static void end_mark(struct probe *probe, const struct aggstats_profile *taken) {
    struct live_header *header = header_of(to_watch(probe));
    const struct aggstats_recorder *recorder = probe->recorder;
    if (!taken)
        return;
    take_from(&header->looks, taken->busy.looks);
    take_from(&header->busy_looks, taken->busy.busy);
    for (unsigned op = 0; op < recorder->layout.op_count; op++) {
        const struct aggstats_op_profile *profile = aggstats_profile_op(taken, recorder->op_names[op]);
        if (profile)
            take_from(&looks_of(to_watch(probe))->busy[op], profile->busy_looks);
    }
    set_zero(&header->most_busy);
    take_from(&header->facts[FACT_STOLEN], taken->stolen_ns);
    take_from(&header->facts[FACT_STOPPED], taken->stopped_ns);
    take_from(&header->facts[FACT_STORAGE_READ], taken->storage_read_bytes);
}

static void wake(struct probe *probe) {
    sampler_wake(to_watch(probe)->sampler, 0);
}

static void leave(struct probe *probe) {
    probe->is_left = true;
    to_watch(probe)->sampler->is_left = true;
}

static void destroy(struct probe *probe) {
    sampler_stop(to_watch(probe)->sampler);
    free(to_watch(probe));
}

static const struct probe_ops ops = {
    .read = settle,
    .reset = reset,
    .end_mark = end_mark,
    .wake = wake,
    .leave = leave,
    .destroy = destroy,
};

/* ---- Options ---- */

int aggstats_recorder_watch(struct aggstats_recorder *recorder, bool makes_calls) {
    if (recorder->probes[PROBE_BUSY])
        return -EBUSY;
    const int64_t interval_ns = recorder->live.is_shared ? SHARED_INTERVAL_NS : INTERVAL_NS;
    struct watch *watch = malloc(sizeof(*watch));
    if (!watch)
        return -ENOMEM;
    *watch = (struct watch){.probe = {.ops = &ops, .recorder = recorder},
                            .stolen_ns = NOT_READ,
                            .storage_read_bytes = NOT_READ,
                            .makes_calls = makes_calls,
                            .noted_ns = read_clock_ns(CLOCK_MONOTONIC),
                            .interval_ns = interval_ns,
                            .chance = recorder->created.raw_ns};
    int err = sampler_start(look, watch, interval_ns, &watch->sampler);
    if (err < 0) {
        free(watch);
        return err;
    }
    recorder_attach(recorder, PROBE_BUSY, &watch->probe);
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    count_facts(watch);
    quiet_unlock(&recorder->window_lock, &before);
    return 0;
}
