/* Reading the clock of calls and the wall clock at the same moment. */
#include <sys/timex.h>

#include "base.h"
#include "recorder_private.h"

#define ATTEMPTS 8
#define NS_PER_US 1000U

/* Reads several times and takes the reading that took the shortest time. */
void events_clock_read(uint32_t kind, struct events_clock *ret_clock) {
    struct timex state = {0};
    struct events_clock best = {.gap_cycles = UINT64_MAX};
    for (int i = 0; i < ATTEMPTS; i++) {
        struct events_clock clock = {0};
        clock.monotonic_ns = read_clock_ns(CLOCK_MONOTONIC);
        uint64_t before_cycles = aggstats_clock_now(kind);
        clock.realtime_ns = read_clock_ns(CLOCK_REALTIME);
        clock.gap_cycles = aggstats_clock_now(kind) - before_cycles;
        clock.cycles = before_cycles + clock.gap_cycles / 2;
        if (clock.gap_cycles < best.gap_cycles)
            best = clock;
    }
    int answer = adjtimex(&state);
    best.error_ns = answer < 0 ? 0 : (uint64_t)state.maxerror * NS_PER_US;
    best.status = answer < 0 ? STA_UNSYNC : (uint32_t)state.status;
    *ret_clock = best;
}
