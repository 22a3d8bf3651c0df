/* Waits of threads. Each wait is counted by the kernel functions that the thread is in; the time that a thread is ready
 * to run without a CPU is counted too. Kernel threads are not counted. The stack is read when the wait ends, while the
 * thread is still in it: so waits that had begun before are known too. */
#include "process_set_changes.h"
#include "task_calls.h"
#include "waited_cells.h"

/* ---- Threads ------------------------------------------------------------------------------------ */

enum doing {
    RUNNING,
    ASLEEP,
    BLOCKED,
    READY, /* to run */
    THROTTLED,
};

struct thread {
    __u64 since_ns;
    __u32 doing;
    __u32 is_since_before;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WAITED_THREADS_MAX);
    __type(key, __u32);
    __type(value, struct thread);
} threads SEC(".maps");

#define STATE_INTERRUPTIBLE 1
#define STATE_STOPPED 4
#define STATE_TRACED 8
#define STATE_DEAD 0x80

static __always_inline bool is_waiting(__u32 doing) {
    return doing == ASLEEP || doing == BLOCKED;
}

static __always_inline __u32 kind_of_wait(__u32 doing) {
    return doing == ASLEEP      ? WAITED_ASLEEP
           : doing == BLOCKED   ? WAITED_BLOCKED
           : doing == THROTTLED ? WAITED_FOR_CPU_QUOTA
                                : WAITED_FOR_CPU;
}

static __always_inline __u32 doing_of_state(unsigned state) {
    return state & (STATE_INTERRUPTIBLE | STATE_STOPPED | STATE_TRACED) ? ASLEEP : BLOCKED;
}

/* What a thread does that could run: whether its control group has used up its time. */
static __always_inline __u32 doing_of_ready(const struct task_struct *task) {
    if (bpf_core_field_exists(task->throttled))
        return BPF_CORE_READ(task, throttled) ? THROTTLED : READY;
    if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_type_exists(struct cfs_rq) ||
        !bpf_core_field_exists(((struct cfs_rq *)0)->throttle_count))
        return READY;
    return BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0 ? THROTTLED : READY;
}

/* What a thread does from now on. */
static __always_inline void note(const struct task_struct *task, struct thread *thread, __u32 doing, __u64 now_ns) {
    const __u32 number = (__u32)task->pid;
    const struct thread first = {.since_ns = now_ns, .doing = doing};
    if (thread) {
        thread->since_ns = now_ns;
        thread->doing = doing;
        thread->is_since_before = 0;
    } else if (bpf_map_update_elem(&threads, &number, &first, BPF_ANY) < 0) {
        __sync_fetch_and_add(&lost, 1);
    }
}

/* Most calls on a file have its descriptor first. 0: it is in no such call */
static __always_inline __u32 device_of_descriptor(struct task_struct *task) {
    const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(task);
    if (number_of_call(registers) < 0)
        return 0;
    const struct file *file = file_of(task, (int)argument_of(registers, 0));
    return file ? BPF_CORE_READ(file, f_inode, i_sb, s_dev) : 0;
}

static __always_inline void fill_wait(struct waited_cell *cell, struct task_struct *task, __u32 kind) {
    fill_cell(cell, task, kind);
    cell->device = device_of_name(task);
    if (cell->device == 0 && kind == WAITED_BLOCKED)
        cell->device = device_of_descriptor(task);
}

static __always_inline void count(struct task_struct *task, __u32 kind, __u64 since_ns, __u64 now_ns) {
    struct waited_cell cell = {.stack = 0};
    const __u64 from_ns = since_ns > begin_ns ? since_ns : begin_ns;
    if (now_ns <= from_ns)
        return;
    const __u64 ns = now_ns - from_ns;
    fill_wait(&cell, task, kind);
    if (kind < WAITED_FOR_CPU)
        cell.stack = note_stack(task, OF_TRACEPOINTS);
    add_wait(&cell, ns);
}

