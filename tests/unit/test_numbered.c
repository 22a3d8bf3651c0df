/* Numbered calls: each is on that side of a change of window on which it is counted, exactly, while threads go on. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/numbered.h"
#include "testing.h"

#define THREADS 3
#define CALLS_MAX 400000U
#define RESETS 200

#define OPS 43 /* as many as a file system has: reading them takes longer than a call */

static const char *names[OPS];
static char name_texts[OPS][8];

static struct aggstats_recorder *recorder;

/* What a thread has counted, by number. */
struct made {
    const struct aggstats_block *block;
    uint64_t count;
    struct {
        uint64_t latency_cycles;
        unsigned op;
    } calls[CALLS_MAX];
};
static struct made made[THREADS];

/* The last change that was reported. */
static struct aggstats_changed told;
static struct aggstats_numbered told_blocks[THREADS];
static unsigned told_count;

static void take_change(void *context, const struct aggstats_changed *changed) {
    (void)context;
    ck_assert_uint_le(changed->block_count, THREADS);
    told = *changed;
    for (size_t i = 0; i < changed->block_count; i++)
        told_blocks[i] = changed->blocks[i];
    told_count++;
}

static void set_up(void) {
    for (unsigned op = 0; op < OPS; op++) {
        snprintf(name_texts[op], sizeof(name_texts[op]), "OP%u", op);
        names[op] = name_texts[op];
    }
    const struct aggstats_recorder_options options = {.op_names = names, .op_count = OPS, .resolution = 1};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    memset(made, 0, sizeof(made));
    told_count = 0;
    aggstats_recorder_tell_changes(recorder, take_change, NULL);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
}

static void make_call(struct made *made_by, unsigned op) {
    struct aggstats_span span = aggstats_begin(recorder, op, 0, 0);
    uint64_t number = aggstats_number_begin(&span);
    ck_assert_uint_eq(number, made_by->count);
    made_by->block = span.block;
    made_by->calls[number].latency_cycles = aggstats_end(recorder, &span);
    made_by->calls[number].op = op;
    made_by->count++;
    aggstats_number_end(&span, number);
}

static bool is_over;

static void *make_calls(void *argument) {
    struct made *made_by = argument;
    for (unsigned i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED) && i < CALLS_MAX; i++) {
        make_call(made_by, i % 3 == 0);
        for (unsigned spin = 0; spin < 4000; spin++) /* some microseconds: calls of a mount are farther apart */
            __asm__ volatile("");
    }
    return NULL;
}

static uint64_t border_of(const struct aggstats_block *block) {
    for (size_t i = 0; i < told.block_count; i++)
        if (told_blocks[i].block == block) {
            ck_assert(!told_blocks[i].is_inexact);
            return told_blocks[i].count;
        }
    return 0;
}

static void check_window(void) {
    struct aggstats_profile profile;
    uint64_t total_cycles[2] = {0};
    uint64_t buckets[2][64] = {{0}};
    for (int thread = 0; thread < THREADS; thread++)
        for (uint64_t i = border_of(made[thread].block); i < made[thread].count; i++) {
            unsigned op = made[thread].calls[i].op;
            total_cycles[op] += made[thread].calls[i].latency_cycles;
            buckets[op][aggstats_bucket_of(made[thread].calls[i].latency_cycles, 1)]++;
        }
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    for (unsigned op = 0; op < 2; op++) {
        const struct aggstats_op_profile *seen = aggstats_profile_op(&profile, names[op]);
        ck_assert_uint_eq(seen ? seen->total_cycles : 0, total_cycles[op]);
        for (unsigned bucket = 0; bucket < 64; bucket++)
            ck_assert_uint_eq(seen ? seen->buckets[bucket] : 0, buckets[op][bucket]);
    }
    aggstats_profile_finish(&profile);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(reset_falls_between_two_calls_of_each_thread) {
    pthread_t threads[THREADS];
    for (int round = 0; round < 5; round++) {
        tear_down();
        set_up();
        __atomic_store_n(&is_over, false, __ATOMIC_RELAXED);
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, make_calls, &made[i]), 0);
        for (int i = 0; i < RESETS / 5; i++) {
            ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
            usleep(100);
        }
        __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        ck_assert_uint_eq(told_count, RESETS / 5);
        check_window();
    }
}

static int save_nothing(void *answer, const struct aggstats_profile *profile) {
    (void)profile;
    return *(int *)answer;
}

TEST(rotations_tell_whether_they_were_saved) {
    int answer = 0;
    make_call(&made[0], 0);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, save_nothing, &answer), 0);
    ck_assert_uint_eq(told_count, 2);
    ck_assert_int_eq(told.change, AGGSTATS_CHANGE_ROTATED);
    answer = -ENOSPC;
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, save_nothing, &answer), -ENOSPC);
    ck_assert_int_eq(told.change, AGGSTATS_CHANGE_NOT_ROTATED);
    ck_assert_uint_eq(told_count, 4);
}

TEST(cancelled_number_is_given_again) {
    struct aggstats_span span = aggstats_begin(recorder, 0, 0, 0);
    uint64_t number = aggstats_number_begin(&span);
    aggstats_end(recorder, &span);
    aggstats_number_cancel(&span, number);
    make_call(&made[0], 0); /* expects 0 */
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    ck_assert_uint_eq(told.block_count, 1);
    ck_assert_uint_eq(told_blocks[0].count, 1);
    aggstats_recorder_tell_changes(recorder, NULL, NULL);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    ck_assert_uint_eq(told_count, 1);
}

static void *make_some_calls(void *argument) {
    for (unsigned i = 0; i < 101; i++)
        make_call(argument, i % 2);
    return NULL;
}

/* A thread that has ended leaves its block to the next. */
TEST(next_thread_goes_on_with_the_numbers) {
    for (unsigned turn = 1; turn <= 3; turn++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, make_some_calls, &made[0]), 0);
        pthread_join(thread, NULL);
        check_window();
        ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
        ck_assert_uint_eq(told.block_count, 1);
        ck_assert_uint_eq(border_of(made[0].block), turn * 101);
        check_window();
    }
}
