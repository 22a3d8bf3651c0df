/* Reports each slow call when it has ended. The thread that watches calls under way may sleep until a call begins. */
#ifndef SLOW_CALLS_H
#define SLOW_CALLS_H

#include "call_counts.h"
#include "calls_of_32_bits.h"
#include "collected.h"
#include "kernel.h"
#include "under_way.h"

/* Set before loading: calls of this latency or more are slow; 0: no call is slow, and the code here is never run. */
const volatile __u64 slow_ns;

/* Set before loading: report the place in the program that made a slow call. */
const volatile bool has_user_stacks;

#define IS_EXITING 0x00000004 /* PF_EXITING: it has no memory any more */

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

static __always_inline void fill_slow(struct collected_slow *slow, struct task_struct *task,
                                      const struct under_way *call, __u64 ns, const struct outcome *outcome) {
    slow->begin_ns = call->begin_ns;
    slow->ns = ns;
    slow->object = call->object;
    slow->asked_bytes = outcome->asked_bytes;
    slow->moved_bytes = outcome->moved_bytes;
    slow->start_stack = BPF_CORE_READ(task, mm, start_stack);
    slow->thread = (__u32)task->pid;
    slow->process = (__u32)task->tgid;
    slow->uid = (__u32)bpf_get_current_uid_gid();
    slow->op = call->op - 1;
    slow->error = outcome->error;
    BPF_CORE_READ_INTO(&slow->program, task, group_leader, comm);
}

static __always_inline void read_registers(struct collected_user_stack *from, const struct pt_regs *registers) {
#if defined(__TARGET_ARCH_x86)
    from->instruction = BPF_CORE_READ(registers, ip);
    from->stack = BPF_CORE_READ(registers, sp);
    from->frame = BPF_CORE_READ(registers, bp);
    from->link = 0;
#else
    from->instruction = BPF_CORE_READ(registers, pc);
    from->stack = BPF_CORE_READ(registers, sp);
    from->frame = BPF_CORE_READ(registers, regs[29]);
    from->link = BPF_CORE_READ(registers, regs[30]);
#endif
}

/* Only what is in memory can be read. */
static __always_inline void fill_user_stack(struct collected_user_stack *from, struct task_struct *task) {
    from->address_count = from->part_count = 0;
    from->is_32 = is_in_32_bits(task);
    from->unused = 0;
    if (task->flags & IS_EXITING)
        return;
    read_registers(from, (const struct pt_regs *)bpf_task_pt_regs(task));
    const long bytes = bpf_get_task_stack(task, from->addresses, sizeof(from->addresses), BPF_F_USER_STACK);
    from->address_count = bytes > 0 ? (__u32)bytes / sizeof(from->addresses[0]) : 0;
    for (__u32 i = 0; i < COLLECTED_USER_PARTS; i++) {
        if (bpf_probe_read_user(from->parts[i], COLLECTED_USER_PART_BYTES,
                                (const void *)(from->stack + (__u64)i * COLLECTED_USER_PART_BYTES)) < 0)
            break;
        from->part_count = i + 1;
    }
}

static __always_inline bool tell_slow_user(struct task_struct *task, const struct under_way *call, __u64 ns,
                                           const struct outcome *outcome) {
    struct collected_slow_user *slow = bpf_ringbuf_reserve(&slow_calls, sizeof(*slow), 0);
    if (!slow)
        return false;
    fill_slow(&slow->call, task, call, ns, outcome);
    fill_user_stack(&slow->from, task);
    bpf_ringbuf_submit(slow, 0);
    return true;
}

static __always_inline bool tell_slow_alone(struct task_struct *task, const struct under_way *call, __u64 ns,
                                            const struct outcome *outcome) {
    struct collected_slow *slow = bpf_ringbuf_reserve(&slow_calls, sizeof(*slow), 0);
    if (!slow)
        return false;
    fill_slow(slow, task, call, ns, outcome);
    bpf_ringbuf_submit(slow, 0);
    return true;
}

static __noinline int tell_slow(struct task_struct *task, const struct under_way *call, __u64 ns,
                                const struct outcome *outcome) {
    const bool is_told =
        has_user_stacks ? tell_slow_user(task, call, ns, outcome) : tell_slow_alone(task, call, ns, outcome);
    if (!is_told)
        __sync_fetch_and_add(&slow_lost, 1);
    return 0;
}

#endif
