/* Which workers are chosen, on which CPUs, and when all are plain again. All workers are this thread, except one. */
#include "pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "testing.h"

#define NS_PER_S 1000000000U
#define SHORT_NS 1000U
#define SLOW_NS 1000000U
#define SOME_CALLS 500 /* more than it takes to decide anything */

static struct pool pool;
static struct pool_worker worker;
static int device_fd; /* readable: a request waits */

static const struct aggstats_clock test_clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S};

static void set_up(void) {
    pool_init(&pool, &test_clock, true);
    worker = (struct pool_worker){.thread = gettid()};
    device_fd = eventfd(0, EFD_NONBLOCK);
    ck_assert_int_ge(device_fd, 0);
}

static void tear_down(void) {
    scheduling_restore(&pool.home, gettid());
    pool_finish(&pool);
    close(device_fd);
}

static bool can_bind(void) {
    return pool_is_adaptive(&pool);
}

/* ---- Callers ---- */

/* A thread that sleeps on its CPU until the test's process ends. */
static void *sleep_there(void *ret_thread) {
    __atomic_store_n((uint32_t *)ret_thread, (uint32_t)gettid(), __ATOMIC_RELEASE);
    pause();
    return NULL;
}

static uint32_t caller_on(const cpu_set_t *cpus) {
    uint32_t id = 0;
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setaffinity_np(&attr, sizeof(*cpus), cpus);
    ck_assert_int_eq(pthread_create(&thread, &attr, sleep_there, &id), 0);
    while (__atomic_load_n(&id, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    pthread_attr_destroy(&attr);
    return id;
}

static int nth_cpu(int number) {
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &pool.home.cpus) && number-- == 0)
            return cpu;
    }
    ck_abort_msg("there is no such CPU");
    return -1;
}

static uint32_t caller_on_cpu(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    return caller_on(&cpus);
}

/* ---- Calls ---- */

/* Calls from these threads in turn, until the main thread would be woken. Returns whether it was. */
static bool serve(struct pool_worker *by, int count, const uint32_t *callers, unsigned caller_count, uint64_t work_ns,
                  bool is_readahead) {
    for (int i = 0; i < count; i++) {
        const struct pool_call call = {
            .caller = callers[(unsigned)i % caller_count], .work_cycles = work_ns, .is_readahead = is_readahead};
        pool_take(by);
        pool_answer(by);
        if (pool_note(&pool, by, &call) && pool_review(&pool, by)) {
            pool_enter(&pool, by);
            return true;
        }
    }
    return false;
}

static bool serve_short(uint32_t caller) {
    return serve(&worker, SOME_CALLS, &caller, 1, SHORT_NS, false);
}

static bool serve_slow(uint32_t caller) {
    return serve(&worker, SOME_CALLS, &caller, 1, SLOW_NS, false);
}

static bool serve_two(uint32_t one, uint32_t other) {
    const uint32_t callers[] = {one, other};
    return serve(&worker, SOME_CALLS, callers, 2, SHORT_NS, false);
}

/* More than CPUs. */
static bool can_serve_many(void) {
    return can_bind() && pool.home.cpu_count < 16; /* a worker sees them only if they come in its first calls */
}

static bool serve_many(uint64_t work_ns) {
    uint32_t callers[16];
    for (unsigned i = 0; i <= pool.home.cpu_count; i++)
        callers[i] = (uint32_t)gettid() + i;
    return serve(&worker, SOME_CALLS, callers, pool.home.cpu_count + 1, work_ns, false);
}

