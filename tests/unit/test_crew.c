/* When a crew begins, grows, shrinks and ends, and what it does to the threads in it. All members are this thread. */
#include "crew.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHORT_CYCLES 1000U
#define AT_ONCE 100U

static struct crew crew;
static struct aggstats_clock test_clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1000000000};
static int device_fd; /* readable: a request waits */

static int class_now(void) {
    return sched_getscheduler(0);
}

static bool is_first(void) {
    return class_now() == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) < crew.home.nice;
}

static void set_up(void) {
    crew_init(&crew, &test_clock, true);
    crew.most = 2; /* wherever this runs */
    crew.crowd = UINT32_MAX;
    device_fd = eventfd(0, EFD_NONBLOCK);
    ck_assert_int_ge(device_fd, 0);
}

static void tear_down(void) {
    cpu_go_home(&crew.home, 0);
    crew_finish(&crew);
    close(device_fd);
}

static void request_waits(void) {
    ck_assert_int_eq(eventfd_write(device_fd, 1), 0);
}

static void no_request_waits(void) {
    eventfd_t none;
    eventfd_read(device_fd, &none);
}

/* A thread that sleeps on a CPU other than `cpu`; 0 where there is none. It ends with the test's process. */
static void *sleep_there(void *ret_thread) {
    __atomic_store_n((uint32_t *)ret_thread, (uint32_t)gettid(), __ATOMIC_RELEASE);
    pause();
    return NULL;
}

static uint32_t caller_not_on(int cpu) {
    static uint32_t id;
    pthread_attr_t attr;
    pthread_t thread;
    cpu_set_t others = crew.home.cpus;
    CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) == 0)
        return 0;
    pthread_attr_init(&attr);
    pthread_attr_setaffinity_np(&attr, sizeof(others), &others);
    ck_assert_int_eq(pthread_create(&thread, &attr, sleep_there, &id), 0);
    while (__atomic_load_n(&id, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    pthread_attr_destroy(&attr);
    return id;
}

static struct crew_member new_worker(void) {
    return (struct crew_member){.thread = gettid()};
}

/* Returns whether one more worker was asked for. */
static bool serve(struct crew_member *worker, int count, const uint32_t *callers, int caller_count,
                  uint64_t wait_cycles, uint64_t work_cycles) {
    bool one_more = false;
    for (int i = 0; i < count; i++) {
        struct crew_call call = {callers[i % caller_count], wait_cycles, work_cycles, .is_ahead = false};
        crew_take(worker);
        crew_answer(worker, device_fd);
        enum crew_need need = crew_done(&crew, worker, &call);
        if (need == CREW_NEEDS_LOOKS)
            crew_enter(&crew, worker);
        one_more |= need == CREW_NEEDS_RECEIVER;
    }
    return one_more;
}

static bool serve_one_caller(struct crew_member *worker, int count) {
    const uint32_t caller = (uint32_t)gettid();
    return serve(worker, count, &caller, 1, AT_ONCE, SHORT_CYCLES);
}

static bool serve_with(struct crew_member *worker, uint32_t other, int count) {
    const uint32_t callers[] = {(uint32_t)gettid(), other};
    return serve(worker, count, callers, 2, AT_ONCE, SHORT_CYCLES);
}

/* One that is no thread, and no other's bit (struct crew_member). */
static uint32_t another_caller(void) {
    return UINT32_MAX - 63 + (uint32_t)(gettid() + 1) % 64;
}

/* More callers than the crew may have members. */
static bool serve_crowd(struct crew_member *worker, int count) {
    const uint32_t callers[] = {(uint32_t)gettid(), (uint32_t)gettid() + 1, (uint32_t)gettid() + 2,
                                (uint32_t)gettid() + 3};
    return serve(worker, count, callers, 4, AT_ONCE, SHORT_CYCLES);
}

static bool serve_slowly(struct crew_member *worker, int count) {
    const uint32_t caller = (uint32_t)gettid();
    return serve(worker, count, &caller, 1, AT_ONCE, 1000000);
}

static bool serve_rarely(struct crew_member *worker, int count) {
    const uint32_t caller = (uint32_t)gettid();
    return serve(worker, count, &caller, 1, 1000000, SHORT_CYCLES);
}

static void let_join(struct crew_member *second) {
    crew.wanted = 2;
    ck_assert(crew_join(&crew, second));
}

START_TEST(short_calls_begin_one) {
    struct crew_member worker = new_worker();
    ck_assert(!serve_one_caller(&worker, 10));
    ck_assert(!crew_exists(&crew));
    serve_one_caller(&worker, 100);
    ck_assert(crew_has(&worker));
    ck_assert_uint_eq(crew.count, 1);
    ck_assert_int_eq(class_now(), SCHED_IDLE);
}
END_TEST

START_TEST(crowded_cpus_begin_none) {
    struct crew_member worker = new_worker();
    ck_assert_uint_ge(cpu_wanting_threads(), 1);
    crew.crowd = 0; /* this thread is one too many */
    serve_one_caller(&worker, 1000);
    ck_assert(!crew_exists(&crew));
}
END_TEST

START_TEST(slow_calls_begin_none) {
    struct crew_member worker = new_worker();
    serve_slowly(&worker, 1000);
    ck_assert(!crew_exists(&crew));
    ck_assert_int_eq(class_now(), SCHED_OTHER);
}
END_TEST

static void assert_none_begins(bool allowed) {
    struct crew plain;
    struct crew_member worker = new_worker();
    const struct crew_call call = {1, AT_ONCE, SHORT_CYCLES};
    crew_init(&plain, &test_clock, allowed);
    for (int i = 0; i < 1000; i++) {
        crew_take(&worker);
        ck_assert_int_eq(crew_done(&plain, &worker, &call), CREW_NEEDS_NOTHING);
    }
    ck_assert(!crew_exists(&plain));
    crew_finish(&plain);
}

START_TEST(none_where_it_is_not_allowed) {
    assert_none_begins(false);
}
END_TEST

START_TEST(none_where_there_is_one_cpu) {
    cpu_move(0, sched_getcpu());
    assert_none_begins(true);
}
END_TEST

START_TEST(large_reads_begin_none) {
    struct crew_member worker = new_worker();
    const struct crew_call call = {1, AT_ONCE, SHORT_CYCLES, .is_ahead = true};
    for (int i = 0; i < 1000; i++) {
        crew_take(&worker);
        crew_answer(&worker, device_fd);
        crew_done(&crew, &worker, &call);
    }
    ck_assert(!crew_exists(&crew));
    serve_one_caller(&worker, 1000);
    ck_assert(crew_exists(&crew));
}
END_TEST

START_TEST(slow_calls_end_it_and_the_next_waits) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    ck_assert(crew_has(&worker));
    ck_assert(!serve_slowly(&worker, 100)); /* it takes the next itself */
    ck_assert(!crew_has(&worker));
    ck_assert(!crew_exists(&crew));
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    crew.again_cycles = aggstats_clock_now(test_clock.kind) + UINT64_C(3600000000000);
    serve_one_caller(&worker, 1000);
    ck_assert(!crew_exists(&crew));
    crew.again_cycles = 0;
    serve_one_caller(&worker, 100);
    ck_assert(crew_exists(&crew));
}
END_TEST

