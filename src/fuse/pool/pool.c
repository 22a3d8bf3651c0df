/* When only chosen workers receive, on which CPUs, and when all become plain again. */
#include "pool.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proc.h"

#define BEGIN_CALLS 16U   /* each may have woken a CPU */
#define WINDOW_CALLS 128U /* a chosen worker reviews its calls after so many */
#define CHECK_CALLS 16U   /* checks that take a system call are made every so many calls */
#define MANY_PART 8U      /* this part of a window counts as many */
#define OTHERS_WEIGHT 4U  /* if half of the checks in a window find others, that counts as many */
#define AWAY_CHECKS 8U    /* the scheduler takes some ms to separate callers on one CPU */
#define SLOW_HZ 10000U    /* 100 us */
#define IDLE_TICKS 20U
#define PAUSE_HZ 100U /* 10 ms; doubled if workers were chosen for less than WORTH_PAUSES times that */
#define PAUSE_MAX_S 1U
#define WORTH_PAUSES 10U
#define CPU_FIELD 39 /* of proc_pid_stat(5) */

/* ---- Scheduling of threads ---- */

static bool set_class(pid_t thread, int class) {
    const struct sched_param param = {.sched_priority = 0};
    return sched_setscheduler(thread, class, &param) == 0;
}

/* Coming back from SCHED_IDLE takes a privilege (sched(7)), which only an attempt reveals. */
static void *try_the_way_back(void *ret_possible) {
    *(bool *)ret_possible = set_class(gettid(), SCHED_IDLE) && set_class(gettid(), SCHED_OTHER);
    return NULL;
}

static void find_home(struct scheduling_home *ret_home) {
    struct scheduling_home home = {.idle_possible = false};
    pthread_t thread;
    if (sched_getaffinity(0, sizeof(home.cpus), &home.cpus) == 0) { /* else there are more CPUs than the set holds */
        home.cpu_count = (unsigned)CPU_COUNT(&home.cpus);
        if (sched_getscheduler(0) == SCHED_OTHER &&
            pthread_create(&thread, NULL, try_the_way_back, &home.idle_possible) == 0)
            pthread_join(thread, NULL);
    } else {
        CPU_ZERO(&home.cpus);
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        home.cpu_count = online > 0 ? (unsigned)online : 1;
    }
    *ret_home = home;
}

int scheduling_cpu_of(uint32_t thread) {
    struct proc_stat stat;
    const char *cpu = proc_stat_read(thread, &stat) ? proc_stat_field(&stat, CPU_FIELD) : NULL;
    return cpu ? (int)strtol(cpu, NULL, 10) : -1;
}

void scheduling_bind(pid_t thread, int cpu) {
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(cpu, &there);
    sched_setaffinity(thread, sizeof(there), &there);
    set_class(thread, SCHED_IDLE);
}

void scheduling_restore(const struct scheduling_home *home, pid_t thread) {
    set_class(thread, SCHED_OTHER);
    sched_setaffinity(thread, sizeof(home->cpus), &home->cpus);
}

void scheduling_set_home(const struct scheduling_home *home, pthread_attr_t *attr) {
    if (CPU_COUNT(&home->cpus) > 0)
        pthread_attr_setaffinity_np(attr, sizeof(home->cpus), &home->cpus);
    if (!home->idle_possible)
        return;
    pthread_attr_setschedpolicy(attr, SCHED_OTHER);
    pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
}

/* ---- Life cycle ---- */

