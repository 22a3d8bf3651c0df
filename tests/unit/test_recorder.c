/* The recorder: every call counted, whatever threads, snapshots and resets do meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggstats.h"
#include "testing.h"

#define CALLS 1000007 /* in all, over all threads */

enum { OP_READ, OP_WRITE, OP_LOOKUP, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE", "LOOKUP"};

/* ---- Help ---- */

static struct aggstats_recorder *create_recorder(unsigned resolution, const char *live_path) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = resolution, .live_path = live_path};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    return recorder;
}

static void record(struct aggstats_recorder *recorder, unsigned op, uint64_t calls) {
    for (uint64_t i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(recorder, op, i, 4711);
        aggstats_end(recorder, &span);
    }
}

static uint64_t sum_of_buckets(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    uint64_t sum = 0;
    for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
        sum += op->buckets[bucket];
    return sum;
}

/* What a snapshot says of all ops together. */
struct seen {
    uint64_t calls;
    uint64_t finished;
    size_t in_flight;
};

static struct seen take_snapshot(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    struct seen seen = {0};
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    seen.in_flight = profile.in_flight_count;
    for (size_t i = 0; i < profile.op_count; i++) {
        uint64_t finished = sum_of_buckets(&profile, &profile.ops[i]);
        ck_assert_uint_le(finished, profile.ops[i].calls);
        seen.calls += profile.ops[i].calls;
        seen.finished += finished;
    }
    aggstats_profile_finish(&profile);
    return seen;
}

/* ---- One thread ---- */

TEST(new_recorder_shows_no_operation) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, 0);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    ck_assert(profile.has_start && profile.has_elapsed && !profile.incomplete);
    ck_assert_ptr_null(aggstats_recorder_live_path(recorder));
    ck_assert_int_eq(aggstats_recorder_unlink_live(recorder), 0);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
    aggstats_recorder_destroy(NULL);
}

TEST(call_is_counted_once_with_its_latency, .to = 4) {
    const unsigned resolution = 1U << _i;
    struct aggstats_recorder *recorder = create_recorder(resolution, NULL);
    struct aggstats_profile profile;
    record(recorder, OP_WRITE, 1);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, 1);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, "WRITE");
    ck_assert_ptr_nonnull(op);
    ck_assert_uint_eq(op->calls, 1);
    ck_assert_uint_eq(sum_of_buckets(&profile, op), 1);
    ck_assert_uint_eq(op->buckets[aggstats_bucket_of(op->total_cycles, resolution)], 1);
    ck_assert_uint_le(op->total_cycles, profile.elapsed_cycles);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* Each begins long ago enough to be 2^exponent cycles. */
TEST(calls_of_any_length_are_in_their_bucket, .to = 4) {
    const unsigned resolution = 1U << _i;
    struct aggstats_recorder *recorder = create_recorder(resolution, NULL);
    uint64_t expected[AGGSTATS_BUCKETS_MAX] = {0};
    struct aggstats_profile profile;
    for (unsigned exponent = 0; exponent < 62; exponent++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, 1);
        span.start_cycles -= UINT64_C(1) << exponent;
        expected[aggstats_bucket_of(aggstats_end(recorder, &span), resolution)]++;
    }
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, "READ");
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        ck_assert_uint_eq(op->buckets[bucket], expected[bucket]);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(nested_calls_are_both_counted) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct aggstats_span outer = aggstats_begin(recorder, OP_READ, 1, 1);
    record(recorder, OP_LOOKUP, 3);
    aggstats_end(recorder, &outer);
    struct seen seen = take_snapshot(recorder);
    ck_assert_uint_eq(seen.calls, 4);
    ck_assert_uint_eq(seen.finished, 4);
    aggstats_recorder_destroy(recorder);
}