START_TEST(early_ends_make_longer_pauses) {
    struct crew_member worker = new_worker();
    uint64_t last_cycles = 0;
    for (int i = 0; i < 5; i++) {
        crew.again_cycles = 0;
        serve_one_caller(&worker, 200);
        ck_assert(crew_has(&worker));
        serve_slowly(&worker, 100);
        ck_assert_uint_gt(crew.pause_cycles, last_cycles);
        last_cycles = crew.pause_cycles;
    }
    crew.again_cycles = 0;
    serve_one_caller(&worker, 10000);
    serve_slowly(&worker, 100);
    ck_assert_uint_lt(crew.pause_cycles, last_cycles);
}
END_TEST

START_TEST(a_caller_on_another_cpu_brings_a_second_member) {
    struct crew_member first = new_worker();
    struct crew_member second = new_worker();
    serve_one_caller(&first, 100);
    ck_assert(!crew_join(&crew, &second)); /* one is enough */
    uint32_t other = caller_not_on(first.cpu);
    if (!other)
        return; /* one CPU */
    ck_assert(serve_with(&first, other, 100));
    ck_assert(!serve_with(&first, other, 1000)); /* has asked already */
    ck_assert(crew_join(&crew, &second));
    ck_assert_uint_eq(crew.count, 2);
    ck_assert(!serve_with(&first, other, 300)); /* as many as may be */
    ck_assert_uint_eq(crew.count, 2);
    ck_assert(!serve_with(&first, other, 3000)); /* still not enough */
    ck_assert(crew_exists(&crew));
}
END_TEST

/* With two callers; until it takes that manner. */
static void look_until(struct crew_member *worker, enum crew_manner manner) {
    for (int looks = 0; crew.manner != manner; looks++) {
        ck_assert_int_lt(looks, 10000);
        serve_with(worker, another_caller(), 100);
        ck_assert(!crew_look(&crew, device_fd));
    }
}

START_TEST(several_callers_are_served_in_both_manners) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    for (int i = 0; i < 100; i++) {
        serve_one_caller(&worker, 100);
        crew_look(&crew, device_fd);
        ck_assert_int_eq(class_now(), SCHED_IDLE); /* one is not */
    }
    look_until(&worker, CREW_GOES_FIRST);
    ck_assert(is_first());
    look_until(&worker, CREW_GIVES_WAY);
    ck_assert_int_eq(class_now(), SCHED_IDLE);
    look_until(&worker, CREW_GOES_FIRST);
    for (int i = 0; i < 10; i++) {
        serve_one_caller(&worker, 100);
        crew_look(&crew, device_fd);
    }
    ck_assert_int_eq(class_now(), SCHED_IDLE);
}
END_TEST

/* By turns. */
static void serve_callers(struct crew_member *worker, int callers, int count, bool on_names) {
    for (int i = 0; i < count; i++) {
        struct crew_call call = {1 + (uint32_t)(i % callers), AT_ONCE, SHORT_CYCLES, .is_on_name = on_names};
        crew_take(worker);
        crew_answer(worker, device_fd);
        if (crew_done(&crew, worker, &call) == CREW_NEEDS_LOOKS)
            crew_enter(&crew, worker);
    }
}

/* One more than there are CPUs. */
static void serve_many(struct crew_member *worker, int count, bool on_names) {
    serve_callers(worker, CPU_COUNT(&crew.home.cpus) + 1, count, on_names);
}

START_TEST(more_callers_than_cpus_begin_one_that_is_soon_tried) {
    struct crew_member worker = new_worker();
    if (CPU_COUNT(&crew.home.cpus) > 15) {
        fprintf(stderr, "SKIP: on so many CPUs a worker that begins one has not heard more callers\n");
        return;
    }
    serve_many(&worker, 100, false);
    ck_assert(crew_has(&worker));
    ck_assert_int_eq(class_now(), SCHED_IDLE);
    for (int looks = 0; crew.manner != CREW_GOES_FIRST; looks++) {
        ck_assert_int_lt(looks, 100);
        serve_many(&worker, 100, false);
        ck_assert(!crew_look(&crew, device_fd));
    }
    ck_assert(is_first());
}
END_TEST

