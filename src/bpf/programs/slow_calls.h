/* Calls that were slow, each by itself, told when they have ended. Who watches calls that are under way may sleep until one
 * begins. */
#ifndef SLOW_CALLS_H
#define SLOW_CALLS_H

#include "call_counts.h"
#include "collected.h"
#include "kernel.h"
#include "under_way.h"

/* Set before it is loaded: calls that take so long are slow; 0: none is, and nothing here is left in the programs. */
const volatile __u64 slow_ns;

__u32 watcher_sleeps;
__u64 slow_lost; /* found no room */

/* A number alone wakes the watcher. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, COLLECTED_SLOW_BYTES);
} slow_calls SEC(".maps");

static __noinline int wake_watcher(void) {
    __u32 nothing = 0;
    if (__sync_lock_test_and_set(&watcher_sleeps, 0) == 1)
        bpf_ringbuf_output(&slow_calls, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP);
    return 0;
}

/* A call begins. */
static __always_inline void tell_begin(void) {
    if (slow_ns > 0 && watcher_sleeps)
        wake_watcher();
}

static __noinline int tell_slow(struct task_struct *task, const struct under_way *call, __u64 ns,
                                const struct outcome *outcome) {
    struct collected_slow *slow = bpf_ringbuf_reserve(&slow_calls, sizeof(*slow), 0);
    if (!slow) {
        __sync_fetch_and_add(&slow_lost, 1);
        return 0;
    }
    slow->begin_ns = call->begin_ns;
    slow->ns = ns;
    slow->object = call->object;
    slow->asked_bytes = outcome->asked_bytes;
    slow->moved_bytes = outcome->moved_bytes;
    slow->thread = (__u32)task->pid;
    slow->process = (__u32)task->tgid;
    slow->uid = (__u32)bpf_get_current_uid_gid();
    slow->op = call->op - 1;
    slow->error = outcome->error;
    BPF_CORE_READ_INTO(&slow->program, task, group_leader, comm);
    bpf_ringbuf_submit(slow, 0);
    return 0;
}

#endif
