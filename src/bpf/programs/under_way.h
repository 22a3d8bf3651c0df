/* Calls that are under way, one of a thread, and how they end. */
#ifndef UNDER_WAY_H
#define UNDER_WAY_H

#include "call_cells.h"
#include "call_counts.h"
#include "call_places.h"
#include "read_cache.h"

/* A call of a thread. */
struct under_way {
    __u64 begin_ns;
    __u64 asked_bytes;
    __u64 object; /* that it is on; 0: unknown */
    __u32 number;
    __u32 op; /* 0: there is none; else one more */
    __u32 known;
};

/* What a call that a signal has interrupted waits for. Without a handler it is made anew at once. After a handler it is
 * either made anew or has failed, as the result of rt_sigreturn(2) tells. If the handler never returns it has failed. */
enum interrupted {
    AT_ONCE,
    IN_HANDLER,
    RETURNING, /* from a handler, maybe one within another */
    ANEW,
};

struct thread {
    struct under_way call;
    struct reading_call reads;    /* what it reads */
    struct under_way interrupted; /* handlers make calls of their own meanwhile */
    struct reading_call interrupted_reads;
    __u64 end_ns; /* of the latter */
    __u64 stack;  /* where the stack was: handlers are elsewhere */
    __u32 state;  /* enum interrupted */
    struct read_file read_last;
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct thread);
} threads SEC(".maps");

/* Counts it, among those that are not told in the second half of the slots. */
static __noinline void end(struct task_struct *task, struct under_way *call, const struct reading_call *reads,
                           __u64 end_ns, long result) {
    const __u64 moved = call->asked_bytes > 0 && result > 0 ? (__u64)result : 0;
    const __u64 ns = end_ns - call->begin_ns;
    const struct outcome outcome = {.error = result < 0 && result >= -4095 ? (int)-result : 0,
                                    .asked_bytes = call->asked_bytes,
                                    .moved_bytes = moved,
                                    .reads = end_reading(reads, moved)};
    if (call->known == KNOWN_NO || call->begin_ns < count_from_ns)
        return;
    count(call->op - 1 + (call->known == NOT_TOLD ? COLLECTED_CALL_OPS : 0), ns, &outcome);
    if (call->known == KNOWN_YES)
        group(task, call->object, call->op - 1, ns, &outcome.reads);
}

#endif