START_TEST(more_than_two_for_each_cpu_make_it_go_first_in_a_while) {
    struct crew_member worker = new_worker();
    int callers = 2 * CPU_COUNT(&crew.home.cpus) + 1;
    if (callers > 32) {
        fprintf(stderr, "SKIP: on so many CPUs that is more callers than a window tells apart\n");
        return;
    }
    serve_one_caller(&worker, 100);
    ck_assert(!crew_look(&crew, device_fd));
    serve_with(&worker, another_caller(), 100);
    ck_assert(!crew_look(&crew, device_fd));
    if (CPU_COUNT(&crew.home.cpus) > 1)
        ck_assert_int_eq(class_now(), SCHED_IDLE);
    for (int looks = 0; looks < 5; looks++) {
        serve_callers(&worker, callers, 200, false);
        ck_assert(!crew_look(&crew, device_fd));
    }
    ck_assert(is_first());
    for (int looks = 0; looks < 5; looks++) {
        serve_one_caller(&worker, 200);
        ck_assert(!crew_look(&crew, device_fd));
    }
    ck_assert_int_eq(class_now(), SCHED_IDLE);
}
END_TEST

START_TEST(more_than_two_for_each_cpu_are_gone_before) {
    struct crew_member worker = new_worker();
    int callers = 2 * CPU_COUNT(&crew.home.cpus) + 1;
    if (callers > 32) {
        fprintf(stderr, "SKIP: on so many CPUs that is more callers than a window tells apart\n");
        return;
    }
    serve_callers(&worker, callers, 200, false);
    for (int looks = 0; looks < 100; looks++) {
        ck_assert(!crew_look(&crew, device_fd));
        ck_assert(looks < 10 || is_first());
        serve_callers(&worker, callers, 200, false);
    }
}
END_TEST

START_TEST(many_callers_in_directories_are_given_way_to) {
    struct crew_member worker = new_worker();
    serve_many(&worker, 100, true);
    ck_assert(crew_has(&worker));
    for (int looks = 0; looks < 100; looks++) {
        ck_assert_int_eq(class_now(), SCHED_IDLE);
        serve_many(&worker, 100, true);
        ck_assert(!crew_look(&crew, device_fd));
    }
}
END_TEST

START_TEST(crowded_cpus_begin_one_that_goes_first_for_several_callers) {
    struct crew_member worker = new_worker();
    crew.crowd = 0;
    serve_with(&worker, another_caller(), 100);
    ck_assert(crew_has(&worker));
    ck_assert(is_first());
    crew_disband(&crew);
    ck_assert(!is_first());
    ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), crew.home.nice);
}
END_TEST

START_TEST(one_that_joins_takes_the_manner_of_the_crew) {
    struct crew_member first = new_worker();
    struct crew_member second = new_worker();
    serve_one_caller(&first, 100);
    look_until(&first, CREW_GOES_FIRST);
    ck_assert(serve_with(&first, another_caller(), 100)); /* wherever its callers are */
    cpu_go_home(&crew.home, 0);
    ck_assert(crew_join(&crew, &second));
    ck_assert(is_first());
}
END_TEST

/* Calls of so many callers, each of which waits for something. */
static void serve_waiting(struct crew_member *worker, int caller_count) {
    const struct timespec moment = {.tv_nsec = 1000};
    for (int i = 0; i < 64; i++) {
        struct crew_call call = {1 + (uint32_t)(i % caller_count), AT_ONCE, SHORT_CYCLES};
        crew_take(worker);
        nanosleep(&moment, NULL);
        crew_answer(worker, device_fd);
        crew_done(&crew, worker, &call);
    }
}

START_TEST(calls_that_wait_for_something_while_others_do_for_them_end_it) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 16); /* a window begins */
    ck_assert(crew_has(&worker));
    serve_waiting(&worker, 1);
    serve_waiting(&worker, 2);
    ck_assert(crew_has(&worker)); /* more workers would have nothing to do */
    request_waits();
    serve_one_caller(&worker, 64);
    ck_assert(crew_has(&worker)); /* they would not have it done sooner */
    serve_waiting(&worker, 1);
    ck_assert(!crew_has(&worker));
    ck_assert(!crew_exists(&crew));
}
END_TEST

/* By more than this thread may be kept from its CPU for. */
static void serve_better_in(struct crew_member *worker, enum crew_manner manner) {
    if (crew.manner != manner)
        usleep(5000);
    serve_one_caller(worker, 100);
}

static void serve_beside_others(struct crew_member *worker) {
    struct crew_call call = {(uint32_t)gettid(), 1000000, SHORT_CYCLES, .is_beside = true};
    crew_take(worker);
    crew_answer(worker, device_fd);
    crew_done(&crew, worker, &call);
}

/* One caller. */
static void look_at_queue_until(struct crew_member *worker, enum crew_manner manner) {
    for (int looks = 0; crew.manner != manner; looks++) {
        ck_assert_int_lt(looks, 10000);
        serve_one_caller(worker, 100);
        ck_assert(!crew_look(&crew, device_fd));
    }
}

START_TEST(a_queue_is_found_soon) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 16); /* a window begins */
    request_waits();
    serve_one_caller(&worker, 64);
    ck_assert(!crew_look(&crew, device_fd));
    ck_assert_int_eq(crew.company, CREW_HAS_QUEUE);
    ck_assert_int_eq(crew.manner, CREW_IS_FREE);
}
END_TEST