TEST(negative_difference_counts_as_zero_and_as_clamped) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct aggstats_profile profile;
    struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, 1);
    span.start_cycles += UINT64_C(1) << 50;
    aggstats_end(recorder, &span);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.clamped, 1);
    ck_assert_uint_eq(profile.ops[0].buckets[0], 1);
    ck_assert_uint_eq(profile.ops[0].total_cycles, 0);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.clamped, 0);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(call_in_flight_is_listed_with_its_age) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct aggstats_profile profile;
    uint64_t before_cycles = aggstats_clock_now(aggstats_hot(recorder)->clock_kind);
    struct aggstats_span span = aggstats_begin(recorder, OP_LOOKUP, 12, 4711);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    uint64_t after_cycles = aggstats_clock_now(aggstats_hot(recorder)->clock_kind);
    ck_assert_uint_eq(profile.in_flight_count, 1);
    ck_assert_str_eq(profile.in_flight[0].op, "LOOKUP");
    ck_assert_uint_eq(profile.in_flight[0].object, 12);
    ck_assert_uint_eq(profile.in_flight[0].pid, 4711);
    ck_assert_uint_le(profile.in_flight[0].latency_cycles, after_cycles - before_cycles);
    aggstats_profile_finish(&profile);
    aggstats_end(recorder, &span);
    ck_assert_uint_eq(take_snapshot(recorder).in_flight, 0);
    aggstats_recorder_destroy(recorder);
}

TEST(labels_are_kept_in_order) {
    char text[][8] = {"layer", "test", "cache", "auto"};
    const struct aggstats_label labels[] = {{text[0], text[1]}, {text[2], text[3]}};
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .labels = labels, .label_count = 2};
    struct aggstats_recorder *recorder;
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    memset(text, 'x', sizeof(text)); /* the recorder must have its own */
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.label_count, 2);
    ck_assert_str_eq(aggstats_profile_label(&profile, "layer"), "test");
    ck_assert_str_eq(profile.labels[1].key, "cache");
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* ---- Options ---- */

static const char *const bad_name[] = {"READ FILE"};
static const char *const empty_name[] = {""};
static const char *const long_name[] = {"A_NAME_THAT_HAS_THIRTY_TWO_CHARS"};
static const char *const same_names[] = {"READ", "READ"};
static char reserved_key[] = "clock";
static char another_reserved_key[] = "left";
static char colon_key[] = "a:b";
static char some_value[] = "value";
static const struct aggstats_label reserved_label = {reserved_key, some_value};
static const struct aggstats_label another_reserved_label = {another_reserved_key, some_value};
static const struct aggstats_label colon_label = {colon_key, some_value};

static const struct aggstats_recorder_options bad_options[] = {
    {.op_names = op_names, .op_count = 0, .resolution = 1},
    {.op_names = op_names, .op_count = AGGSTATS_OPS_MAX + 1, .resolution = 1},
    {.op_names = op_names, .op_count = OP_COUNT, .resolution = 0},
    {.op_names = op_names, .op_count = OP_COUNT, .resolution = 3},
    {.op_names = op_names, .op_count = OP_COUNT, .resolution = 16},
    {.op_names = bad_name, .op_count = 1, .resolution = 1},
    {.op_names = empty_name, .op_count = 1, .resolution = 1},
    {.op_names = long_name, .op_count = 1, .resolution = 1},
    {.op_names = same_names, .op_count = 2, .resolution = 1},
    {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .labels = &reserved_label, .label_count = 1},
    {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .labels = &another_reserved_label, .label_count = 1},
    {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .labels = &colon_label, .label_count = 1},
    {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .clock = {.kind = 77, .frequency_hz = 1}},
    {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC}},
};

TEST(bad_options_are_refused, .to = sizeof(bad_options) / sizeof(bad_options[0])) {
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&bad_options[_i], &recorder), -EINVAL);
    ck_assert_ptr_null(recorder);
}

TEST(largest_recorder_works) {
    static char texts[AGGSTATS_OPS_MAX][AGGSTATS_NAME_SIZE];
    const char *names[AGGSTATS_OPS_MAX];
    for (int op = 0; op < AGGSTATS_OPS_MAX; op++) {
        snprintf(texts[op], sizeof(texts[op]), "A_NAME_OF_THIRTY_ONE_CHARS_%04d", op);
        names[op] = texts[op];
    }
    const struct aggstats_recorder_options options = {
        .op_names = names, .op_count = AGGSTATS_OPS_MAX, .resolution = AGGSTATS_RESOLUTION_MAX};
    struct aggstats_recorder *recorder;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    for (unsigned op = 0; op < AGGSTATS_OPS_MAX; op++)
        record(recorder, op, op + 1);
    ck_assert_uint_eq(take_snapshot(recorder).finished, AGGSTATS_OPS_MAX * (AGGSTATS_OPS_MAX + 1) / 2);
    aggstats_recorder_destroy(recorder);
}

