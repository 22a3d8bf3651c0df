/* A counted call, from before it is made to after it has returned. */
#ifndef CALL_H
#define CALL_H

#include <errno.h>

#include "preload.h"

struct call {
    struct aggstats_span span;
    struct aggstats_recorder *recorder; /* NULL: it has ended */
};

/* The live file must have been joined: fd_table_counts() and names_count() do that. */
static AGGSTATS_ALWAYS_INLINE struct call call_begin(unsigned op) {
    struct aggstats_recorder *recorder = __atomic_load_n(&preload.recorder, __ATOMIC_RELAXED);
    struct call call = {.recorder = recorder};
    call.span = aggstats_begin(recorder, op, 0, (uint64_t)preload_pid());
    return call;
}

static AGGSTATS_ALWAYS_INLINE void call_end(struct call *call, struct aggstats_outcome outcome) {
    aggstats_end_with(call->recorder, &call->span, &outcome);
    call->recorder = NULL;
}

/* Cleanup of a struct call, if the thread is cancelled in the call. */
static AGGSTATS_ALWAYS_INLINE void call_abandon(struct call *call) {
    if (call->recorder)
        aggstats_end(call->recorder, &call->span);
}
#define CLEANUP_CALL __attribute__((cleanup(call_abandon)))

/* For a call of which only the result shows whether it counts. */
struct call_time {
    uint64_t start_cycles;
    uint64_t end_cycles;
};

static inline uint64_t call_now(void) {
    return aggstats_clock_now(preload.clock_kind);
}

/* Counts such a call. */
static AGGSTATS_ALWAYS_INLINE void call_count(unsigned op, struct call_time time, struct aggstats_outcome outcome) {
    aggstats_count(__atomic_load_n(&preload.recorder, __ATOMIC_RELAXED), op, time.start_cycles, time.end_cycles,
                   &outcome);
}

/* ---- Outcomes ---- */

/* failed: errno has the error */
static AGGSTATS_ALWAYS_INLINE struct aggstats_outcome call_outcome(bool failed) {
    return (struct aggstats_outcome){.error = failed ? errno : 0};
}

static AGGSTATS_ALWAYS_INLINE struct aggstats_outcome call_moved(uint64_t asked_bytes, int64_t moved_bytes) {
    return (struct aggstats_outcome){.error = moved_bytes < 0 ? errno : 0,
                                     .has_bytes = true,
                                     .asked_bytes = asked_bytes,
                                     .moved_bytes = moved_bytes < 0 ? 0 : (uint64_t)moved_bytes};
}

#endif