START_TEST(a_queue_of_one_caller_is_served_by_a_few_if_that_is_better) {
    struct crew_member first = new_worker();
    struct crew_member second = new_worker();
    serve_one_caller(&first, 100);
    request_waits();
    look_at_queue_until(&first, CREW_IS_FREE);
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    ck_assert(serve_one_caller(&first, 100)); /* one more */
    ck_assert(crew_join(&crew, &second));
    serve_one_caller(&second, 1000);
    ck_assert(crew_has(&second));
    ck_assert_int_eq(first.cpu, -1);
    ck_assert_int_eq(second.cpu, -1);
    no_request_waits(); /* they leave none */
    for (int looks = 0; looks < 5; looks++) {
        serve_one_caller(&first, 100);
        serve_one_caller(&second, 100);
        ck_assert(!crew_look(&crew, device_fd));
    }
    ck_assert_int_eq(crew.company, CREW_HAS_QUEUE);
    ck_assert_int_eq(crew.manner, CREW_IS_FREE);
    request_waits();
    while (crew.manner != CREW_GIVES_WAY) {
        serve_better_in(&second, CREW_GIVES_WAY);
        ck_assert(!crew_look(&crew, device_fd));
    }
    serve_one_caller(&first, 100);
    serve_one_caller(&second, 100);
    ck_assert_uint_eq(crew.count, 1); /* where the caller is */
    no_request_waits();
    do {
        ck_assert_int_eq(crew.company, CREW_HAS_QUEUE); /* while it is tried: who is left has yet to see it */
        serve_better_in(crew.members[0], CREW_GIVES_WAY);
        ck_assert(!crew_look(&crew, device_fd));
    } while (crew.trial.step > 0);
    for (int looks = 0; looks < 20; looks++) {
        serve_one_caller(crew.members[0], 100);
        ck_assert(!crew_look(&crew, device_fd));
    }
    ck_assert_int_eq(crew.company, CREW_HAS_ONE);
    ck_assert_int_eq(crew.manner, CREW_GIVES_WAY);
}
END_TEST

static void let_a_queue_end_it(struct crew_member *worker) {
    serve_one_caller(worker, 100);
    request_waits();
    for (int looks = 0; crew_exists(&crew); looks++) {
        ck_assert_int_lt(looks, 1000);
        serve_better_in(worker, CREW_IS_FREE);
        serve_rarely(worker, 100); /* as a member */
        ck_assert_int_eq(crew_look(&crew, device_fd), !crew_exists(&crew));
    }
    no_request_waits();
}

START_TEST(a_queue_that_is_served_best_without_one_ends_it) {
    struct crew_member worker = new_worker();
    let_a_queue_end_it(&worker);
    ck_assert(!crew_has(&worker));
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    for (int i = 0; i < 100; i++) { /* some need not be waited for */
        serve_rarely(&worker, 20);
        serve_one_caller(&worker, 20);
    }
    ck_assert(!crew_exists(&crew));
    for (int i = 0; i < 100; i++) { /* others are at work meanwhile */
        serve_rarely(&worker, 20);
        serve_beside_others(&worker);
    }
    ck_assert(!crew_exists(&crew));
    crew.queue_cycles = 0; /* a while later */
    serve_one_caller(&worker, 100);
    ck_assert(crew_exists(&crew));
}
END_TEST

START_TEST(after_a_queue_one_begins_soon_for_who_waits) {
    struct crew_member worker = new_worker();
    let_a_queue_end_it(&worker);
    serve_rarely(&worker, 100);
    ck_assert(crew_exists(&crew));
}
END_TEST

START_TEST(a_queue_that_is_given_way_to_keeps_it) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    request_waits();
    for (int trials = 0; trials < 3; trials++) {
        bool is_tried = false;
        for (int looks = 0; !is_tried || crew.trial.step > 0; looks++) {
            ck_assert_int_lt(looks, 10000);
            serve_better_in(&worker, CREW_GIVES_WAY);
            ck_assert(!crew_look(&crew, device_fd));
            is_tried |= crew.trial.step > 0;
        }
        ck_assert_int_eq(crew.trial.settled, CREW_GIVES_WAY);
    }
    ck_assert_int_eq(crew.company, CREW_HAS_QUEUE);
}
END_TEST

/* Not tried once more, for a while. */
START_TEST(the_next_queue_ends_it_at_once) {
    struct crew_member worker = new_worker();
    let_a_queue_end_it(&worker);
    uint64_t in_a_while = aggstats_clock_now(test_clock.kind) + 2 * test_clock.frequency_hz;
    ck_assert_uint_gt(crew.queue_cycles, in_a_while); /* since that was clear */
    for (int i = 0; i < 2; i++) {
        serve_rarely(&worker, 100);
        ck_assert(crew_exists(&crew));
        request_waits();
        serve_one_caller(&worker, 256);
        ck_assert(crew_look(&crew, device_fd));
        no_request_waits();
        crew.queue_cycles = i == 0 ? crew.queue_cycles : 0; /* a while later */
    }
    serve_rarely(&worker, 100);
    request_waits();
    serve_one_caller(&worker, 256);
    ck_assert(!crew_look(&crew, device_fd));
}
END_TEST

START_TEST(after_a_queue_one_begins_at_once_for_several_callers) {
    struct crew_member worker = new_worker();
    let_a_queue_end_it(&worker);
    serve_with(&worker, another_caller(), 32);
    ck_assert(crew_exists(&crew));
}
END_TEST

START_TEST(more_members_than_cpus_stay_while_they_are_free) {
    struct crew_member members[CREW_MAX];
    unsigned count = 1;
    members[0] = new_worker();
    serve_one_caller(&members[0], 100);
    request_waits();
    look_at_queue_until(&members[0], CREW_IS_FREE);
    while (serve_one_caller(&members[0], 100)) {
        ck_assert_uint_lt(count, CREW_MAX);
        members[count] = new_worker();
        ck_assert(crew_join(&crew, &members[count++]));
    }
    ck_assert_uint_gt(count, crew.most);
    while (crew.manner != CREW_GIVES_WAY) {
        serve_one_caller(&members[0], 100);
        ck_assert(!crew_look(&crew, device_fd));
    }
    for (unsigned index = 0; index < count; index++)
        serve_one_caller(&members[index], 100);
    ck_assert_uint_le(crew.count, crew.most);
    ck_assert(crew_exists(&crew));
}
END_TEST