/* ---- Reset, pause, resume against a call in flight ---- */

/* b begin, e end of one call; c a whole call; z reset, p pause, r resume. A call belongs to the window in which it
 * ends.
 */
static const struct {
    const char *events;
    struct seen expected;
} stories[] = {
    {"cc", {2, 2, 0}},         {"ccz", {0, 0, 0}},    {"cczc", {1, 1, 0}},    {"b", {1, 0, 1}},
    {"bz", {1, 0, 1}},  /* in flight at the reset: belongs to the new window */
    {"bze", {1, 1, 0}}, /* and ends there */
    {"cbze", {1, 1, 0}},       {"bzzez", {0, 0, 0}},  {"ccp", {2, 2, 0}},     {"ccpc", {2, 2, 0}}, /* frozen */
    {"ccpcr", {2, 2, 0}},                                                  /* as if the time between had not been */
    {"ccpcrc", {3, 3, 0}},     {"cbp", {1, 1, 0}},                         /* paused: nothing is shown in flight */
    {"cbpe", {1, 1, 0}},       {"cbper", {1, 1, 0}},                       /* ended in the pause: not counted */
    {"cbpr", {2, 1, 1}},                                                   /* survived the pause: in flight again */
    {"cbpre", {2, 2, 0}},      {"cpbr", {2, 1, 1}},                        /* began in the pause */
    {"cpbre", {2, 2, 0}},      {"cpber", {1, 1, 0}},  {"ccpz", {0, 0, 0}}, /* reset while paused: paused and empty */
    {"ccpzc", {0, 0, 0}},      {"ccpzcr", {0, 0, 0}}, {"ccpzcrc", {1, 1, 0}}, {"cbpzr", {1, 0, 1}},
    {"cbpzre", {1, 1, 0}},     {"cbpzer", {0, 0, 0}}, {"cppc", {1, 1, 0}}, /* twice is once */
    {"cppcr", {1, 1, 0}},      {"crrc", {2, 2, 0}},   {"pcrpcrc", {1, 1, 0}}, {"cpcrcpcrc", {3, 3, 0}},
    {"cpcrzcpcrc", {2, 2, 0}},
};

static void play(struct aggstats_recorder *recorder, const char *events) {
    struct aggstats_span span = {0};
    for (; *events; events++) {
        int err = 0;
        switch (*events) {
        case 'b':
            span = aggstats_begin(recorder, OP_READ, 7, 7);
            break;
        case 'e':
            ck_assert_ptr_nonnull(span.counters);
            aggstats_end(recorder, &span);
            break;
        case 'c':
            record(recorder, OP_READ, 1);
            break;
        case 'z':
            err = aggstats_recorder_reset(recorder);
            break;
        case 'p':
            err = aggstats_recorder_pause(recorder);
            break;
        default:
            err = aggstats_recorder_resume(recorder);
            break;
        }
        ck_assert_int_eq(err, 0);
    }
}

TEST(call_belongs_to_the_window_in_which_it_ends, .to = sizeof(stories) / sizeof(stories[0])) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    play(recorder, stories[_i].events);
    struct seen seen = take_snapshot(recorder);
    ck_assert_msg(seen.calls == stories[_i].expected.calls && seen.finished == stories[_i].expected.finished &&
                      seen.in_flight == stories[_i].expected.in_flight,
                  "%s: %lu calls, %lu finished, %zu in flight", stories[_i].events, (unsigned long)seen.calls,
                  (unsigned long)seen.finished, seen.in_flight);
    aggstats_recorder_destroy(recorder);
}

static uint64_t elapsed_now(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    uint64_t elapsed_cycles = profile.elapsed_cycles;
    aggstats_profile_finish(&profile);
    return elapsed_cycles;
}