void pool_init(struct pool *pool, const struct aggstats_clock *clock, bool adaptive) {
    *pool = (struct pool){.clock = *clock, .period = 1, .offered = -1};
    pthread_mutex_init(&pool->lock, NULL);
    find_home(&pool->home);
    unsigned cpus = pool->home.cpu_count;
    if (adaptive && pool->home.idle_possible && cpus >= 2) /* with one CPU there is no other to wake */
        pool->chosen_max = cpus < POOL_CHOSEN_MAX ? cpus : POOL_CHOSEN_MAX;
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

/* Entries of earlier periods do not count. */
static bool take_cpu(struct pool *pool, int cpu, uint32_t period) {
    uint32_t before = __atomic_load_n(&pool->taken[cpu], __ATOMIC_RELAXED);
    return before != period &&
           __atomic_compare_exchange_n(&pool->taken[cpu], &before, period, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void give_cpu_back(struct pool *pool, int cpu, uint32_t period) {
    __atomic_compare_exchange_n(&pool->taken[cpu], &period, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ---- Choosing ---- */

/* 0 if more are needed than can be chosen; workers are plain then. */
static unsigned few(const struct pool *pool) {
    return pool->home.cpu_count / 2 <= POOL_CHOSEN_MAX ? pool->home.cpu_count / 2 : 0;
}

static bool choose_locked(struct pool *pool, struct pool_worker *worker, int cpu) {
    unsigned count = pool->chosen_count;
    bool has_room =
        cpu == POOL_ANY_CPU ? count < few(pool) : count < pool->chosen_max && take_cpu(pool, cpu, pool->period);
    if (!has_room)
        return false;
    start_window(worker);
    worker->away_checks = 0;
    worker->cpu = cpu;
    worker->seen_progress = 0;
    pool->chosen[count] = worker;
    __atomic_store_n(&worker->chosen, true, __ATOMIC_RELEASE);
    __atomic_store_n(&pool->chosen_count, count + 1, __ATOMIC_SEQ_CST);
    return true;
}

static bool is_bound(const struct pool_worker *worker) {
    return pool_worker_is_chosen(worker) && worker->cpu != POOL_ANY_CPU;
}

/* Called without the lock, which a thread in SCHED_IDLE might hold for long. If the worker has been made plain since,
 * it is scheduled as plain. */
void pool_enter(const struct pool *pool, const struct pool_worker *worker) {
    if (!is_bound(worker))
        return;
    scheduling_bind(worker->thread, worker->cpu);
    if (!pool_worker_is_chosen(worker))
        scheduling_restore(&pool->home, worker->thread);
}

bool pool_join(struct pool *pool, struct pool_worker *worker) {
    int cpu = __atomic_exchange_n(&pool->offered, -1, __ATOMIC_ACQ_REL);
    if (cpu < 0)
        return false;
    pthread_mutex_lock(&pool->lock);
    bool joins = pool->chosen_count > 0 && choose_locked(pool, worker, cpu);
    pthread_mutex_unlock(&pool->lock);
    if (joins)
        pool_enter(pool, worker);
    return joins;
}

/* Leaves the requests to the other chosen workers; the last one stays. */
static void leave(struct pool *pool, struct pool_worker *worker) {
    scheduling_restore(&pool->home, worker->thread);
    pthread_mutex_lock(&pool->lock);
    for (unsigned index = 0; pool_worker_is_chosen(worker) && pool->chosen_count > 1 && index < pool->chosen_count;
         index++) {
        if (pool->chosen[index] != worker)
            continue;
        __atomic_store_n(&worker->chosen, false, __ATOMIC_RELEASE);
        give_cpu_back(pool, worker->cpu, pool->period);
        pool->chosen[index] = pool->chosen[pool->chosen_count - 1];
        __atomic_store_n(&pool->chosen_count, pool->chosen_count - 1, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&pool->lock);
    pool_enter(pool, worker); /* the last chosen worker stays chosen: binds its thread again */
}

/* ---- The end ---- */

/* If workers were chosen only briefly, it was not worth it: the next pause is longer. */
static uint64_t next_pause(const struct pool *pool, uint64_t now) {
    const uint64_t shortest = pool->clock.frequency_hz / PAUSE_HZ;
    const uint64_t longest = pool->clock.frequency_hz * PAUSE_MAX_S;
    if (now - pool->began_cycles >= WORTH_PAUSES * pool->pause_cycles)
        return shortest;
    return 2 * pool->pause_cycles < longest ? 2 * pool->pause_cycles : longest;
}

/* Returns false if none was chosen. */
static bool make_plain_locked(struct pool *pool, bool pauses) {
    if (pool->chosen_count == 0)
        return false;
    for (unsigned index = 0; index < pool->chosen_count; index++) {
        __atomic_store_n(&pool->chosen[index]->chosen, false, __ATOMIC_RELEASE);
        scheduling_restore(&pool->home, pool->chosen[index]->thread);
    }
    uint64_t now = aggstats_clock_now(pool->clock.kind);
    if (pauses) {
        pool->pause_cycles = next_pause(pool, now);
        __atomic_store_n(&pool->again_cycles, now + pool->pause_cycles, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&pool->offered, -1, __ATOMIC_RELEASE);
    __atomic_store_n(&pool->period, pool->period + 1 ? pool->period + 1 : 1, __ATOMIC_RELEASE);
    __atomic_store_n(&pool->chosen_count, 0, __ATOMIC_SEQ_CST);
    return true;
}

void pool_stop(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->chosen_max, 0, __ATOMIC_RELAXED);
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

/* Only with one caller: of several, some run on other CPUs. */
bool pool_is_to_check(const struct pool_worker *worker) {
    return is_bound(worker) && worker->switches == 0 && worker->calls % CHECK_CALLS == 0;
}

bool pool_requests_wait(int device_fd) {
    struct pollfd device = {.fd = device_fd, .events = POLLIN};
    return poll(&device, 1, 0) == 1 && device.revents & POLLIN;
}

/* A caller on this CPU preempts the worker when it is answered. If the worker mostly waits instead, its callers seem to
 * run on other CPUs. */
static bool caller_seems_away(struct pool_worker *worker) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    long waits = usage.ru_nvcsw - worker->waits;
    worker->waits = usage.ru_nvcsw;
    return waits > CHECK_CALLS / 2;
}

bool pool_note(struct pool *pool, struct pool_worker *worker, const struct pool_call *call) {
    pool_answer(worker); /* if it was not answered yet */
    if (!pool_is_adaptive(pool))
        return false;
    worker->calls++;
    worker->slow_calls += call->is_readahead || call->work_cycles > pool->clock.frequency_hz / SLOW_HZ;
    worker->slow_calls += call->has_others ? OTHERS_WEIGHT : 0;
    if (call->caller != 0 && call->caller != worker->caller) {
        worker->other = worker->caller;
        worker->caller = call->caller;
        worker->switches++;
    }
    if (call->caller != 0)
        worker->callers |= UINT64_C(1) << call->caller % 64;
    if (!pool_worker_is_chosen(worker))
        return worker->calls >= BEGIN_CALLS;
    return worker->calls >= WINDOW_CALLS || (pool_is_to_check(worker) && caller_seems_away(worker));
}

static bool has_many_callers(const struct pool *pool, const struct pool_worker *worker) {
    return (unsigned)__builtin_popcountll(worker->callers) > pool->home.cpu_count;
}

static bool offer(struct pool *pool, int cpu) {
    if (pool_wants_worker(pool))
        return false;
    __atomic_store_n(&pool->offered, cpu, __ATOMIC_RELEASE);
    return true;
}

/* Asks for one more worker: any in the mode "few", or one on the other caller's CPU if there is none. */
static bool offer_place(struct pool *pool, const struct pool_worker *worker) {
    if (worker->cpu == POOL_ANY_CPU)
        return __atomic_load_n(&pool->chosen_count, __ATOMIC_RELAXED) < few(pool) && offer(pool, POOL_ANY_CPU);
    if (worker->switches < worker->calls / MANY_PART)
        return false;
    int cpu = cpu_of_caller(pool, worker->other);
    bool is_taken = cpu < 0 || __atomic_load_n(&pool->taken[cpu], __ATOMIC_RELAXED) == current_period(pool);
    return !is_taken && offer(pool, cpu);
}

/* Makes the worker the first chosen one. If it was chosen before, for another number of callers, its companions become
 * plain. */
static bool begin(struct pool *pool, struct pool_worker *worker) {
    int cpu = has_many_callers(pool, worker) ? POOL_ANY_CPU : cpu_of_caller(pool, worker->caller);
    if (cpu < 0)
        return false;
    if (pool_worker_is_chosen(worker))
        scheduling_restore(&pool->home, worker->thread);
    pthread_mutex_lock(&pool->lock);
    if (pool_worker_is_chosen(worker))
        make_plain_locked(pool, false);
    bool begins = pool->chosen_count == 0 && choose_locked(pool, worker, cpu);
    if (begins) {
        pool->began_cycles = aggstats_clock_now(pool->clock.kind);
        pool->idle_ticks = 0;
    }
    pthread_mutex_unlock(&pool->lock);
    return begins;
}

/* Binds it to its caller's CPU. Returns false if another worker is bound there, and no caller runs here. */
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

/* Called at the end of a window, or when its caller seems to have moved. */
static void review_place(struct pool *pool, struct pool_worker *worker) {
    bool is_there = follow_caller(pool, worker);
    if (worker->calls < WINDOW_CALLS)
        return;
    worker->away_checks = is_there ? 0 : worker->away_checks + 1;
    if (worker->away_checks >= (worker->switches == 0 ? 1 : AWAY_CHECKS))
        leave(pool, worker);
}

static bool review_chosen(struct pool *pool, struct pool_worker *worker) {
    const bool is_full = worker->calls >= WINDOW_CALLS;
    if (is_full && worker->slow_calls >= worker->calls / MANY_PART) {
        scheduling_restore(&pool->home, worker->thread);
        pthread_mutex_lock(&pool->lock);
        make_plain_locked(pool, true);
        pthread_mutex_unlock(&pool->lock);
        return false; /* it takes the next request, and then makes others wait for requests */
    }
    if (is_full && has_many_callers(pool, worker) == is_bound(worker))
        return begin(pool, worker);
    if (is_bound(worker))
        review_place(pool, worker);
    return is_full && pool_worker_is_chosen(worker) && offer_place(pool, worker);
}

bool pool_review(struct pool *pool, struct pool_worker *worker) {
    bool wakes = false;
    if (pool_worker_is_chosen(worker)) {
        wakes = review_chosen(pool, worker);
    } else if (worker->slow_calls == 0 && pool_is_plain(pool) &&
               aggstats_clock_now(pool->clock.kind) >= __atomic_load_n(&pool->again_cycles, __ATOMIC_RELAXED) &&
               begin(pool, worker)) {
        wakes = true;
        offer_place(pool, worker);
    }
    if (!pool_worker_is_chosen(worker) || worker->calls >= WINDOW_CALLS)
        start_window(worker);
    return wakes;
}

/* ---- The main thread ---- */

static bool tick_locked(struct pool *pool, int device_fd) {
    bool moved = false;    /* some worker has taken or answered a request since the last tick */
    bool is_stuck = false; /* some worker still has the same request */
    for (unsigned index = 0; index < pool->chosen_count; index++) {
        struct pool_worker *worker = pool->chosen[index];
        uint64_t progress = __atomic_load_n(&worker->progress, __ATOMIC_ACQUIRE);
        moved |= progress != worker->seen_progress;
        is_stuck |= progress == worker->seen_progress && progress % 2 == 1;
        worker->seen_progress = progress;
    }
    pool->idle_ticks = moved ? 0 : pool->idle_ticks + 1;
    if (is_stuck || (!moved && pool_requests_wait(device_fd)))
        return make_plain_locked(pool, true);
    return pool->idle_ticks >= IDLE_TICKS && make_plain_locked(pool, false);
}

bool pool_tick(struct pool *pool, int device_fd) {
    pthread_mutex_lock(&pool->lock);
    bool ended = tick_locked(pool, device_fd);
    pthread_mutex_unlock(&pool->lock);
    return ended;
}