/* Nothing but chance keeps it from the CPU of the caller later. */
START_TEST(free_members_begin_away_from_the_caller) {
    int bound;
    int tries = 0;
    if (CPU_COUNT(&crew.home.cpus) < 2)
        return;
    do {
        struct crew_member worker = new_worker();
        ck_assert_int_lt(tries++, 10);
        serve_one_caller(&worker, 100);
        bound = worker.cpu;
        ck_assert_int_ge(bound, 0);
        request_waits();
        look_at_queue_until(&worker, CREW_IS_FREE);
        serve_one_caller(&worker, 1);
        crew_disband(&crew);
        crew.most = 2;
    } while (sched_getcpu() == bound);
    cpu_leave(&crew.home, 0, bound);
    ck_assert_int_ne(sched_getcpu(), bound);
}
END_TEST

START_TEST(free_members_may_be_slow) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    request_waits();
    look_at_queue_until(&worker, CREW_IS_FREE);
    serve_slowly(&worker, 200); /* they share the CPUs with their caller */
    ck_assert(crew_has(&worker));
    while (crew.manner != CREW_GIVES_WAY) {
        serve_slowly(&worker, 100);
        ck_assert(!crew_look(&crew, device_fd));
    }
    serve_slowly(&worker, 200);
    ck_assert(!crew_exists(&crew));
}
END_TEST

START_TEST(free_members_who_leave_requests_waiting_end_it) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    request_waits();
    look_at_queue_until(&worker, CREW_IS_FREE);
    ck_assert(!crew_look(&crew, device_fd)); /* they may be without a CPU for a while */
    for (int looks = 0; crew_exists(&crew); looks++) {
        ck_assert_int_lt(looks, 10);
        crew_look(&crew, device_fd);
    }
}
END_TEST

START_TEST(a_queue_now_and_then_is_none) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    for (int looks = 0; looks < 1000; looks++) {
        request_waits();
        serve_one_caller(&worker, 40);
        no_request_waits();
        serve_one_caller(&worker, 50);
        ck_assert(!crew_look(&crew, device_fd));
        ck_assert_int_eq(crew.manner, CREW_GIVES_WAY);
    }
    ck_assert_int_eq(crew.company, CREW_HAS_ONE);
}
END_TEST

START_TEST(callers_on_one_cpu_have_one_member) {
    struct crew_member first = new_worker();
    serve_one_caller(&first, 100);
    ck_assert(!serve_with(&first, another_caller(), 1000)); /* a thread that is no more counts for nothing */
    ck_assert_uint_eq(crew.wanted, 1);
}
END_TEST

START_TEST(one_with_little_to_do_leaves) {
    struct crew_member first = new_worker();
    struct crew_member second = new_worker();
    serve_one_caller(&first, 100);
    let_join(&second);
    crew.taken[first.cpu] = 0; /* as if its caller were elsewhere */
    serve_rarely(&second, 200);
    ck_assert(crew_has(&second)); /* not at once */
    serve_rarely(&second, 2000);
    ck_assert(!crew_has(&second));
    ck_assert_uint_eq(crew.count, 1);
    serve_rarely(&first, 5000);
    ck_assert(crew_has(&first)); /* the last stays */
    ck_assert(!crew_join(&crew, &second));
}
END_TEST

START_TEST(one_apart_from_its_callers_leaves_at_once) {
    struct crew_member first = new_worker();
    struct crew_member second = new_worker();
    serve_one_caller(&first, 100);
    let_join(&second);
    serve_rarely(&second, 100); /* where its caller is, the first is already */
    ck_assert(!crew_has(&second));
    ck_assert_uint_eq(crew.count, 1);
}
END_TEST

/* Its caller's CPU has a member, and would have none else to run there. */
START_TEST(one_that_is_busy_apart_from_its_callers_leaves_too) {
    struct crew_member first = new_worker();
    struct crew_member second = new_worker();
    serve_one_caller(&first, 100);
    let_join(&second);
    serve_one_caller(&second, 2000);
    ck_assert(crew_has(&second));
    serve_one_caller(&second, 4000);
    ck_assert(!crew_has(&second));
    ck_assert_uint_eq(crew.count, 1);
}
END_TEST

START_TEST(the_kernels_own_calls_are_nobodys) {
    struct crew_member worker = new_worker();
    const uint32_t callers[] = {(uint32_t)gettid(), 0};
    serve(&worker, 200, callers, 2, AT_ONCE, SHORT_CYCLES);
    ck_assert(crew_has(&worker));
    ck_assert(!serve(&worker, 1000, callers, 2, AT_ONCE, SHORT_CYCLES));
}
END_TEST

START_TEST(members_are_bound_to_different_cpus) {
    struct crew_member first = new_worker();
    struct crew_member second = new_worker();
    serve_one_caller(&first, 100);
    ck_assert_int_eq(first.cpu, sched_getcpu());
    let_join(&second);
    serve_one_caller(&second, 10);
    ck_assert_int_ne(second.cpu, first.cpu);
}
END_TEST

START_TEST(a_call_that_hangs_ends_it) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    ck_assert(!crew_look(&crew, device_fd));
    crew_take(&worker);
    ck_assert(!crew_look(&crew, device_fd)); /* it has just been taken */
    ck_assert(crew_look(&crew, device_fd));
    ck_assert(!crew_has(&worker));
    ck_assert_int_eq(class_now(), SCHED_OTHER);
}
END_TEST

START_TEST(a_caller_that_goes_on_at_once_does_not_end_it) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    crew_take(&worker);
    crew_answer(&worker, device_fd); /* and has no CPU: its caller has it */
    for (int i = 0; i < 5; i++)
        ck_assert(!crew_look(&crew, device_fd));
    ck_assert(crew_has(&worker));
    request_waits();
    ck_assert(crew_look(&crew, device_fd)); /* somebody else's */
}
END_TEST

static void starve_after(struct crew_member *worker, unsigned calls) {
    no_request_waits();
    serve_one_caller(worker, calls);
    ck_assert(crew_has(worker));
    request_waits();
    ck_assert(!crew_look(&crew, device_fd)); /* has worked since the last look */
    ck_assert(crew_look(&crew, device_fd));
    ck_assert(!crew_exists(&crew));
}

