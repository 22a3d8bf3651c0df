/* Calls that are under way, found by looking at all threads of the machine, each in its turn. An object of its own: where
 * the kernel refuses it, calls are counted all the same. It shares maps with the programs that count. */
#include "collected.h"
#define COUNTING_SLOTS (2 * COLLECTED_CALL_OPS)
#include "call_arguments.h"
#include "call_places.h"
#include "calls_of_32_bits.h"
#include "under_way.h"

/* Set before it is loaded, as where calls are counted. */
const volatile struct collected_call calls[COLLECTED_SYSCALLS];

#define IS_OF_KERNEL 0x00200000 /* PF_KTHREAD */
#define IS_IO_WORKER 0x00000010 /* PF_IO_WORKER */
#define IS_WORKER 0x00004000    /* PF_USER_WORKER */
#define ENOSYS 38
#define CGROUP_LEVELS_MAX 32

/* ---- A thread ----------------------------------------------------------------------------------- */

/* What is in its registers is old, if it does not sleep. Threads of the kernel have none. */
static __always_inline bool has_registers(const struct task_struct *task) {
    return task->__state != 0 && !(task->flags & (IS_OF_KERNEL | IS_IO_WORKER | IS_WORKER));
}

/* Its call; negative: it is in none. Where the result goes is an error until there is one (x86). */
static __always_inline long number_of_call(const struct pt_regs *registers) {
#if defined(__TARGET_ARCH_x86)
    return BPF_CORE_READ(registers, ax) == (unsigned long)-ENOSYS ? (long)BPF_CORE_READ(registers, orig_ax) : -1;
#else
    return BPF_CORE_READ(registers, syscallno);
#endif
}

/* As is_watched_process(), which is about the thread that runs. */
static __always_inline bool is_watched_cgroup(const struct task_struct *task) {
    const struct kernfs_node *at = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn);
    for (__u32 i = 0; i < CGROUP_LEVELS_MAX && at; i++) {
        if (BPF_CORE_READ(at, id) == cgroup)
            return true;
        at = parent_of(at);
    }
    return false;
}

static __always_inline bool is_watched_task(const struct task_struct *task) {
    const __u32 process = (__u32)task->tgid;
    if (process == own_process)
        return false;
    if (has_processes && !bpf_map_lookup_elem(&watched_processes, &process))
        return false;
    return cgroup == 0 || is_watched_cgroup(task);
}

/* ---- Calls that had begun before ---------------------------------------------------------------- */

/* As find_before(), but the memory of its program cannot be read here. */
static __always_inline struct found find_begun(struct task_struct *task, const struct pt_regs *registers,
                                               const volatile struct collected_call *call) {
    if (call->place == COLLECTED_SUBMITTED)
        return (struct found){.known = NOT_READ};
    return find_before(task, registers, call);
}

/* A thread that has a call has begun it meanwhile. The operation is last: it is what tells that there is a call. */
static __always_inline void note_call(struct task_struct *task, const struct pt_regs *registers, __u32 number) {
    const volatile struct collected_call *row = &calls[number];
    const struct found found = find_begun(task, registers, row);
    struct thread *thread =
        found.known == KNOWN_NO ? NULL : bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!thread || thread->call.op != 0)
        return;
    const __u64 object = note_object(found.dentry);
    thread->reads = (struct reading_call){.reading = READS_NOTHING};
    thread->call =
        (struct under_way){.begin_ns = count_from_ns - 1, .number = number, .object = object, .known = found.known};
    barrier();
    thread->call.op = row->op;
}

/* Run once, when counting has begun. */
SEC("iter/task")
int note_begun(struct bpf_iter__task *context) {
    struct task_struct *task = context->task;
    if (!task || !has_registers(task) || !is_watched_task(task))
        return 0;
    const bool is_32 = is_in_32_bits(task);
    const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(task);
    const long any_number = number_of_call(registers);
    const long number = is_32 ? same_number(any_number) : any_number;
    if ((unsigned long)number >= COLLECTED_SYSCALLS || calls[number].op == 0)
        return 0;
    if (is_32)
        registers = move_registers(AT_ENTRY, registers, false);
    if (calls[number].is_lock && !is_of_locks((__u32)argument_of(registers, 1), is_32))
        return 0;
    note_call(task, registers, (__u32)number);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
