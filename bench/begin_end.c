/* The cost of timing a call: cycles per pair of aggstats_begin() and aggstats_end() around nothing. For comparison, the
 * minimum for any profiler of this kind: two clock reads in a row, and these with a logarithm and three plain counters
 * of one thread. Prints median and spread of many rounds, with warm caches.
 *
 * begin_end cold: with cold caches, and resolutions 1 and 4 in turn. A pass calls each op once, touches other memory
 * before each call, and counts latencies of 2^12 to 2^14 cycles, the same at both resolutions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats.h"

#define ROUNDS 1009
#define PAIRS_PER_ROUND 10007
#define OP_COUNT 45 /* as many as a file system has */
#define OTHER_BYTES_MAX (3U << 19)
#define CACHE_LINE_BYTES 64U

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

static void print_row(const char *what, double *cycles) {
    qsort(cycles, ROUNDS, sizeof(cycles[0]), compare_doubles);
    printf("%-32s median %6.1f cycles  (5 %% %.1f, 95 %% %.1f)\n", what, cycles[ROUNDS / 2], cycles[ROUNDS / 20],
           cycles[ROUNDS - 1 - ROUNDS / 20]);
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
    print_row(what, cycles);
}

static struct aggstats_recorder *create_recorder(unsigned resolution) {
    static char texts[OP_COUNT][AGGSTATS_NAME_SIZE];
    const char *names[OP_COUNT];
    for (int op = 0; op < OP_COUNT; op++) {
        snprintf(texts[op], sizeof(texts[op]), "OP%d", op);
        names[op] = texts[op];
    }
    struct aggstats_recorder *recorder;
    struct aggstats_recorder_options options = {.op_names = names, .op_count = OP_COUNT, .resolution = resolution};
    int err = aggstats_recorder_create(&options, &recorder);
    if (err < 0) {
        fprintf(stderr, "begin_end: cannot create a recorder: %s\n", strerror(-err));
        exit(EXIT_FAILURE);
    }
    return recorder;
}

static void print_clock(const struct aggstats_recorder *recorder) {
    struct aggstats_clock clock = aggstats_recorder_clock(recorder);
    printf("clock %s, %.3f GHz\n", aggstats_clock_name(clock.kind), (double)clock.frequency_hz / 1e9);
}

static void measure_warm(unsigned resolution) {
    struct aggstats_recorder *recorder = create_recorder(resolution);
    char what[64];
    snprintf(what, sizeof(what), "begin and end, resolution %u", resolution);
    if (resolution == 1) {
        print_clock(recorder);
        measure("two clock reads", recorder, clock_pairs);
        measure("the floor", recorder, floor_pairs);
    }
    measure(what, recorder, begin_end_pairs);
    aggstats_recorder_destroy(recorder);
}

/* ---- Cold caches ---- */

static void touch_other_memory(size_t bytes) {
    static volatile unsigned char other[OTHER_BYTES_MAX];
    for (size_t i = 0; i < bytes; i += CACHE_LINE_BYTES)
        other[i]++;
}

/* Waits for loads and stores: a clock that is read next has their cache misses in it. */
static void finish_memory_accesses(void) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#endif
}

static uint64_t cold_call(struct aggstats_recorder *recorder, unsigned op, uint64_t latency_cycles) {
    const struct aggstats_outcome none = {0};
    uint32_t kind = aggstats_hot(recorder)->clock_kind;
    finish_memory_accesses();
    uint64_t start = aggstats_clock_now(kind);
    struct aggstats_span span = aggstats_begin(recorder, op, op, 4711);
    aggstats_end_at(recorder, &span, aggstats_clock_now(kind) + latency_cycles, &none);
    finish_memory_accesses();
    return aggstats_clock_now(kind) - start;
}

/* Cycles per call. */
static double cold_pass(struct aggstats_recorder *recorder, size_t other_bytes, const uint64_t *latencies_cycles) {
    uint64_t cycles = 0;
    cold_call(recorder, 0, latencies_cycles[0]); /* uncounted: the thread changes to this recorder */
    for (unsigned op = 0; op < OP_COUNT; op++) {
        touch_other_memory(other_bytes);
        cycles += cold_call(recorder, op, latencies_cycles[op]);
    }
    return (double)cycles / OP_COUNT;
}

/* Passes at resolution 1 and 4 follow each other, and begin with either in turn. */
static void measure_cold(struct aggstats_recorder *coarse, struct aggstats_recorder *fine, size_t other_bytes) {
    static double coarse_cycles[ROUNDS], fine_cycles[ROUNDS], more_cycles[ROUNDS];
    uint64_t latencies_cycles[OP_COUNT];
    srandom(1);
    for (int round = 0; round < ROUNDS; round++) {
        for (int op = 0; op < OP_COUNT; op++)
            latencies_cycles[op] = (uint64_t)(64 + random() % 64) * (uint64_t)(64 + random() % 64);
        for (int turn = 0; turn < 2; turn++) {
            if ((round + turn) % 2 == 0)
                coarse_cycles[round] = cold_pass(coarse, other_bytes, latencies_cycles);
            else
                fine_cycles[round] = cold_pass(fine, other_bytes, latencies_cycles);
        }
        more_cycles[round] = fine_cycles[round] - coarse_cycles[round];
    }
    printf("after %zu KiB of other memory\n", other_bytes >> 10);
    print_row("  resolution 1", coarse_cycles);
    print_row("  resolution 4", fine_cycles);
    print_row("  4 less 1, passes in a row", more_cycles);
}

static void measure_all_cold(void) {
    struct aggstats_recorder *coarse = create_recorder(1);
    struct aggstats_recorder *fine = create_recorder(4);
    print_clock(coarse);
    measure_cold(coarse, fine, 64 << 10);
    measure_cold(coarse, fine, OTHER_BYTES_MAX);
    aggstats_recorder_destroy(fine);
    aggstats_recorder_destroy(coarse);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "cold") == 0) {
        measure_all_cold();
        return EXIT_SUCCESS;
    }
    if (argc > 1) {
        fprintf(stderr, "usage: begin_end [cold]\n");
        return 2;
    }
    for (unsigned resolution = 1; resolution <= AGGSTATS_RESOLUTION_MAX; resolution *= 2)
        measure_warm(resolution);
    return EXIT_SUCCESS;
}