/* And has been before. */
static void starve(struct crew_member *worker) {
    crew.hunger_cycles = test_clock.frequency_hz;
    starve_after(worker, 1000);
}

static void wait_until_not_starved(void) {
    while (aggstats_clock_now(test_clock.kind) < crew.starved_cycles)
        usleep(1000);
}

START_TEST(being_without_a_cpu_once_is_soon_forgotten) {
    struct crew_member worker = new_worker();
    starve_after(&worker, 20000);
    ck_assert_uint_le(crew.hunger_cycles, test_clock.frequency_hz / 1000);
    wait_until_not_starved();
    serve_one_caller(&worker, 100);
    ck_assert(crew_has(&worker));
    ck_assert_int_eq(crew.manner, CREW_GIVES_WAY);
}
END_TEST

START_TEST(being_without_a_cpu_time_and_again_is_not) {
    struct crew_member worker = new_worker();
    for (unsigned i = 0; i < 5; i++) {
        starve_after(&worker, 100);
        ck_assert_uint_eq(crew.hunger_cycles, test_clock.frequency_hz / 1000 << i);
        wait_until_not_starved();
    }
    crew.hunger_cycles = UINT64_C(2) * test_clock.frequency_hz;
    starve_after(&worker, 100);
    ck_assert_uint_eq(crew.hunger_cycles, UINT64_C(2) * test_clock.frequency_hz);
}
END_TEST

START_TEST(one_caller_and_a_member_that_waits_are_calm) {
    struct crew_member worker = new_worker();
    for (int looks = 0; looks < 5; looks++) {
        ck_assert(!crew_is_calm(&crew));
        serve_one_caller(&worker, 100);
        ck_assert(!crew_look(&crew, device_fd));
    }
    if (crew.most > 1) { /* else the manners are tried */
        ck_assert(crew_is_calm(&crew));
        crew_take(&worker);
        ck_assert(!crew_look(&crew, device_fd));
        ck_assert(!crew_is_calm(&crew));
    }
    serve_crowd(&worker, 100);
    ck_assert(!crew_look(&crew, device_fd));
    ck_assert(!crew_is_calm(&crew));
}
END_TEST

START_TEST(after_a_member_without_a_cpu_the_next_is_alone_and_free) {
    struct crew_member worker = new_worker();
    struct crew_member second = new_worker();
    cpu_set_t now;
    starve(&worker);
    serve_crowd(&worker, 100);
    ck_assert(crew_has(&worker));
    for (int i = 0; i < 1000; i++) {
        serve_crowd(&worker, 100);
        ck_assert(!crew_look(&crew, device_fd)); /* it waits for the request that waits, as all threads do */
        ck_assert(!crew_look(&crew, device_fd));
        ck_assert_int_eq(crew.manner, CREW_IS_ALONE);
    }
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    ck_assert(!is_first());
    ck_assert_int_eq(sched_getaffinity(0, sizeof(now), &now), 0);
    ck_assert(CPU_EQUAL(&now, &crew.home.cpus));
    ck_assert_int_eq(worker.cpu, -1);
    ck_assert(!crew_join(&crew, &second));
    crew.starved_cycles = 0; /* over */
    serve_one_caller(&worker, 200);
    ck_assert(!crew_look(&crew, device_fd));
    ck_assert_int_eq(class_now(), SCHED_IDLE);
}
END_TEST

START_TEST(after_a_member_without_a_cpu_few_callers_have_none) {
    struct crew_member worker = new_worker();
    int looks = 1;
    starve(&worker);
    serve_one_caller(&worker, 1000);
    serve_with(&worker, another_caller(), 1000);
    ck_assert(!crew_exists(&crew));
    serve_crowd(&worker, 100);
    ck_assert(crew_exists(&crew));
    do
        serve_one_caller(&worker, 100);
    while (!crew_look(&crew, device_fd) && looks++ < 1000);
    ck_assert_int_gt(looks, 2); /* not at once */
    ck_assert_int_lt(looks, 1000);
    crew.starved_cycles = 0;
    serve_one_caller(&worker, 100);
    ck_assert(crew_exists(&crew));
}
END_TEST

START_TEST(one_alone_that_hangs_ends_it) {
    struct crew_member worker = new_worker();
    starve(&worker);
    serve_crowd(&worker, 100);
    crew_take(&worker);
    crew_look(&crew, device_fd);
    ck_assert_int_eq(crew.manner, CREW_IS_ALONE);
    worker.thread = (pid_t)caller_not_on(CPU_SETSIZE - 1); /* one that sleeps, sooner or later */
    for (int looks = 0; crew_exists(&crew); looks++) {
        ck_assert_int_lt(looks, 1000000);
        crew_look(&crew, device_fd);
    }
}
END_TEST

START_TEST(one_alone_in_a_long_call_ends_it) {
    struct crew_member worker = new_worker();
    int looks = 0;
    starve(&worker);
    serve_crowd(&worker, 100);
    crew_take(&worker);
    while (!crew_look(&crew, device_fd)) /* it has a CPU: it is looking */
        ck_assert_int_lt(looks++, 100);
    ck_assert_int_gt(looks, 3);
    ck_assert(!crew_exists(&crew));
}
END_TEST

START_TEST(all_but_one_leave_it_alone) {
    struct crew_member first = new_worker();
    struct crew_member second = new_worker();
    serve_one_caller(&first, 100);
    let_join(&second);
    crew.manner = CREW_IS_ALONE;
    serve_with(&first, another_caller(), 64);
    ck_assert(!crew_has(&first));
    serve_with(&second, another_caller(), 300);
    ck_assert(crew_has(&second));
    ck_assert_uint_eq(crew.count, 1);
    ck_assert_int_eq(second.cpu, -1);
}
END_TEST

