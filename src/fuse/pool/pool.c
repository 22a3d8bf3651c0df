/* When workers are bound to the CPUs of callers, and when they are plain again. */
#include "pool.h"

#include <poll.h>

#define BEGIN_CALLS 16U   /* each may have woken a CPU */
#define WINDOW_CALLS 128U /* what a bound worker reviews at a time */
#define MANY_PART 8U      /* this part of a window is many */
#define AWAY_CHECKS 8U    /* the scheduler takes some ms to part callers who have met on a CPU */
#define SLOW_HZ 10000U    /* 100 us */
#define IDLE_TICKS 20U
#define PAUSE_HZ 100U /* 10 ms; doubled if workers were bound for less than WORTH_PAUSES times that */
#define PAUSE_MAX_S 1U
#define WORTH_PAUSES 10U

void pool_init(struct pool *pool, const struct aggstats_clock *clock, bool adaptive) {
    *pool = (struct pool){.clock = *clock, .period = 1, .offered = -1};
    pthread_mutex_init(&pool->lock, NULL);
    scheduling_find_home(&pool->home);
    unsigned cpus = pool->home.cpu_count;
    if (adaptive && pool->home.idle_possible && cpus >= 2) /* on one CPU there is no other to be woken */
        pool->bound_max = cpus < POOL_BOUND_MAX ? cpus : POOL_BOUND_MAX;
}

void pool_finish(struct pool *pool) {
    pthread_mutex_destroy(&pool->lock);
}

static void start_window(struct pool_worker *worker) {
    worker->calls = 0;
    worker->slow_calls = 0;
    worker->switches = 0;
    worker->callers = 0;
}

/* ---- CPUs ---- */

static uint32_t current_period(const struct pool *pool) {
    return __atomic_load_n(&pool->period, __ATOMIC_ACQUIRE);
}

/* The CPU of a caller, if a worker may be bound to it; else -1. */
static int cpu_of_caller(const struct pool *pool, uint32_t caller) {
    int cpu = caller == 0 ? -1 : scheduling_cpu_of(caller);
    return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &pool->home.cpus) ? cpu : -1;
}

static bool is_taken(const struct pool *pool, int cpu) {
    return __atomic_load_n(&pool->taken[cpu], __ATOMIC_RELAXED) == current_period(pool);
}

