/* Signal handlers record calls while they interrupt a recording thread: each call is counted exactly once. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "aggstats.h"
#include "aggstats/joint_profiles.h"
#include "testing.h"

enum { OP_READ, OP_WRITE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE"};

#define HANDLED_MIN 211 /* signals for each thread */
#define WORKERS 2

static struct aggstats_recorder *recorder;
static __thread volatile sig_atomic_t handled; /* by this thread */
static volatile sig_atomic_t errno_changed;

static void record(unsigned op) {
    struct aggstats_span span = aggstats_begin(recorder, op, 1, 1);
    aggstats_joint_add(recorder, op, AGGSTATS_ERROR, 0, aggstats_end(recorder, &span));
}

/* ThreadSanitizer keeps signals back until the thread calls the C library. */
static void let_signals_in(void) {
#if defined(__SANITIZE_THREAD__)
    const struct timespec none = {0};
    nanosleep(&none, NULL);
#endif
}

static void handle(int number) {
    (void)number;
    int saved_errno = errno;
    record(OP_READ);
    record(OP_WRITE);
    handled++;
    if (errno != saved_errno)
        errno_changed = 1;
}

static void catch_signal(int number) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    ck_assert_int_eq(sigaction(number, &action, NULL), 0);
}

static void set_up(void) {
    const struct aggstats_recorder_options options = {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_set_joint(recorder, OP_READ, 1U << AGGSTATS_ERROR), 0);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
}

static void expect_op(const struct aggstats_profile *profile, const char *name, uint64_t calls) {
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, name);
    uint64_t finished = 0;
    ck_assert_ptr_nonnull(op);
    for (unsigned bucket = 0; bucket < 64; bucket++)
        finished += op->buckets[bucket];
    ck_assert_uint_eq(op->calls, calls);
    ck_assert_uint_eq(finished, calls);
}

static void expect_calls(uint64_t reads, uint64_t writes) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    expect_op(&profile, "READ", reads);
    expect_op(&profile, "WRITE", writes);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    ck_assert(!errno_changed);
    uint64_t joint_calls = 0;
    for (size_t at = 0; at < profile.joints[0].cell_count; at++)
        joint_calls += profile.joints[0].cells[at].count;
    ck_assert_uint_eq(joint_calls, reads);
    aggstats_profile_finish(&profile);
}

static void set_timer(long interval_us) {
    const struct itimerval timer = {.it_interval.tv_usec = interval_us, .it_value.tv_usec = interval_us};
    ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down, .seconds = 120);

TEST(timer_that_interrupts_recording_loses_no_call) {
    uint64_t calls = 0;
    catch_signal(SIGALRM);
    set_timer(101);
    for (; handled < HANDLED_MIN; calls++) {
        record(OP_READ);
        let_signals_in();
    }
    set_timer(0);
    expect_calls(calls + (uint64_t)handled, (uint64_t)handled);
}

struct worker {
    pthread_t thread;
    uint64_t calls;
    uint64_t handled;
    bool done;          /* atomic */
    bool uses_recorder; /* outside of the handler */
};

/* The memory keeps malloc() busy, which a first call in the handler may interrupt. */
static void *work(void *argument) {
    struct worker *worker = argument;
    while (handled < HANDLED_MIN) {
        if (worker->uses_recorder) {
            record(OP_READ);
            worker->calls++;
        } else {
            free(malloc(1 + worker->calls % 4099));
        }
        let_signals_in();
    }
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    worker->handled = (uint64_t)handled;
    __atomic_store_n(&worker->done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void signal_until_done(struct worker *worker) {
    while (!__atomic_load_n(&worker->done, __ATOMIC_ACQUIRE)) {
        const struct timespec pause = {.tv_nsec = 20000};
        pthread_kill(worker->thread, SIGUSR1);
        nanosleep(&pause, NULL);
    }
}

static void run_workers(bool use_recorder) {
    struct worker workers[WORKERS] = {0};
    uint64_t calls = 0;
    uint64_t all_handled = 0;
    catch_signal(SIGUSR1);
    for (int i = 0; i < WORKERS; i++) {
        workers[i].uses_recorder = use_recorder;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        signal_until_done(&workers[i]);
        pthread_join(workers[i].thread, NULL);
        calls += workers[i].calls;
        all_handled += workers[i].handled;
    }
    expect_calls(calls + all_handled, all_handled);
}

TEST(signals_to_many_threads_lose_no_call) {
    run_workers(true);
}

TEST(first_call_of_a_thread_may_be_in_a_handler) {
    run_workers(false);
}
