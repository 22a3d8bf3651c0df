/* A counted call, from before it is made to after it has returned. */
#ifndef CALL_H
#define CALL_H

#include <errno.h>

#include "aggstats/watched.h"
#include "fd_entries.h"
#include "preload.h"

struct call {
    struct aggstats_span span;
    struct aggstats_recorder *recorder; /* NULL: it has ended */
    unsigned op;
    call_of of;
};

/* Counts it in its groups too. Keeps errno */
void call_add_to_groups(unsigned op, call_of of, uint64_t latency_cycles);

static AGGSTATS_ALWAYS_INLINE void call_group(unsigned op, call_of of, uint64_t latency_cycles) {
    if (__builtin_expect(preload.groupings != 0, 0))
        call_add_to_groups(op, of, latency_cycles);
}

/* The live file must have been joined: fd_table_counts() and names_count() do that. */
static AGGSTATS_ALWAYS_INLINE struct call call_begin(unsigned op, call_of of) {
    struct aggstats_recorder *recorder = __atomic_load_n(&preload.recorder, __ATOMIC_RELAXED);
    struct call call = {.recorder = recorder, .op = op, .of = of};
    call.span = aggstats_shared_begin(recorder, op, call_of_object(of), (uint64_t)preload_pid());
    return call;
}

static AGGSTATS_ALWAYS_INLINE void call_end(struct call *call, struct aggstats_outcome outcome) {
    const uint64_t latency_cycles = aggstats_end_with(call->recorder, &call->span, &outcome);
    call->recorder = NULL;
    call_group(call->op, call->of, latency_cycles);
}

/* Cleanup of a struct call, if the thread is cancelled in the call. */
static AGGSTATS_ALWAYS_INLINE void call_abandon(struct call *call) {
    if (call->recorder)
        call_end(call, (struct aggstats_outcome){.error = 0});
}
#define CLEANUP_CALL __attribute__((cleanup(call_abandon)))

/* ---- Calls of which only the result shows whether they count ----
 *
 *     CLEANUP_CALL_WATCH struct call_watch watch = call_watch(OP);
 *     the call
 *     call_watch_end(&watch);
 *     if it counts, and the live file has been joined: call_watch_count(OP, &watch, of, outcome);
 *
 * While it lasts, the thread's block names the call if the live file was joined before. */

struct call_watch {
    struct aggstats_span span; /* block: NULL: not named */
    uint64_t end_cycles;       /* 0: it lasts */
};

static AGGSTATS_ALWAYS_INLINE struct call_watch call_watch(unsigned op) {
    struct aggstats_recorder *recorder = __atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE);
    struct call_watch watch = {.end_cycles = 0};
    if (__builtin_expect(recorder != NULL, 1))
        watch.span = aggstats_watch(recorder, op, (uint64_t)preload_pid());
    else
        watch.span.start_cycles = aggstats_clock_now(preload.clock_kind);
    return watch;
}

static AGGSTATS_ALWAYS_INLINE void call_watch_end(struct call_watch *watch) {
    watch->end_cycles = aggstats_clock_now(preload.clock_kind);
    if (watch->span.block)
        aggstats_watched_drop(&watch->span);
}

static AGGSTATS_ALWAYS_INLINE void call_watch_count(unsigned op, const struct call_watch *watch, call_of of,
                                                    struct aggstats_outcome outcome) {
    struct aggstats_recorder *recorder = __atomic_load_n(&preload.recorder, __ATOMIC_RELAXED);
    struct aggstats_span span = watch->span;
    if (__builtin_expect(!span.block, 0)) {
        span = aggstats_watch(recorder, op, (uint64_t)preload_pid());
        span.start_cycles = watch->span.start_cycles;
    }
    call_group(op, of, aggstats_watched_count(recorder, op, &span, call_of_object(of), watch->end_cycles, &outcome));
}

/* Cleanup of a struct call_watch, if the thread is cancelled in the call. */
static AGGSTATS_ALWAYS_INLINE void call_watch_abandon(const struct call_watch *watch) {
    if (watch->span.block && watch->end_cycles == 0)
        aggstats_watched_drop(&watch->span);
}
#define CLEANUP_CALL_WATCH __attribute__((cleanup(call_watch_abandon)))

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
