/* Private: what the recorder needs of the clock beyond aggstats.h. */
#ifndef CLOCK_PAIR_H
#define CLOCK_PAIR_H

#include "aggstats.h"

/* One moment on both clocks; two of them give the frequency. */
struct clock_pair {
    uint64_t cycles;
    uint64_t raw_ns;     /* CLOCK_MONOTONIC_RAW */
    uint64_t gap_cycles; /* between the readings before and after; cycles is the middle */
};

struct clock_pair clock_pair_now(uint32_t kind);

/* Cycles per second between two moments; 0 if no time lies between them. */
uint64_t clock_pair_frequency(const struct clock_pair *from, const struct clock_pair *to);

/* As aggstats_clock_detect. *ret_measured: the frequency comes from a short measurement, which a longer one can
 * improve. */
void clock_detect(struct aggstats_clock *ret_clock, bool *ret_measured);

/* True if this machine can read that clock at all. */
bool clock_readable(uint32_t kind);

uint64_t clock_realtime_ns(void);

#endif
