/* Threads that record while they exit, after the library has given their blocks to others: no call is lost, and none
 * counts in another thread's block. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "testing.h"

enum { OP_READ, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ"};

#define CALLS 20011

static struct aggstats_recorder *recorder;
static pthread_barrier_t barrier;
static pthread_key_t late_key;
static unsigned rounds_before; /* of destructors, before the one that records */

static void record(uint32_t caller) {
    for (int i = 0; i < CALLS; i++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, caller);
        aggstats_group_add(recorder, OP_READ, &(struct aggstats_call_of){.thread = caller},
                           aggstats_end(recorder, &span));
    }
}

/* The argument counts rounds, from 1. The library's destructor has a lower key, so it has run already. */
static void record_late(void *argument) {
    uintptr_t round = (uintptr_t)argument;
    if (round <= rounds_before) {
        ck_assert_int_eq(pthread_setspecific(late_key, (void *)(round + 1)), 0); // NOLINT(performance-no-int-to-ptr)
        return;
    }
    pthread_barrier_wait(&barrier); /* another thread takes the free block */
    pthread_barrier_wait(&barrier);
    record(1);
}

static void *exit_recording(void *unused) {
    record(1);
    ck_assert_int_eq(pthread_setspecific(late_key, (void *)1), 0);
    return unused;
}

static void *take_block(void *unused) {
    pthread_barrier_wait(&barrier);
    struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, 2);
    aggstats_group_add(recorder, OP_READ, &(struct aggstats_call_of){.thread = 2}, aggstats_end(recorder, &span));
    pthread_barrier_wait(&barrier);
    record(2);
    return unused;
}

static void set_up(void) {
    const struct aggstats_recorder_options options = {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1};
    const struct aggstats_grouping_options grouping = {.grouping = AGGSTATS_BY_PROCESS};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), 0);
    ck_assert_int_eq(pthread_key_create(&late_key, record_late), 0);
    pthread_barrier_init(&barrier, NULL, 2);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
    pthread_barrier_destroy(&barrier);
    pthread_key_delete(late_key);
}

static void expect_calls(uint64_t of_first, uint64_t of_second) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.ops[0].calls, of_first + of_second);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    ck_assert(!profile.incomplete);
    ck_assert_uint_eq(profile.group_count, 2);
    for (size_t i = 0; i < 2; i++)
        ck_assert_uint_eq(profile.groups[i].profile.ops[0].calls, profile.groups[i].id == 1 ? of_first : of_second);
    aggstats_profile_finish(&profile);
}

/* ThreadSanitizer's own destructor ends before the last rounds. */
#if defined(__SANITIZE_THREAD__)
#define ROUNDS_MAX 2
#else
#define ROUNDS_MAX PTHREAD_DESTRUCTOR_ITERATIONS
#endif

TEST_CASE(.set_up = set_up, .tear_down = tear_down, .seconds = 120);

TEST(destructor_that_runs_late_counts_beside_who_has_the_block, .to = ROUNDS_MAX) {
    pthread_t threads[2] = {0};
    rounds_before = (unsigned)_i;
    for (int round = 1; round <= 5; round++) {
        ck_assert_int_eq(pthread_create(&threads[0], NULL, exit_recording, NULL), 0);
        ck_assert_int_eq(pthread_create(&threads[1], NULL, take_block, NULL), 0);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        expect_calls((uint64_t)round * 2 * CALLS, (uint64_t)round * (CALLS + 1));
    }
}