static void bind_to_first_cpu(void) {
    ck_assert(serve_short(caller_on_cpu(nth_cpu(0))));
    ck_assert(pool_worker_is_chosen(&worker));
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* How long it takes until short calls bind the worker again. */
static uint64_t pause_ns(uint32_t caller) {
    uint64_t began_ns = now_ns();
    while (!serve_short(caller))
        ck_assert_uint_lt(now_ns() - began_ns, 60 * (uint64_t)NS_PER_S);
    return now_ns() - began_ns;
}

/* ---- How this thread is scheduled ---- */

static void assert_bound_to(int cpu) {
    cpu_set_t cpus;
    ck_assert_int_eq(sched_getscheduler(0), SCHED_IDLE);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    ck_assert_int_eq(CPU_COUNT(&cpus), 1);
    ck_assert(CPU_ISSET(cpu, &cpus));
}

static void assert_at_home(void) {
    cpu_set_t cpus;
    ck_assert_int_eq(sched_getscheduler(0), SCHED_OTHER);
    ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    ck_assert(CPU_EQUAL(&cpus, &pool.home.cpus));
}

static void assert_few(void) {
    ck_assert(!pool_is_plain(&pool));
    ck_assert(pool_worker_is_chosen(&worker));
    ck_assert_int_eq(worker.cpu, POOL_ANY_CPU);
    assert_at_home();
}

static void assert_plain(void) {
    ck_assert(pool_is_plain(&pool));
    ck_assert(!pool_worker_is_chosen(&worker));
    assert_at_home();
}

/* ---- Binding ---- */

static bool has_cpu(int number) {
    cpu_set_t cpus;
    return number == 0 || (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > number);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down, .seconds = 100);

TEST(short_calls_bind_a_worker_to_the_cpu_of_its_caller, .to = 2) {
    if (!has_cpu(_i))
        return;
    if (!can_bind())
        return;
    int cpu = nth_cpu(_i);
    ck_assert(serve_short(caller_on_cpu(cpu)));
    ck_assert(!pool_is_plain(&pool));
    assert_bound_to(cpu);
}

TEST(slow_calls_and_large_reads_bind_none) {
    const uint32_t caller = (uint32_t)gettid();
    ck_assert(!serve_slow(caller));
    ck_assert(!serve(&worker, SOME_CALLS, &caller, 1, SHORT_NS, true));
    assert_plain();
}

TEST(more_callers_than_cpus_are_served_by_few_workers_on_any_cpu) {
    struct pool_worker others[64];
    unsigned joined = 0;
    if (!can_serve_many())
        return;
    ck_assert(serve_many(SHORT_NS));
    assert_few();
    for (unsigned i = 0; i < 64; i++) {
        others[i] = (struct pool_worker){.thread = gettid()};
        serve_many(SHORT_NS);
        joined += pool_join(&pool, &others[i]);
    }
    ck_assert_uint_eq(joined + 1, pool.home.cpu_count / 2);
    assert_few();
}

TEST(few_workers_are_bound_when_callers_are_few_again) {
    if (!can_serve_many())
        return;
    ck_assert(serve_many(SHORT_NS));
    ck_assert(serve_short(caller_on_cpu(nth_cpu(0))));
    assert_bound_to(nth_cpu(0));
}

TEST(slow_calls_of_many_make_workers_plain) {
    if (!can_serve_many())
        return;
    ck_assert(serve_many(SHORT_NS));
    ck_assert(!serve_many(SLOW_NS));
    assert_plain();
}

TEST(callers_that_cannot_be_seen_bind_none) {
    const uint32_t nobody = UINT32_MAX;
    ck_assert(!serve_short(nobody));
    ck_assert(!serve_short(0)); /* the kernel's own */
    assert_plain();
}

TEST(none_is_bound_where_that_is_not_wanted) {
    pool_init(&pool, &test_clock, false);
    ck_assert(!serve_short((uint32_t)gettid()));
    ck_assert_uint_eq(pool_now(&pool), 0);
    assert_plain();
}

TEST(none_is_bound_where_there_is_one_cpu) {
    const struct scheduling_home home = pool.home;
    scheduling_bind(gettid(), nth_cpu(0));
    scheduling_restore(&(struct scheduling_home){.cpu_count = 1}, gettid()); /* to the class, with no CPUs to go to */
    pool_init(&pool, &test_clock, true);
    ck_assert_uint_eq(pool.home.cpu_count, 1);
    ck_assert(!can_bind());
    scheduling_restore(&home, gettid());
    pool.home = home;
}

TEST(caller_that_moves_is_followed) {
    if (!can_bind())
        return;
    bind_to_first_cpu();
    ck_assert(!serve_short(caller_on_cpu(nth_cpu(1))));
    assert_bound_to(nth_cpu(1));
}

TEST(second_caller_brings_a_worker_to_its_cpu) {
    struct pool_worker second = {.thread = gettid()};
    if (!can_bind())
        return;
    ck_assert(!pool_join(&pool, &second));
    ck_assert(serve_two(caller_on_cpu(nth_cpu(0)), caller_on_cpu(nth_cpu(1))));
    if (!pool_wants_worker(&pool)) /* seen when the first was bound, or a window later */
        ck_assert(serve_two(caller_on_cpu(nth_cpu(0)), caller_on_cpu(nth_cpu(1))));
    ck_assert(pool_wants_worker(&pool));
    ck_assert(pool_join(&pool, &second));
    ck_assert(!pool_wants_worker(&pool));
    ck_assert_int_ne(second.cpu, worker.cpu);
    assert_bound_to(second.cpu);
    ck_assert(!pool_join(&pool, &second)); /* once */
}

TEST(worker_whose_caller_went_where_another_is_leaves) {
    struct pool_worker second = {.thread = gettid()};
    if (!can_bind())
        return;
    bind_to_first_cpu();
    pool.offered = nth_cpu(1);
    ck_assert(pool_join(&pool, &second));
    const uint32_t caller = caller_on_cpu(nth_cpu(0));
    ck_assert(!serve(&second, SOME_CALLS, &caller, 1, SHORT_NS, false));
    ck_assert(!pool_worker_is_chosen(&second));
    ck_assert(pool_worker_is_chosen(&worker));
    ck_assert(!pool_is_plain(&pool));
    ck_assert(!serve_short(caller)); /* the last one stays */
    ck_assert(pool_worker_is_chosen(&worker));
}

/* ---- Being plain again ---- */

TEST(slow_calls_make_workers_plain_for_a_pause) {
    if (!can_bind())
        return;
    bind_to_first_cpu();
    const uint32_t caller = (uint32_t)gettid();
    serve_slow(caller);
    assert_plain();
    uint64_t waited_ns = pause_ns(caller);
    ck_assert_uint_ge(waited_ns, 5000000);
    ck_assert_uint_lt(waited_ns, 10 * (uint64_t)NS_PER_S);
}

/* Each time was soon over. */
TEST(pauses_become_longer_up_to_a_second) {
    uint64_t waited_ns = 0;
    if (!can_bind())
        return;
    const uint32_t caller = (uint32_t)gettid();
    bind_to_first_cpu();
    for (int i = 0; i < 8; i++) {
        serve_slow(caller);
        waited_ns = pause_ns(caller);
    }
    ck_assert_uint_ge(waited_ns, NS_PER_S / 2);
    ck_assert_uint_le(waited_ns, 10 * (uint64_t)NS_PER_S);
}

TEST(a_few_slow_calls_change_nothing) {
    if (!can_bind())
        return;
    bind_to_first_cpu();
    const uint32_t caller = (uint32_t)gettid();
    for (int i = 0; i < 20; i++) {
        serve(&worker, 1, &caller, 1, SLOW_NS, false);
        serve(&worker, 30, &caller, 1, SHORT_NS, false);
    }
    ck_assert(pool_worker_is_chosen(&worker));
}

TEST(bound_workers_are_few_on_any_cpu_when_callers_become_many) {
    if (!can_serve_many())
        return;
    bind_to_first_cpu();
    ck_assert(serve_many(SHORT_NS));
    assert_few();
}

/* Serves calls of one caller; whenever the worker is to look, others wait, or not. */
static void serve_one_of_others(uint32_t caller, bool others_wait) {
    for (int i = 0; i < SOME_CALLS; i++) {
        bool looks = pool_is_to_check(&worker);
        const struct pool_call call = {.caller = caller, .work_cycles = SHORT_NS, .has_others = looks && others_wait};
        pool_take(&worker);
        pool_answer(&worker);
        if (pool_note(&pool, &worker, &call))
            pool_review(&pool, &worker);
    }
}

TEST(caller_with_several_requests_at_a_time_makes_workers_plain) {
    const uint32_t caller = (uint32_t)gettid();
    if (!can_bind())
        return;
    bind_to_first_cpu();
    serve_one_of_others(caller, false);
    ck_assert(pool_worker_is_chosen(&worker));
    serve_one_of_others(caller, true);
    assert_plain();
}

TEST(waiting_requests_are_seen) {
    ck_assert(!pool_requests_wait(device_fd));
    ck_assert_int_eq(eventfd_write(device_fd, 1), 0);
    ck_assert(pool_requests_wait(device_fd));
}

TEST(a_call_that_hangs_makes_workers_plain) {
    if (!can_bind())
        return;
    bind_to_first_cpu();
    pool_take(&worker);
    ck_assert(!pool_tick(&pool, device_fd)); /* it has moved */
    ck_assert(pool_tick(&pool, device_fd));
    assert_plain();
}

TEST(a_worker_without_a_cpu_makes_all_plain) {
    if (!can_bind())
        return;
    bind_to_first_cpu();
    ck_assert(!pool_tick(&pool, device_fd));
    ck_assert(!pool_tick(&pool, device_fd));
    ck_assert_int_eq(eventfd_write(device_fd, 1), 0); /* a request that the worker never takes */
    ck_assert(pool_tick(&pool, device_fd));
    assert_plain();
}

/* Who was answered takes the CPU of the worker, as is intended. */
TEST(a_caller_that_goes_on_for_long_changes_nothing) {
    if (!can_bind())
        return;
    bind_to_first_cpu();
    pool_take(&worker);
    pool_answer(&worker);
    for (int i = 0; i < 7; i++)
        ck_assert(!pool_tick(&pool, device_fd));
    ck_assert(pool_worker_is_chosen(&worker));
}

TEST(without_requests_workers_are_plain_but_ready) {
    int ticks = 0;
    if (!can_bind())
        return;
    bind_to_first_cpu();
    while (!pool_tick(&pool, device_fd))
        ck_assert_int_lt(++ticks, 1000);
    assert_plain();
    ck_assert(serve_short((uint32_t)gettid())); /* at once */
}

TEST(stopped_it_binds_none_any_more) {
    if (!can_bind())
        return;
    bind_to_first_cpu();
    pool_stop(&pool);
    assert_plain();
    ck_assert(!serve_short((uint32_t)gettid()));
    assert_plain();
}

TEST(worker_made_plain_before_it_enters_is_scheduled_so) {
    const uint32_t caller = (uint32_t)gettid();
    bool wakes = false;
    if (!can_bind())
        return;
    for (int i = 0; i < SOME_CALLS && !wakes; i++) {
        const struct pool_call call = {.caller = caller, .work_cycles = SHORT_NS};
        pool_take(&worker);
        wakes = pool_note(&pool, &worker, &call) && pool_review(&pool, &worker);
    }
    ck_assert(wakes);
    pool_stop(&pool);
    pool_enter(&pool, &worker);
    assert_plain();
}

/* ---- Threads ---- */

static void *look_at_oneself(void *ret_class) {
    *(int *)ret_class = sched_getscheduler(0);
    return NULL;
}

TEST(threads_can_be_started_as_at_home) {
    pthread_attr_t attr;
    pthread_t thread;
    int class = -1;
    if (!can_bind())
        return;
    scheduling_bind(gettid(), nth_cpu(0));
    pthread_attr_init(&attr);
    scheduling_set_home(&pool.home, &attr);
    ck_assert_int_eq(pthread_create(&thread, &attr, look_at_oneself, &class), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    ck_assert_int_eq(class, SCHED_OTHER);
}

TEST(cpu_of_a_thread_is_the_one_that_it_runs_on, .to = 2) {
    if (!has_cpu(_i))
        return;
    int cpu = nth_cpu(_i);
    ck_assert_int_eq(scheduling_cpu_of(caller_on_cpu(cpu)), cpu);
    ck_assert_int_eq(scheduling_cpu_of(UINT32_MAX), -1);
}
