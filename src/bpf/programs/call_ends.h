/* How calls that were under way end: they are counted. */
#ifndef CALL_ENDS_H
#define CALL_ENDS_H

#include "call_cells.h"
#include "call_counts.h"
#include "slow_calls.h"
#include "under_way.h"

/* Calls that have ended, and had begun before any were counted: how long they took is not known. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} begun_before SEC(".maps");

static __always_inline void count_begun_before(void) {
    const __u32 first = 0;
    __u64 *count = bpf_map_lookup_elem(&begun_before, &first);
    if (count)
        __sync_fetch_and_add(count, 1);
}

/* Counts a call that has ended. If its file system is unknown, it is counted in the second half of the slots. */
static __noinline void end(struct task_struct *task, struct under_way *call, const struct reading_call *reads,
                           __u64 end_ns, long result) {
    const __u64 moved = call->asked_bytes > 0 && result > 0 ? (__u64)result : 0;
    const __u64 ns = end_ns - call->begin_ns;
    const struct outcome outcome = {.error = result < 0 && result >= -4095 ? (int)-result : 0,
                                    .asked_bytes = call->asked_bytes,
                                    .moved_bytes = moved,
                                    .reads = end_reading(reads, moved)};
    if (call->known == KNOWN_NO)
        return;
    if (call->begin_ns < count_from_ns) {
        if (call->known == KNOWN_YES)
            count_begun_before();
        return;
    }
    count(call->op - 1 + (call->known == NOT_TOLD ? COLLECTED_CALL_OPS : 0), ns, &outcome);
    if (call->known == KNOWN_YES)
        group(task, call->object, call->op - 1, ns, &outcome.reads);
    if (slow_ns > 0 && ns >= slow_ns && call->known == KNOWN_YES)
        tell_slow(task, call, ns, &outcome);
}

#endif