START_TEST(no_requests_end_it_for_now) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    int looks = 1;
    while (!crew_look(&crew, device_fd))
        ck_assert_int_lt(looks++, 1000);
    ck_assert_int_gt(looks, 5);
    ck_assert(!crew_exists(&crew));
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    serve_one_caller(&worker, 100);
    ck_assert(crew_exists(&crew));
}
END_TEST

START_TEST(a_new_crew_is_to_be_looked_at) {
    struct crew_member worker = new_worker();
    const struct crew_call call = {(uint32_t)gettid(), AT_ONCE, SHORT_CYCLES};
    int begun = 0;
    for (int i = 0; i < 100; i++) {
        crew_take(&worker);
        begun += crew_done(&crew, &worker, &call) == CREW_NEEDS_LOOKS;
    }
    ck_assert_int_eq(begun, 1);
}
END_TEST

START_TEST(a_crew_that_is_disbanded_does_not_come_back) {
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    crew_disband(&crew);
    ck_assert(!crew_has(&worker));
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    serve_one_caller(&worker, 1000);
    ck_assert(!crew_exists(&crew));
}
END_TEST

START_TEST(an_ended_crew_leaves_all_cpus) {
    struct crew_member worker = new_worker();
    struct crew_member later = new_worker();
    serve_one_caller(&worker, 100);
    int cpu = worker.cpu;
    ck_assert_int_ge(cpu, 0);
    serve_slowly(&worker, 100);
    crew.again_cycles = 0;
    cpu_move(0, cpu);
    serve_one_caller(&later, 100);
    ck_assert_int_eq(later.cpu, cpu);
}
END_TEST

static void *tell_schedule(void *ret_home) {
    cpu_set_t now;
    sched_getaffinity(0, sizeof(now), &now);
    *(bool *)ret_home = class_now() == SCHED_OTHER && CPU_EQUAL(&now, &crew.home.cpus);
    return NULL;
}

START_TEST(threads_can_be_started_at_home) {
    pthread_attr_t attr;
    pthread_t thread;
    bool is_home = false;
    pthread_attr_init(&attr);
    cpu_set_home(&crew.home, &attr);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &crew.home.cpus))
            cpu_move(0, cpu);
    }
    cpu_go_idle(0);
    ck_assert_int_eq(pthread_create(&thread, &attr, tell_schedule, &is_home), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    ck_assert(is_home);
}
END_TEST

/* sched(7): "/autogroup-42 nice 0" */
static int group_nice_now(void) {
    int nice = INT_MIN;
    FILE *file = fopen("/proc/self/autogroup", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%*s nice %d", &nice), 1);
    fclose(file);
    return nice;
}

static void in_child(void (*test)(void)) {
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        test();
        _exit(EXIT_SUCCESS);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

/* In a child: it leads a session of its own. Returns false where the autogroup may not be changed all the same. */
static bool own_a_group(void) {
    setsid();
    set_up();
    if (crew.home.group_fd < 0)
        fprintf(stderr, "SKIP: no autogroup that may be changed, which takes CAP_SYS_ADMIN and several CPUs\n");
    return crew.home.group_fd >= 0;
}

static void rank_a_group(void) {
    if (!own_a_group())
        return;
    struct crew_member worker = new_worker();
    serve_one_caller(&worker, 100);
    ck_assert(!crew_look(&crew, device_fd));
    ck_assert_int_eq(class_now(), SCHED_IDLE);
    ck_assert_int_eq(group_nice_now(), crew.home.group_nice);
    serve_with(&worker, another_caller(), 100);
    ck_assert(!crew_look(&crew, device_fd));
    ck_assert_int_eq(class_now(), SCHED_IDLE);
    ck_assert_int_gt(group_nice_now(), crew.home.group_nice);
    look_until(&worker, CREW_GOES_FIRST);
    ck_assert_int_lt(group_nice_now(), crew.home.group_nice);
    look_until(&worker, CREW_IS_ALONE);
    ck_assert_int_lt(group_nice_now(), crew.home.group_nice);
    look_until(&worker, CREW_GIVES_WAY);
    ck_assert_int_gt(group_nice_now(), crew.home.group_nice);
    for (int i = 0; i < 10; i++) {
        serve_one_caller(&worker, 100);
        ck_assert(!crew_look(&crew, device_fd));
    }
    ck_assert_int_eq(group_nice_now(), crew.home.group_nice);
    look_until(&worker, CREW_GOES_FIRST);
    serve_slowly(&worker, 100);
    ck_assert(!crew_exists(&crew));
    ck_assert_int_eq(group_nice_now(), crew.home.group_nice);
    ck_assert(!crew_look(&crew, device_fd)); /* that was on its way when the crew ended */
    ck_assert_int_eq(group_nice_now(), crew.home.group_nice);
}

/* In a session of its own. */
static void leave_the_group_of_one_worker(void) {
    setsid();
    crew_init(&crew, &test_clock, false);
    ck_assert_int_lt(crew.home.group_fd, 0);
}

/* Whoever leads the session, it is not this one. */
static void leave_anothers_group(void) {
    set_up();
    ck_assert_int_lt(crew.home.group_fd, 0);
}

START_TEST(its_autogroup_gives_way_and_goes_first_as_it_does) {
    in_child(rank_a_group);
}
END_TEST

START_TEST(the_autogroup_is_left_alone_where_there_is_no_crew) {
    in_child(leave_the_group_of_one_worker);
}
END_TEST

START_TEST(the_autogroup_of_another_session_leader_is_left_alone) {
    in_child(leave_anothers_group);
}
END_TEST

START_TEST(cpu_of_a_thread_is_the_one_it_runs_on) {
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &crew.home.cpus))
            continue;
        cpu_move(0, cpu);
        ck_assert_int_eq(cpu_of_thread((uint32_t)gettid()), cpu);
    }
    ck_assert_int_eq(cpu_of_thread(UINT32_MAX), -1);
    ck_assert_int_eq(cpu_of_thread(0), -1);
}
END_TEST