TEST(elapsed_time_leaves_pauses_out) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    const uint32_t kind = aggstats_hot(recorder)->clock_kind;
    uint64_t start_cycles = aggstats_clock_now(kind); /* after the recorder's own start */
    aggstats_recorder_reset(recorder);
    aggstats_recorder_pause(recorder);
    uint64_t paused_cycles = aggstats_clock_now(kind);
    uint64_t frozen_cycles = elapsed_now(recorder);
    usleep(30000);
    ck_assert_uint_eq(elapsed_now(recorder), frozen_cycles);
    uint64_t resumed_cycles = aggstats_clock_now(kind);
    aggstats_recorder_resume(recorder);
    uint64_t elapsed_cycles = elapsed_now(recorder);
    uint64_t end_cycles = aggstats_clock_now(kind);
    ck_assert_uint_ge(elapsed_cycles, frozen_cycles);
    ck_assert_uint_le(elapsed_cycles, end_cycles - start_cycles - (resumed_cycles - paused_cycles));
    aggstats_recorder_destroy(recorder);
}

TEST(reset_moves_the_start) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct aggstats_profile first;
    struct aggstats_profile second;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &first), 0);
    usleep(5000);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    aggstats_recorder_reset(recorder);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &second), 0);
    ck_assert_int_gt(second.start_ns, first.start_ns);
    ck_assert_int_ge(second.start_ns, now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
    aggstats_profile_finish(&first);
    aggstats_profile_finish(&second);
    aggstats_recorder_destroy(recorder);
}

/* ---- Many threads ---- */

struct worker {
    pthread_t thread;
    struct aggstats_recorder *recorder;
    uint64_t calls;
    struct aggstats_block *block; /* the block it counted in */
};

static void *work(void *argument) {
    struct worker *worker = argument;
    for (unsigned op = 0; op < OP_COUNT; op++) /* the last op gets the remainder */
        record(worker->recorder, op,
               op < OP_COUNT - 1 ? worker->calls / OP_COUNT
                                 : worker->calls - worker->calls / OP_COUNT * (OP_COUNT - 1));
    worker->block = aggstats_thread_cache.block;
    return NULL;
}

/* CALLS spread over count threads. */
static void start_workers(struct worker *workers, unsigned count, struct aggstats_recorder *recorder) {
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){.recorder = recorder, .calls = CALLS / count};
        if (i == 0)
            workers[i].calls += CALLS % count;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

static void join_workers(struct worker *workers, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

static const unsigned thread_counts[] = {1, 2, 8, 16};
#define WORKERS_MAX 16

TEST_CASE(.seconds = 120);

TEST(no_call_is_lost_by_any_number_of_threads, .to = 4) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct worker workers[WORKERS_MAX] = {0};
    start_workers(workers, thread_counts[_i], recorder);
    join_workers(workers, thread_counts[_i]);
    struct seen seen = take_snapshot(recorder);
    ck_assert_uint_eq(seen.calls, CALLS);
    ck_assert_uint_eq(seen.finished, CALLS);
    aggstats_recorder_destroy(recorder);
}

struct watcher {
    pthread_t thread;
    struct aggstats_recorder *recorder;
    bool stop; /* atomic */
    bool reset;
    unsigned rounds;
};

/* take_snapshot() itself checks sum(buckets) <= calls in every snapshot; and each call that has not ended is listed. */
static void *watch(void *argument) {
    struct watcher *watcher = argument;
    uint64_t last_calls = 0;
    do {
        struct seen seen = take_snapshot(watcher->recorder);
        ck_assert_uint_eq(seen.calls - seen.finished, seen.in_flight);
        if (watcher->reset)
            aggstats_recorder_reset(watcher->recorder);
        else
            ck_assert_uint_ge(seen.calls, last_calls);
        last_calls = seen.calls;
        watcher->rounds++;
    } while (!__atomic_load_n(&watcher->stop, __ATOMIC_RELAXED));
    return NULL;
}

static void stop_watcher(struct watcher *watcher) {
    __atomic_store_n(&watcher->stop, true, __ATOMIC_RELAXED);
    pthread_join(watcher->thread, NULL);
    ck_assert_uint_gt(watcher->rounds, 0);
}

