/* libaggstats: the clock that calls are timed with. */
#ifndef AGGSTATS_CLOCK_H
#define AGGSTATS_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "abi.h"

AGGSTATS_BEGIN_DECLARATIONS

enum aggstats_clock_kind {
    AGGSTATS_CLOCK_TSC = 1,       /* x86 time-stamp counter, constant and nonstop */
    AGGSTATS_CLOCK_CNTVCT = 2,    /* arm64 virtual counter */
    AGGSTATS_CLOCK_MONOTONIC = 3, /* clock_gettime(CLOCK_MONOTONIC), in nanoseconds */
};

struct aggstats_clock {
    uint32_t kind;         /* enum aggstats_clock_kind */
    uint64_t frequency_hz; /* cycles per second; 0: unknown (a parsed profile without it) */
};

/* Finds the best clock of this machine and its frequency: from the kernel if it provides it, else measured against
 * CLOCK_MONOTONIC_RAW (takes some 0.6 ms, 4 at most).
 * Threads: any */
void aggstats_clock_detect(struct aggstats_clock *ret_clock);

/* The name of a clock kind as profiles write it: "tsc", "cntvct", "monotonic"; NULL for no such kind. */
const char *aggstats_clock_name(uint32_t kind);

/* The clock's value now, in cycles. */
static inline uint64_t aggstats_clock_now(uint32_t kind) {
#if defined(__x86_64__)
    if (__builtin_expect(kind == AGGSTATS_CLOCK_TSC, 1))
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(kind == AGGSTATS_CLOCK_CNTVCT, 1)) {
        uint64_t now;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
        return now;
    }
#endif
    (void)kind;
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

AGGSTATS_END_DECLARATIONS

#endif
