/* Finds calls under way by looking at all threads of the machine, one after the other. A BPF object of its own: if the
 * kernel refuses to load this object, calls are counted nevertheless. The object shares maps with the programs that
 * count. */
#include "collected.h"
#define COUNTING_SLOTS (2 * COLLECTED_CALL_OPS)
#include "call_arguments.h"
#include "call_places.h"
#include "calls_of_32_bits.h"
#include "under_way.h"

/* Set before loading, as in syscall.bpf.c. */
const volatile struct collected_call calls[COLLECTED_SYSCALLS];

#define IS_OF_KERNEL 0x00200000 /* PF_KTHREAD */
#define IS_IO_WORKER 0x00000010 /* PF_IO_WORKER */
#define IS_WORKER 0x00004000    /* PF_USER_WORKER */
#define CGROUP_LEVELS_MAX 32

/* ---- A thread ----------------------------------------------------------------------------------- */

/* What is in its registers is old, if it does not sleep. Threads of the kernel have none. */
static __always_inline bool has_registers(const struct task_struct *task) {
    return task->__state != 0 && !(task->flags & (IS_OF_KERNEL | IS_IO_WORKER | IS_WORKER));
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
    return may_be_watched(task) && (cgroup == 0 || is_watched_cgroup(task));
}

/* ---- Calls that had begun before ---------------------------------------------------------------- */

/* As find_before(), but the memory of its program cannot be read here. */
static __always_inline struct found find_begun(struct task_struct *task, const struct pt_regs *registers,
                                               const volatile struct collected_call *call) {
    if (call->place == COLLECTED_SUBMITTED)
        return (struct found){.known = NOT_READ};
    return find_before(task, registers, call);
}

/* Estimates the latest beginning of a sleeping thread's call: the time when the thread last got a CPU. last_arrival is
 * not CLOCK_MONOTONIC, but this thread got its CPU just now, which relates the two clocks. */
static __always_inline __u64 begin_at_latest(const struct task_struct *task) {
    struct task_struct *self = (struct task_struct *)bpf_get_current_task_btf();
    const __u64 own_ns = BPF_CORE_READ(self, sched_info.last_arrival);
    const __u64 last_ns = BPF_CORE_READ(task, sched_info.last_arrival);
    const __u64 now_ns = bpf_ktime_get_ns();
    const __u64 begin_ns = own_ns > last_ns && now_ns > own_ns - last_ns ? now_ns - (own_ns - last_ns) : now_ns;
    return begin_ns < count_from_ns ? begin_ns : count_from_ns - 1;
}

/* If the thread has a call already, the call began meanwhile and is kept. op is written last: it marks the call as
 * valid. */
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
        (struct under_way){.begin_ns = begin_at_latest(task), .number = number, .object = object, .known = found.known};
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
    if (!is_counted(registers, &calls[number], is_32))
        return 0;
    note_call(task, registers, (__u32)number);
    return 0;
}

/* ---- Calls that are under way ------------------------------------------------------------------- */

/* Set before each run: only calls that have been under way for so long are reported. */
__u64 min_age_ns;
__u64 under_way_count; /* of all ages, since it was set */

unsigned long stack[COLLECTED_STACK_FUNCTIONS];

/* The kernel names the functions. */
static __always_inline void tell_stack(struct seq_file *to, struct task_struct *task) {
    const char end = '\0';
    const long bytes = task->__state == 0 ? 0 : bpf_get_task_stack(task, stack, sizeof(stack), 0);
    for (__u32 i = 0; i < COLLECTED_STACK_FUNCTIONS; i++) {
        if ((long)(i * sizeof(stack[0])) >= bytes)
            break;
        BPF_SEQ_PRINTF(to, "%pB\n", stack[i]);
    }
    bpf_seq_write(to, &end, sizeof(end));
}

/* Tells each as struct collected_under_way, and the functions of the kernel that its thread is in, a line each, the
 * innermost first, and a NUL. */
SEC("iter/task")
int tell_calls(struct bpf_iter__task *context) {
    struct task_struct *task = context->task;
    struct thread *thread = task ? bpf_task_storage_get(&threads, task, NULL, 0) : NULL;
    if (!thread || thread->call.op == 0 || thread->call.known == KNOWN_NO)
        return 0;
    const struct under_way call = thread->call;
    under_way_count++;
    if (call.op == 0 || call.known == NOT_TOLD || bpf_ktime_get_ns() < call.begin_ns + min_age_ns)
        return 0;
    const struct collected_under_way told = {.begin_ns = call.begin_ns,
                                             .object = call.object,
                                             .ran_ns = task->se.sum_exec_runtime,
                                             .queued_ns = BPF_CORE_READ(task, sched_info.run_delay),
                                             .start_stack = BPF_CORE_READ(task, mm, start_stack),
                                             .thread = (__u32)task->pid,
                                             .process = (__u32)task->tgid,
                                             .uid = BPF_CORE_READ(task, cred, uid.val),
                                             .device = device_of_name(task),
                                             .op = call.op - 1,
                                             .can_run = task->__state == 0,
                                             .has_cpu = task->on_cpu != 0,
                                             .had_begun = call.begin_ns < count_from_ns,
                                             .is_named = call.known == NOT_READ};
    bpf_seq_write(context->meta->seq, &told, sizeof(told));
    tell_stack(context->meta->seq, task);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