/* What an earlier period has left there does not count. */
static bool take_cpu(struct pool *pool, int cpu, uint32_t period) {
    uint32_t before = __atomic_load_n(&pool->taken[cpu], __ATOMIC_RELAXED);
    return before != period &&
           __atomic_compare_exchange_n(&pool->taken[cpu], &before, period, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void give_cpu_back(struct pool *pool, int cpu, uint32_t period) {
    __atomic_compare_exchange_n(&pool->taken[cpu], &period, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ---- Binding ---- */

static bool bind_locked(struct pool *pool, struct pool_worker *worker, int cpu) {
    unsigned count = pool->bound_count;
    if (count >= pool->bound_max || !take_cpu(pool, cpu, pool->period))
        return false;
    start_window(worker);
    worker->away_checks = 0;
    worker->cpu = cpu;
    worker->seen_progress = 0;
    pool->bound[count] = worker;
    __atomic_store_n(&worker->bound, true, __ATOMIC_RELEASE);
    __atomic_store_n(&pool->bound_count, count + 1, __ATOMIC_SEQ_CST);
    return true;
}

/* Without the lock, which a thread in SCHED_IDLE might keep for long. If the worker has been made plain since, it is
 * scheduled so. */
void pool_enter(const struct pool *pool, const struct pool_worker *worker) {
    if (!pool_worker_is_bound(worker))
        return;
    scheduling_bind(worker->thread, worker->cpu);
    if (!pool_worker_is_bound(worker))
        scheduling_restore(&pool->home, worker->thread);
}

bool pool_join(struct pool *pool, struct pool_worker *worker) {
    int cpu = __atomic_exchange_n(&pool->offered, -1, __ATOMIC_ACQ_REL);
    if (cpu < 0)
        return false;
    pthread_mutex_lock(&pool->lock);
    bool joins = pool->bound_count > 0 && bind_locked(pool, worker, cpu);
    pthread_mutex_unlock(&pool->lock);
    if (joins)
        pool_enter(pool, worker);
    return joins;
}

static bool begin(struct pool *pool, struct pool_worker *worker, int cpu) {
    pthread_mutex_lock(&pool->lock);
    bool begins = pool->bound_count == 0 && bind_locked(pool, worker, cpu);
    if (begins) {
        pool->began_cycles = aggstats_clock_now(pool->clock.kind);
        pool->idle_ticks = 0;
    }
    pthread_mutex_unlock(&pool->lock);
    return begins;
}

/* Leaves the requests to the others that are bound; the last one stays. */
static void leave(struct pool *pool, struct pool_worker *worker) {
    scheduling_restore(&pool->home, worker->thread);
    pthread_mutex_lock(&pool->lock);
    for (unsigned index = 0; pool_worker_is_bound(worker) && pool->bound_count > 1 && index < pool->bound_count;
         index++) {
        if (pool->bound[index] != worker)
            continue;
        __atomic_store_n(&worker->bound, false, __ATOMIC_RELEASE);
        give_cpu_back(pool, worker->cpu, pool->period);
        pool->bound[index] = pool->bound[pool->bound_count - 1];
        __atomic_store_n(&pool->bound_count, pool->bound_count - 1, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&pool->lock);
    pool_enter(pool, worker); /* the others have left meanwhile */
}

/* ---- The end ---- */

/* A time that was soon over was not worth it: the next begins later. */
static uint64_t next_pause(const struct pool *pool, uint64_t now) {
    const uint64_t shortest = pool->clock.frequency_hz / PAUSE_HZ;
    const uint64_t longest = pool->clock.frequency_hz * PAUSE_MAX_S;
    if (now - pool->began_cycles >= WORTH_PAUSES * pool->pause_cycles)
        return shortest;
    return 2 * pool->pause_cycles < longest ? 2 * pool->pause_cycles : longest;
}

/* Returns false if none was bound. */
static bool make_plain_locked(struct pool *pool, bool pauses) {
    if (pool->bound_count == 0)
        return false;
    for (unsigned index = 0; index < pool->bound_count; index++) {
        __atomic_store_n(&pool->bound[index]->bound, false, __ATOMIC_RELEASE);
        scheduling_restore(&pool->home, pool->bound[index]->thread);
    }
    uint64_t now = aggstats_clock_now(pool->clock.kind);
    if (pauses) {
        pool->pause_cycles = next_pause(pool, now);
        __atomic_store_n(&pool->again_cycles, now + pool->pause_cycles, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&pool->offered, -1, __ATOMIC_RELEASE);
    __atomic_store_n(&pool->period, pool->period + 1 ? pool->period + 1 : 1, __ATOMIC_RELEASE);
    __atomic_store_n(&pool->bound_count, 0, __ATOMIC_SEQ_CST);
    return true;
}

static void make_plain(struct pool *pool, struct pool_worker *worker) {
    scheduling_restore(&pool->home, worker->thread);
    pthread_mutex_lock(&pool->lock);
    make_plain_locked(pool, true);
    pthread_mutex_unlock(&pool->lock);
}

void pool_stop(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->bound_max, 0, __ATOMIC_RELAXED);
    make_plain_locked(pool, false);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- Workers ---- */

static void advance(struct pool_worker *worker, bool to_odd) {
    if (worker->progress % 2 != to_odd)
        __atomic_store_n(&worker->progress, worker->progress + 1, __ATOMIC_RELEASE);
}

void pool_take(struct pool_worker *worker) {
    advance(worker, true);
}

void pool_answer(struct pool_worker *worker) {
    advance(worker, false);
}

bool pool_note(struct pool *pool, struct pool_worker *worker, const struct pool_call *call) {
    pool_answer(worker); /* if it has none */
    if (!pool_is_adaptive(pool))
        return false;
    worker->calls++;
    worker->slow_calls += call->is_readahead || call->work_cycles > pool->clock.frequency_hz / SLOW_HZ;
    if (call->caller != 0 && call->caller != worker->caller) {
        worker->other = worker->caller;
        worker->caller = call->caller;
        worker->switches++;
    }
    if (call->caller != 0)
        worker->callers |= UINT64_C(1) << call->caller % 64;
    return worker->calls >= (pool_worker_is_bound(worker) ? WINDOW_CALLS : BEGIN_CALLS);
}

static bool has_too_many_callers(const struct pool *pool, const struct pool_worker *worker) {
    return (unsigned)__builtin_popcountll(worker->callers) > pool->home.cpu_count;
}

/* Wants one more worker where the other caller runs, if none is there. */
static bool offer_cpu_of_other(struct pool *pool, const struct pool_worker *worker) {
    if (worker->switches < worker->calls / MANY_PART)
        return false;
    int cpu = cpu_of_caller(pool, worker->other);
    if (cpu < 0 || is_taken(pool, cpu) || pool_wants_worker(pool))
        return false;
    __atomic_store_n(&pool->offered, cpu, __ATOMIC_RELEASE);
    return true;
}

static bool begin_if_worth(struct pool *pool, struct pool_worker *worker) {
    if (worker->slow_calls > 0 || has_too_many_callers(pool, worker) || pool_is_bound(pool) ||
        aggstats_clock_now(pool->clock.kind) < __atomic_load_n(&pool->again_cycles, __ATOMIC_RELAXED))
        return false;
    int cpu = cpu_of_caller(pool, worker->caller);
    return cpu >= 0 && begin(pool, worker, cpu);
}

/* To the CPU of its caller. Returns false if another worker is bound there, and no caller runs here. */
static bool follow_caller(struct pool *pool, struct pool_worker *worker) {
    const uint32_t period = current_period(pool);
    int cpu = cpu_of_caller(pool, worker->caller);
    if (cpu < 0 || cpu == worker->cpu)
        return true;
    if (!take_cpu(pool, cpu, period))
        return worker->switches > 0 && cpu_of_caller(pool, worker->other) == worker->cpu;
    give_cpu_back(pool, worker->cpu, period);
    worker->cpu = cpu;
    pool_enter(pool, worker);
    return true;
}

static bool review_bound(struct pool *pool, struct pool_worker *worker) {
    if (worker->slow_calls >= worker->calls / MANY_PART || has_too_many_callers(pool, worker)) {
        make_plain(pool, worker);
        return false; /* it takes the next request, and sees then to it that others do */
    }
    worker->away_checks = follow_caller(pool, worker) ? 0 : worker->away_checks + 1;
    if (worker->away_checks >= (worker->switches == 0 ? 1 : AWAY_CHECKS)) {
        leave(pool, worker);
        return false;
    }
    return offer_cpu_of_other(pool, worker);
}

bool pool_review(struct pool *pool, struct pool_worker *worker) {
    bool is_bound = pool_worker_is_bound(worker);
    bool wakes = is_bound ? review_bound(pool, worker) : begin_if_worth(pool, worker);
    if (wakes && !is_bound)
        offer_cpu_of_other(pool, worker);
    start_window(worker);
    return wakes;
}

/* ---- The main thread ---- */

static bool requests_wait(int device_fd) {
    struct pollfd device = {.fd = device_fd, .events = POLLIN};
    return poll(&device, 1, 0) == 1 && device.revents & POLLIN;
}

struct findings {
    bool moved;    /* some worker has taken a request, or answered one, since the last tick */
    bool is_stuck; /* some worker is still at the same request */
};

static struct findings check_workers_locked(const struct pool *pool) {
    struct findings found = {.moved = false};
    for (unsigned index = 0; index < pool->bound_count; index++) {
        struct pool_worker *worker = pool->bound[index];
        uint64_t progress = __atomic_load_n(&worker->progress, __ATOMIC_ACQUIRE);
        found.moved |= progress != worker->seen_progress;
        found.is_stuck |= progress == worker->seen_progress && progress % 2 == 1;
        worker->seen_progress = progress;
    }
    return found;
}

static bool tick_locked(struct pool *pool, int device_fd) {
    struct findings found = check_workers_locked(pool);
    pool->idle_ticks = found.moved ? 0 : pool->idle_ticks + 1;
    if (found.is_stuck || (!found.moved && requests_wait(device_fd)))
        return make_plain_locked(pool, true);
    return pool->idle_ticks >= IDLE_TICKS && make_plain_locked(pool, false);
}

bool pool_tick(struct pool *pool, int device_fd) {
    pthread_mutex_lock(&pool->lock);
    bool ended = tick_locked(pool, device_fd);
    pthread_mutex_unlock(&pool->lock);
    return ended;
}