TEST(snapshots_meanwhile_are_consistent_and_cost_no_call, .to = 4) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct watcher watcher = {.recorder = recorder};
    struct worker workers[WORKERS_MAX] = {0};
    ck_assert_int_eq(pthread_create(&watcher.thread, NULL, watch, &watcher), 0);
    start_workers(workers, thread_counts[_i], recorder);
    join_workers(workers, thread_counts[_i]);
    stop_watcher(&watcher);
    struct seen seen = take_snapshot(recorder);
    ck_assert_uint_eq(seen.calls, CALLS);
    ck_assert_uint_eq(seen.finished, CALLS);
    aggstats_recorder_destroy(recorder);
}

/* Calls that a block has counted since the recorder began, whatever was reset. */
static struct seen raw_counts(const struct aggstats_recorder *recorder, const struct aggstats_block *block) {
    struct seen seen = {0};
    for (unsigned op = 0; op < OP_COUNT; op++) {
        const struct aggstats_counters *counters =
            (const void *)(block->counters + (size_t)op * aggstats_hot(recorder)->counters_stride_bytes);
        seen.calls += counters->calls;
        for (unsigned bucket = 0; bucket < 64; bucket++)
            seen.finished += counters->buckets[bucket];
    }
    return seen;
}

/* The workers' blocks may be one and the same, where one thread ended before another began. */
static struct seen raw_counts_of_all(const struct worker *workers, unsigned count) {
    struct seen sum = {0};
    for (unsigned i = 0; i < count; i++) {
        bool counted = false;
        for (unsigned other = 0; other < i; other++)
            counted = counted || workers[other].block == workers[i].block;
        if (counted)
            continue;
        struct seen seen = raw_counts(workers[i].recorder, workers[i].block);
        sum.calls += seen.calls;
        sum.finished += seen.finished;
    }
    return sum;
}

/* Calls removed by resets and remaining calls add up to all calls, as the blocks have them. */
TEST(resets_meanwhile_lose_no_update, .to = 4) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct watcher watcher = {.recorder = recorder, .reset = true};
    struct worker workers[WORKERS_MAX] = {0};
    ck_assert_int_eq(pthread_create(&watcher.thread, NULL, watch, &watcher), 0);
    start_workers(workers, thread_counts[_i], recorder);
    join_workers(workers, thread_counts[_i]);
    stop_watcher(&watcher);

    struct seen raw = raw_counts_of_all(workers, thread_counts[_i]);
    ck_assert_uint_eq(raw.calls, CALLS);
    ck_assert_uint_eq(raw.finished, CALLS);
    struct seen seen = take_snapshot(recorder);
    ck_assert_uint_eq(seen.calls, seen.finished);
    aggstats_recorder_reset(recorder);
    ck_assert_uint_eq(take_snapshot(recorder).calls, 0);
    record(recorder, OP_READ, 101);
    ck_assert_uint_eq(take_snapshot(recorder).finished, 101);
    aggstats_recorder_destroy(recorder);
}

struct gate {
    pthread_barrier_t barrier;
    struct aggstats_recorder *recorder;
};

#define GATE_PHASES 53
#define GATE_CALLS 211

static void *work_in_phases(void *argument) {
    struct gate *gate = argument;
    for (int phase = 0; phase < GATE_PHASES; phase++) {
        record(gate->recorder, OP_READ, GATE_CALLS);
        pthread_barrier_wait(&gate->barrier); /* all have counted */
        pthread_barrier_wait(&gate->barrier); /* the phase has been checked and reset */
    }
    return NULL;
}

TEST(each_reset_removes_exactly_what_had_ended) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS] = {0};
    struct gate gate = {.recorder = create_recorder(1, NULL)};
    pthread_barrier_init(&gate.barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_in_phases, &gate), 0);
    for (int phase = 0; phase < GATE_PHASES; phase++) {
        pthread_barrier_wait(&gate.barrier);
        ck_assert_uint_eq(take_snapshot(gate.recorder).finished, THREADS * GATE_CALLS);
        ck_assert_uint_eq(take_snapshot(gate.recorder).calls, THREADS * GATE_CALLS);
        ck_assert_int_eq(aggstats_recorder_reset(gate.recorder), 0);
        pthread_barrier_wait(&gate.barrier);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&gate.barrier);
    ck_assert_uint_eq(take_snapshot(gate.recorder).calls, 0);
    aggstats_recorder_destroy(gate.recorder);
}