static __always_inline struct thread *thread_of(const struct task_struct *task) {
    const __u32 number = (__u32)task->pid;
    return bpf_map_lookup_elem(&threads, &number);
}

/* A thread leaves a CPU, but no program was run when the thread got the CPU, so the end of its wait is unknown. This
 * happens (Linux 6.18) if the thread is woken or gets the CPU while a process there loads, attaches or reads BPF
 * programs. The kernel does not count such a case as a skipped run. */
static __always_inline void count_unseen(struct task_struct *task) {
    struct waited_cell cell = {.stack = 0};
    fill_cell(&cell, task, WAITED_UNSEEN);
    add_wait(&cell, 0);
}

static __always_inline bool is_counted(const struct task_struct *task) {
    return is_looked_at(task) && is_chosen_process(task);
}

/* ---- Programs ----------------------------------------------------------------------------------- */

SEC("tp_btf/sched_wakeup")
int BPF_PROG(wakeup, struct task_struct *task) {
    if (!is_counted(task))
        return 0;
    const __u64 now_ns = bpf_ktime_get_ns();
    struct thread *thread = thread_of(task);
    if (thread && !is_waiting(thread->doing))
        return 0; /* it was about to wait */
    if (!thread && (BPF_CORE_READ(task, on_cpu) || lost > 0))
        return 0; /* it is running, or may have been forgotten */
    if (thread)
        count(task, kind_of_wait(thread->doing), thread->since_ns, now_ns);
    else
        count(task, WAITED_ASLEEP, begin_ns, now_ns); /* has waited since before */
    note(task, thread, doing_of_ready(task), now_ns);
    return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(wakeup_new, struct task_struct *task) {
    if (is_counted(task))
        note(task, thread_of(task), doing_of_ready(task), bpf_ktime_get_ns());
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(change, bool is_preempted, struct task_struct *before, struct task_struct *after) {
    const __u64 now_ns = bpf_ktime_get_ns();
    if (is_counted(before)) {
        const unsigned state = state_of(before);
        const __u32 number = (__u32)before->pid;
        struct thread *thread = thread_of(before);
        if (thread && thread->doing != RUNNING && thread->since_ns > begin_ns)
            count_unseen(before);
        if (state & STATE_DEAD)
            bpf_map_delete_elem(&threads, &number);
        else
            note(before, thread, is_preempted || state == 0 ? doing_of_ready(before) : doing_of_state(state), now_ns);
    }
    if (is_counted(after)) {
        struct thread *thread = thread_of(after);
        if (thread && thread->doing != RUNNING) /* also if its wakeup was not reported */
            count(after, kind_of_wait(thread->doing), thread->since_ns, now_ns);
        note(after, thread, RUNNING, now_ns);
    }
    return 0;
}

/* Threads that wait now. Their cells are written as they are. */
SEC("iter/task")
int waiting(struct bpf_iter__task *context) {
    struct task_struct *task = context->task;
    struct waiting_now now = {.is_since_before = 0};
    if (!task || !is_counted(task))
        return 0;
    const __u64 now_ns = bpf_ktime_get_ns();
    const struct thread *thread = thread_of(task);
    const unsigned state = state_of(task);
    if (state == 0 || state & STATE_DEAD || BPF_CORE_READ(task, on_cpu) || (thread && !is_waiting(thread->doing)))
        return 0;
    const __u64 since_ns = thread && thread->since_ns > begin_ns ? thread->since_ns : begin_ns;
    fill_wait(&now.cell, task, doing_of_state(state) == ASLEEP ? WAITED_ASLEEP : WAITED_BLOCKED);
    now.cell.stack = note_stack(task, OF_ITERATOR);
    now.age_ns = now_ns - since_ns;
    now.is_since_before = !thread;
    now.fallen_asleep = (__u32)BPF_CORE_READ(task, nvcsw);
    bpf_seq_write(context->meta->seq, &now, sizeof(now));
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