START_TEST(home_is_where_one_was) {
    cpu_set_t now;
    cpu_go_idle(0);
    ck_assert_int_eq(class_now(), SCHED_IDLE);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &crew.home.cpus))
            cpu_move(0, cpu);
    }
    cpu_go_home(&crew.home, 0);
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    ck_assert_int_eq(pthread_getaffinity_np(pthread_self(), sizeof(now), &now), 0);
    ck_assert(CPU_EQUAL(&now, &crew.home.cpus));
}
END_TEST

static TCase *add_cases(Suite *suite, const char *name) {
    TCase *cases = tcase_create(name);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    suite_add_tcase(suite, cases);
    return cases;
}

static void add_beginnings(Suite *suite) {
    TCase *cases = add_cases(suite, "beginning");
    tcase_add_test(cases, short_calls_begin_one);
    tcase_add_test(cases, crowded_cpus_begin_none);
    tcase_add_test(cases, slow_calls_begin_none);
    tcase_add_test(cases, none_where_it_is_not_allowed);
    tcase_add_test(cases, none_where_there_is_one_cpu);
    tcase_add_test(cases, large_reads_begin_none);
    tcase_add_test(cases, slow_calls_end_it_and_the_next_waits);
    tcase_add_test(cases, early_ends_make_longer_pauses);
    tcase_add_test(cases, a_caller_on_another_cpu_brings_a_second_member);
    tcase_add_test(cases, several_callers_are_served_in_both_manners);
    tcase_add_test(cases, more_callers_than_cpus_begin_one_that_is_soon_tried);
    tcase_add_test(cases, more_than_two_for_each_cpu_make_it_go_first_in_a_while);
    tcase_add_test(cases, more_than_two_for_each_cpu_are_gone_before);
    tcase_add_test(cases, many_callers_in_directories_are_given_way_to);
    tcase_add_test(cases, crowded_cpus_begin_one_that_goes_first_for_several_callers);
    tcase_add_test(cases, one_that_joins_takes_the_manner_of_the_crew);
    tcase_add_test(cases, calls_that_wait_for_something_while_others_do_for_them_end_it);
}

static void add_queues(Suite *suite) {
    TCase *cases = add_cases(suite, "queue");
    tcase_add_test(cases, a_queue_is_found_soon);
    tcase_add_test(cases, a_queue_of_one_caller_is_served_by_a_few_if_that_is_better);
    tcase_add_test(cases, a_queue_that_is_served_best_without_one_ends_it);
    tcase_add_test(cases, after_a_queue_one_begins_soon_for_who_waits);
    tcase_add_test(cases, a_queue_that_is_given_way_to_keeps_it);
    tcase_add_test(cases, the_next_queue_ends_it_at_once);
    tcase_add_test(cases, after_a_queue_one_begins_at_once_for_several_callers);
    tcase_add_test(cases, more_members_than_cpus_stay_while_they_are_free);
    tcase_add_test(cases, free_members_begin_away_from_the_caller);
    tcase_add_test(cases, free_members_may_be_slow);
    tcase_add_test(cases, free_members_who_leave_requests_waiting_end_it);
    tcase_add_test(cases, a_queue_now_and_then_is_none);
}

static void add_members(Suite *suite) {
    TCase *cases = add_cases(suite, "members");
    tcase_add_test(cases, callers_on_one_cpu_have_one_member);
    tcase_add_test(cases, one_apart_from_its_callers_leaves_at_once);
    tcase_add_test(cases, one_that_is_busy_apart_from_its_callers_leaves_too);
    tcase_add_test(cases, one_with_little_to_do_leaves);
    tcase_add_test(cases, the_kernels_own_calls_are_nobodys);
    tcase_add_test(cases, members_are_bound_to_different_cpus);
}

static void add_looks(Suite *suite) {
    TCase *cases = add_cases(suite, "looks");
    tcase_add_test(cases, a_call_that_hangs_ends_it);
    tcase_add_test(cases, a_caller_that_goes_on_at_once_does_not_end_it);
    tcase_add_test(cases, being_without_a_cpu_once_is_soon_forgotten);
    tcase_add_test(cases, being_without_a_cpu_time_and_again_is_not);
    tcase_add_test(cases, one_caller_and_a_member_that_waits_are_calm);
    tcase_add_test(cases, after_a_member_without_a_cpu_the_next_is_alone_and_free);
    tcase_add_test(cases, after_a_member_without_a_cpu_few_callers_have_none);
    tcase_add_test(cases, one_alone_that_hangs_ends_it);
    tcase_add_test(cases, one_alone_in_a_long_call_ends_it);
    tcase_add_test(cases, all_but_one_leave_it_alone);
    tcase_add_test(cases, no_requests_end_it_for_now);
    tcase_add_test(cases, a_new_crew_is_to_be_looked_at);
    tcase_add_test(cases, a_crew_that_is_disbanded_does_not_come_back);
    tcase_add_test(cases, an_ended_crew_leaves_all_cpus);
}

static void add_places(Suite *suite) {
    TCase *cases = add_cases(suite, "places");
    tcase_add_test(cases, threads_can_be_started_at_home);
    tcase_add_test(cases, its_autogroup_gives_way_and_goes_first_as_it_does);
    tcase_add_test(cases, the_autogroup_is_left_alone_where_there_is_no_crew);
    tcase_add_test(cases, the_autogroup_of_another_session_leader_is_left_alone);
    tcase_add_test(cases, cpu_of_a_thread_is_the_one_it_runs_on);
    tcase_add_test(cases, home_is_where_one_was);
}

int main(void) {
    struct cpu_home home;
    cpu_find_home(&home);
    if (!home.idle_possible) {
        fprintf(stderr, "SKIP: no way back from SCHED_IDLE without CAP_SYS_NICE\n");
        return 77;
    }
    Suite *suite = suite_create("crew");
    add_beginnings(suite);
    add_queues(suite);
    add_members(suite);
    add_looks(suite);
    add_places(suite);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
