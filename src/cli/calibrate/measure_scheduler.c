/* When the kernel takes the CPU away, and when it gives it back. */
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>

#include "base.h"
#include "characteristic.h"
#include "measure.h"
#include "ticks.h"

/* ---- Timer -------------------------------------------------------------------------------------- */

#define GAPS_MAX 16384U
#define GAP_MIN_NS 500 /* reading the clock takes some 10 ns; an interrupt more than this */

/* From 50 to 2000 ticks a second. */
#define PERIOD_MIN_NS 500000
#define PERIOD_MAX_NS 20000000

/* How often this thread lost its CPU to another. */
static long preemptions(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/* Reads the clock again and again. A long time between two readings is a gap, unless another thread ran in it: that is
 * no interrupt. */
static size_t watch_for_gaps(const struct aggstats_clock *clock, double seconds, struct gap *ret_gaps) {
    const uint64_t start = aggstats_clock_now(clock->kind);
    const uint64_t deadline = measure_deadline(clock, seconds);
    const uint64_t gap_min_cycles = (uint64_t)(GAP_MIN_NS * 1e-9 * (double)clock->frequency_hz);
    long preemptions_before = preemptions();
    size_t count = 0;
    uint64_t last = start;
    while (last < deadline && count < GAPS_MAX) {
        uint64_t now = aggstats_clock_now(clock->kind);
        if (now - last <= gap_min_cycles) {
            last = now;
            continue;
        }
        long preemptions_now = preemptions();
        if (preemptions_now == preemptions_before)
            ret_gaps[count++] = (struct gap){measure_ns(clock, last - start), measure_ns(clock, now - last)};
        preemptions_before = preemptions_now;
        last = aggstats_clock_now(clock->kind);
    }
    return count;
}

/* The coarse clock advances with each tick. */
static int tick_period(double *ret_period_ns) {
    struct timespec resolution;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) < 0)
        return negative_errno();
    *ret_period_ns = (double)resolution.tv_sec * 1e9 + (double)resolution.tv_nsec;
    return *ret_period_ns >= PERIOD_MIN_NS && *ret_period_ns <= PERIOD_MAX_NS ? 0 : -ENODATA;
}

static void add_ticks(struct gap *gaps, size_t count, double period_ns, struct samples *ret_interrupt,
                      struct samples *ret_tick) {
    count = count < SAMPLES_MAX ? count : SAMPLES_MAX;
    ret_interrupt->count = 0;
    for (size_t i = 0; i < count; i++)
        samples_add(ret_interrupt, gaps[i].length_ns);
    ret_tick->count = ticks_periods(gaps, count, period_ns, ret_tick->ns);
}

int measure_timer(const struct effort *effort, struct samples *ret_interrupt, struct samples *ret_tick) {
    CLEANUP_FREE struct gap *gaps = calloc(GAPS_MAX, sizeof(*gaps));
    CLEANUP_FREE struct gap *ticks = calloc(GAPS_MAX, sizeof(*ticks));
    double period_ns = 0;
    struct pin pin;
    int error = tick_period(&period_ns);
    if (!gaps || !ticks)
        return -ENOMEM;
    if (!error)
        error = pin_take(&pin);
    if (error)
        return error;
    size_t gap_count = watch_for_gaps(&effort->clock, effort->seconds_max, gaps);
    pin_release(&pin);
    size_t tick_count = ticks_find(gaps, gap_count, period_ns, ticks);
    if (tick_count < 2)
        return -ENODATA;
    add_ticks(ticks, tick_count, period_ns, ret_interrupt, ret_tick);
    return 0;
}

/* ---- Sleep -------------------------------------------------------------------------------------- */

static int sleep_shortly(void *context) {
    (void)context;
    const struct timespec shortest = {.tv_nsec = 1};
    return -clock_nanosleep(CLOCK_MONOTONIC, 0, &shortest, NULL);
}

int measure_sleep(const struct effort *effort, struct samples *ret_samples) {
    return samples_take(effort, 1, sleep_shortly, NULL, ret_samples);
}

/* ---- Quantum ------------------------------------------------------------------------------------ */

#define TURNS_MIN 5U
#define CONTESTS 5
#define CONTEST_PAUSE_NS 20000000
#define CONTEST_SECONDS_MIN 0.1

/* Shared by the two threads. */
struct contest {
    const struct aggstats_clock *clock;
    uint64_t deadline;
    int running; /* the thread that ran last: 0, 1; -1: none yet */
};

struct contestant {
    struct contest *contest;
    int number;
    struct samples turns;
};

static double cpu_time_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

/* Spins. A thread that finds that the other ran last has just got the CPU back: the CPU time since it got it the time
 * before was its turn, whatever else ran in between. */
static void *contend(void *context) {
    struct contestant *self = context;
    struct contest *contest = self->contest;
    double turn_start_ns = -1;
    while (aggstats_clock_now(contest->clock->kind) < contest->deadline) {
        if (__atomic_load_n(&contest->running, __ATOMIC_RELAXED) == self->number)
            continue;
        __atomic_store_n(&contest->running, self->number, __ATOMIC_RELAXED);
        double now_ns = cpu_time_ns();
        if (turn_start_ns >= 0)
            samples_add(&self->turns, now_ns - turn_start_ns);
        turn_start_ns = now_ns;
    }
    return NULL;
}

static int contend_in_pairs(struct contestant contestants[2]) {
    pthread_t thread;
    int error = -pthread_create(&thread, NULL, contend, &contestants[1]);
    if (error)
        return error;
    contend(&contestants[0]);
    return -pthread_join(thread, NULL);
}

static int run_contest(const struct aggstats_clock *clock, double seconds, struct samples *ret_turns) {
    struct contest contest = {.clock = clock, .running = -1, .deadline = measure_deadline(clock, seconds)};
    CLEANUP_FREE struct contestant *contestants = calloc(2, sizeof(*contestants));
    if (!contestants)
        return -ENOMEM;
    for (int i = 0; i < 2; i++)
        contestants[i] = (struct contestant){.contest = &contest, .number = i};
    int error = contend_in_pairs(contestants);
    ret_turns->count = 0;
    for (int i = 0; i < 2; i++)
        for (size_t turn = 0; turn < contestants[i].turns.count; turn++)
            samples_add(ret_turns, contestants[i].turns.ns[turn]);
    weigh_by_value(ret_turns->ns, ret_turns->count);
    return error;
}

static double median_of(struct samples *samples) {
    return samples->count >= TURNS_MIN ? quartiles_of(samples->ns, samples->count).median : 0;
}

/* Each contest may be on another CPU, depending on where the scheduler has put this thread in between. */
static int run_pinned_contest(const struct effort *effort, struct samples *ret_turns) {
    const struct timespec pause = {.tv_nsec = CONTEST_PAUSE_NS};
    struct pin pin;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    int error = pin_take(&pin);
    if (error)
        return error;
    error = run_contest(&effort->clock, fmax(effort->seconds_max / CONTESTS, CONTEST_SECONDS_MIN), ret_turns);
    pin_release(&pin);
    return error;
}

int measure_quantum(const struct effort *effort, struct samples *ret_samples) {
    struct samples turns;
    ret_samples->count = 0;
    for (int i = 0; i < CONTESTS; i++) {
        int error = run_pinned_contest(effort, &turns);
        if (error)
            return error;
        if (median_of(&turns) > median_of(ret_samples))
            *ret_samples = turns;
    }
    return ret_samples->count == 0 ? -ENODATA : 0;
}