static char *temporary_path(void) {
    static char directory[] = "/tmp/test-recorder-XXXXXX";
    static char path[sizeof(directory) + 16];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/live", directory);
    return path;
}

static void remove_temporary(char *path) {
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

TEST(threads_that_come_and_go_share_blocks_and_lose_nothing) {
    char *path = temporary_path();
    struct aggstats_recorder *recorder = create_recorder(1, path);
    struct worker workers[4] = {0};
    struct stat before;
    struct stat after;
    for (int generation = 0; generation < 251; generation++) {
        for (int i = 0; i < 4; i++) {
            workers[i] = (struct worker){.recorder = recorder, .calls = 101};
            ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        }
        join_workers(workers, 4);
        ck_assert_int_eq(stat(path, generation == 0 ? &before : &after), 0);
    }
    ck_assert_uint_eq(take_snapshot(recorder).finished, 251 * 4 * 101);
    ck_assert_int_le(after.st_size, before.st_size + 4 * 65536); /* a few blocks, not a thousand */
    aggstats_recorder_destroy(recorder);
    remove_temporary(path);
}

TEST(thread_may_use_several_recorders) {
    struct aggstats_recorder *recorders[3];
    for (int i = 0; i < 3; i++)
        recorders[i] = create_recorder(1, NULL);
    for (int i = 0; i < 997; i++)
        record(recorders[i % 3], OP_READ, 1);
    ck_assert_uint_eq(take_snapshot(recorders[0]).finished, 333);
    ck_assert_uint_eq(take_snapshot(recorders[1]).finished, 332);
    ck_assert_uint_eq(take_snapshot(recorders[2]).finished, 332);
    for (int i = 0; i < 3; i++)
        aggstats_recorder_destroy(recorders[i]);
}

struct survivor {
    pthread_barrier_t barrier;
    struct aggstats_recorder *recorder;
};

static void *outlive(void *argument) {
    struct survivor *survivor = argument;
    record(survivor->recorder, OP_READ, 11);
    pthread_barrier_wait(&survivor->barrier); /* the recorder goes, another comes */
    pthread_barrier_wait(&survivor->barrier);
    record(survivor->recorder, OP_READ, 13);
    return NULL;
}

TEST(thread_may_outlive_a_recorder) {
    struct survivor survivor = {.recorder = create_recorder(1, NULL)};
    pthread_t thread = 0;
    pthread_barrier_init(&survivor.barrier, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, outlive, &survivor), 0);
    pthread_barrier_wait(&survivor.barrier);
    aggstats_recorder_destroy(survivor.recorder);
    survivor.recorder = create_recorder(1, NULL);
    pthread_barrier_wait(&survivor.barrier);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(take_snapshot(survivor.recorder).finished, 13);
    aggstats_recorder_destroy(survivor.recorder);
    pthread_barrier_destroy(&survivor.barrier);
}

/* ---- No memory, no room ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE();

TEST(without_memory_calls_are_counted_and_the_profile_says_so, .not_memcheck = true) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    record(recorder, OP_READ, 17);
    setrlimit(RLIMIT_AS, &limit);
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert(profile.incomplete);
    ck_assert_uint_eq(profile.ops[0].calls, 17);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}
#endif

TEST(full_file_system_costs_no_call) {
    char *path = temporary_path();
    struct aggstats_recorder *recorder = create_recorder(1, path);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    const struct rlimit full = {.rlim_cur = (rlim_t)status.st_size, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    ck_assert(aggstats_recorder_live_complete(recorder));
    record(recorder, OP_READ, 19);
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert(!aggstats_recorder_live_complete(recorder));
    struct seen seen = take_snapshot(recorder);
    ck_assert_uint_eq(seen.finished, 19);
    aggstats_recorder_destroy(recorder);
    remove_temporary(path);
}

/* ---- Run ---- */
