/* The cost of timing a call: cycles per pair of aggstats_begin() and aggstats_end() around nothing. For comparison, the
 * minimum for any profiler of this kind: two clock reads in a row, and these with a logarithm and three plain counters
 * of one thread. Prints median and spread of many rounds, with warm caches. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats.h"

#define ROUNDS 1009
#define PAIRS_PER_ROUND 10007
#define OP_COUNT 45 /* as many as a file system has */

static void clock_pairs(struct aggstats_recorder *recorder) {
    uint32_t kind = aggstats_hot(recorder)->clock_kind;
    for (int i = 0; i < PAIRS_PER_ROUND; i++) {
        uint64_t first = aggstats_clock_now(kind);
        uint64_t second = aggstats_clock_now(kind);
        __asm__ volatile("" : : "r"(first), "r"(second)); /* keeps both */
    }
}

static void floor_pairs(struct aggstats_recorder *recorder) {
    static uint64_t calls[64], cycles[64], total;
    uint32_t kind = aggstats_hot(recorder)->clock_kind;
    for (int i = 0; i < PAIRS_PER_ROUND; i++) {
        uint64_t first = aggstats_clock_now(kind);
        uint64_t taken = aggstats_clock_now(kind) - first;
        unsigned bucket = 63U - (unsigned)__builtin_clzll(taken | 1);
        calls[bucket]++;
        cycles[bucket] += taken;
        total++;
        __asm__ volatile("" : : : "memory"); /* keeps the counters in memory */
    }
}

static void begin_end_pairs(struct aggstats_recorder *recorder) {
    for (int i = 0; i < PAIRS_PER_ROUND; i++) {
        struct aggstats_span span = aggstats_begin(recorder, 7, (uint64_t)i, 4711);
        aggstats_end(recorder, &span);
    }
}

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static void measure(const char *what, struct aggstats_recorder *recorder, void (*run)(struct aggstats_recorder *)) {
    static double cycles[ROUNDS];
    uint32_t kind = aggstats_hot(recorder)->clock_kind;
    run(recorder); /* warms up */
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = aggstats_clock_now(kind);
        run(recorder);
        cycles[round] = (double)(aggstats_clock_now(kind) - start) / PAIRS_PER_ROUND;
    }
    qsort(cycles, ROUNDS, sizeof(cycles[0]), compare_doubles);
    printf("%-32s median %6.1f cycles  (5 %% %.1f, 95 %% %.1f)\n", what, cycles[ROUNDS / 2], cycles[ROUNDS / 20],
           cycles[ROUNDS - 1 - ROUNDS / 20]);
}

static int measure_resolution(unsigned resolution, const char *const *names) {
    struct aggstats_recorder *recorder;
    struct aggstats_recorder_options options = {.op_names = names, .op_count = OP_COUNT, .resolution = resolution};
    int err = aggstats_recorder_create(&options, &recorder);
    if (err < 0) {
        fprintf(stderr, "begin_end: cannot create a recorder: %s\n", strerror(-err));
        return err;
    }
    struct aggstats_clock clock = aggstats_recorder_clock(recorder);
    char what[64];
    snprintf(what, sizeof(what), "begin and end, resolution %u", resolution);
    if (resolution == 1) {
        printf("clock %s, %.3f GHz\n", aggstats_clock_name(clock.kind), (double)clock.frequency_hz / 1e9);
        measure("two clock reads", recorder, clock_pairs);
        measure("the floor", recorder, floor_pairs);
    }
    measure(what, recorder, begin_end_pairs);
    aggstats_recorder_destroy(recorder);
    return 0;
}

int main(void) {
    static char texts[OP_COUNT][AGGSTATS_NAME_SIZE];
    const char *names[OP_COUNT];
    for (int op = 0; op < OP_COUNT; op++) {
        snprintf(texts[op], sizeof(texts[op]), "OP%d", op);
        names[op] = texts[op];
    }
    for (unsigned resolution = 1; resolution <= AGGSTATS_RESOLUTION_MAX; resolution *= 2)
        if (measure_resolution(resolution, names) < 0)
            return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
