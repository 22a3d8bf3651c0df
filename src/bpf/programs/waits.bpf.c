/* What threads wait for: each wait by the kernel functions that the thread is in, and each time that it is ready to run but
 * without a CPU. Threads of the kernel are left out. A stack is read when the wait ends, while the thread still stands in it:
 * so waits that had begun before are known too. */
#include "kernel.h"
#include "task_calls.h"
#include "waited.h"

/* Set before it is loaded. */
const volatile __u32 own_process; /* which is left out */

/* Set when all programs are attached: waits count from here on. */
__u64 begin_ns = ~0ULL;

/* ---- Windows ------------------------------------------------------------------------------------ */

struct cells {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WAITED_CELLS_MAX);
    __type(key, struct waited_cell);
    __type(value, struct waited_sum);
} cells_a SEC(".maps"), cells_b SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, WAITED_WINDOWS);
    __type(key, __u32);
    __array(values, struct cells);
} cells_of_windows SEC(".maps") = {.values = {&cells_a, &cells_b}};

/* In which cells are counted. */
__u32 current_window;

/* Waits that are not in cells: there was no room. */
__u64 lost;

static __always_inline void add_wait(const struct waited_cell *cell, __u64 ns) {
    const struct waited_sum one = {.waits = 1, .total_ns = ns, .longest_ns = ns};
    const __u32 window = current_window;
    void *cells = bpf_map_lookup_elem(&cells_of_windows, &window);
    if (!cells)
        return;
    struct waited_sum *sum = bpf_map_lookup_elem(cells, cell);
    if (!sum && bpf_map_update_elem(cells, cell, &one, BPF_NOEXIST) == 0)
        return;
    if (!sum)
        sum = bpf_map_lookup_elem(cells, cell); /* another CPU was first, or there is no room */
    if (!sum) {
        __sync_fetch_and_add(&lost, 1);
        return;
    }
    __sync_fetch_and_add(&sum->waits, 1);
    __sync_fetch_and_add(&sum->total_ns, ns);
    if (ns > sum->longest_ns)
        sum->longest_ns = ns;
}

/* ---- Stacks ------------------------------------------------------------------------------------- */

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, WAITED_STACKS_MAX);
    __type(key, __u64);
    __type(value, struct waited_stack);
} stacks SEC(".maps");

enum { OF_TRACEPOINTS, OF_ITERATOR, ROOMS }; /* the latter is interrupted by the former */

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, ROOMS);
    __type(key, __u32);
    __type(value, struct waited_stack);
} rooms SEC(".maps");

static __always_inline __u64 number_of(const struct waited_stack *stack) {
    __u64 number = 0x9e3779b97f4a7c15;
    for (__u32 i = 0; i < WAITED_FRAMES && i < stack->count; i++) {
        number = (number ^ stack->frames[i]) * 0xbf58476d1ce4e5b9;
        number ^= number >> 29;
    }
    return number | 1;
}

/* Where a thread stands that is not running. Returns the number of the stack; 0: it is not known */
static __always_inline __u64 note_stack(struct task_struct *task, __u32 room_number) {
    struct waited_stack *room = bpf_map_lookup_elem(&rooms, &room_number);
    if (!room)
        return 0;
    const long bytes = bpf_get_task_stack(task, room->frames, sizeof(room->frames), 0);
    if (bytes <= 0)
        return 0;
    room->count = (__u32)bytes / sizeof(room->frames[0]);
    const __u64 number = number_of(room);
    if (!bpf_map_lookup_elem(&stacks, &number))
        bpf_map_update_elem(&stacks, &number, room, BPF_NOEXIST);
    return number;
}

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
#define OF_KERNEL 0x00200000 /* PF_KTHREAD */

static __always_inline unsigned state_of(const struct task_struct *task) {
    const struct task_struct___before *before = (const struct task_struct___before *)task;
    return bpf_core_field_exists(task->__state) ? BPF_CORE_READ(task, __state) : (unsigned)BPF_CORE_READ(before, state);
}

static __always_inline bool is_looked_at(const struct task_struct *task) {
    return task->pid != 0 && !(task->flags & OF_KERNEL) && (__u32)task->tgid != own_process;
}

static __always_inline bool is_waiting(__u32 doing) {
    return doing == ASLEEP || doing == BLOCKED;
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
static __always_inline __u32 device_of_call(struct task_struct *task) {
    const struct pt_regs *registers = (const struct pt_regs *)bpf_task_pt_regs(task);
    if (number_of_call(registers) < 0)
        return 0;
    const struct file *file = file_of(task, (int)argument_of(registers, 0));
    return file ? BPF_CORE_READ(file, f_inode, i_sb, s_dev) : 0;
}

static __always_inline void fill_cell(struct waited_cell *cell, struct task_struct *task, __u32 kind) {
    cell->cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
    cell->thread = (__u32)task->pid;
    cell->process = (__u32)task->tgid;
    cell->parent = (__u32)BPF_CORE_READ(task, real_parent, tgid);
    cell->kind = kind;
    cell->device = kind == WAITED_BLOCKED ? device_of_call(task) : 0;
    BPF_CORE_READ_INTO(&cell->thread_name, task, comm);
    BPF_CORE_READ_INTO(&cell->program, task, group_leader, comm);
}

static __always_inline void count(struct task_struct *task, __u32 kind, __u64 since_ns, __u64 now_ns) {
    struct waited_cell cell = {.stack = 0};
    const __u64 from_ns = since_ns > begin_ns ? since_ns : begin_ns;
    if (now_ns <= from_ns)
        return;
    const __u64 ns = now_ns - from_ns;
    fill_cell(&cell, task, kind);
    if (kind < WAITED_FOR_CPU)
        cell.stack = note_stack(task, OF_TRACEPOINTS);
    add_wait(&cell, ns);
}

static __always_inline struct thread *thread_of(const struct task_struct *task) {
    const __u32 number = (__u32)task->pid;
    return bpf_map_lookup_elem(&threads, &number);
}

/* ---- Programs ----------------------------------------------------------------------------------- */

SEC("tp_btf/sched_wakeup")
int BPF_PROG(wakeup, struct task_struct *task) {
    if (!is_looked_at(task))
        return 0;
    const __u64 now_ns = bpf_ktime_get_ns();
    struct thread *thread = thread_of(task);
    if (thread && !is_waiting(thread->doing))
        return 0; /* it was about to wait */
    if (!thread && (BPF_CORE_READ(task, on_cpu) || lost > 0))
        return 0; /* it is running, or may have been forgotten */
    if (thread)
        count(task, thread->doing == ASLEEP ? WAITED_ASLEEP : WAITED_BLOCKED, thread->since_ns, now_ns);
    else
        count(task, WAITED_ASLEEP, begin_ns, now_ns); /* has waited since before */
    note(task, thread, doing_of_ready(task), now_ns);
    return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(wakeup_new, struct task_struct *task) {
    if (is_looked_at(task))
        note(task, thread_of(task), doing_of_ready(task), bpf_ktime_get_ns());
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(change, bool is_preempted, struct task_struct *before, struct task_struct *after) {
    const __u64 now_ns = bpf_ktime_get_ns();
    if (is_looked_at(before)) {
        const unsigned state = state_of(before);
        const __u32 number = (__u32)before->pid;
        if (state & STATE_DEAD)
            bpf_map_delete_elem(&threads, &number);
        else
            note(before, thread_of(before), is_preempted || state == 0 ? doing_of_ready(before) : doing_of_state(state),
                 now_ns);
    }
    if (is_looked_at(after)) {
        struct thread *thread = thread_of(after);
        if (thread && (thread->doing == READY || thread->doing == THROTTLED))
            count(after, thread->doing == READY ? WAITED_FOR_CPU : WAITED_FOR_CPU_QUOTA, thread->since_ns, now_ns);
        note(after, thread, RUNNING, now_ns);
    }
    return 0;
}

/* Threads that wait now. Their cells are written as they are. */
SEC("iter/task")
int waiting(struct bpf_iter__task *context) {
    struct task_struct *task = context->task;
    struct waiting_now now = {.is_since_before = 0};
    if (!task || !is_looked_at(task))
        return 0;
    const __u64 now_ns = bpf_ktime_get_ns();
    const struct thread *thread = thread_of(task);
    const unsigned state = state_of(task);
    if (state == 0 || state & STATE_DEAD || BPF_CORE_READ(task, on_cpu) || (thread && !is_waiting(thread->doing)))
        return 0;
    const __u64 since_ns = thread && thread->since_ns > begin_ns ? thread->since_ns : begin_ns;
    fill_cell(&now.cell, task, doing_of_state(state) == ASLEEP ? WAITED_ASLEEP : WAITED_BLOCKED);
    now.cell.stack = note_stack(task, OF_ITERATOR);
    now.age_ns = now_ns - since_ns;
    now.is_since_before = !thread;
    bpf_seq_write(context->meta->seq, &now, sizeof(now));
    return 0;
}

/* ---- Names of functions ------------------------------------------------------------------------- */

__u64 asked_addresses[WAITED_FRAMES];
char function_names[WAITED_FRAMES][WAITED_FUNCTION_BYTES];

/* The kernel knows them best: its modules come and go. */
SEC("syscall")
int name_functions(void *unused) {
    for (__u32 i = 0; i < WAITED_FRAMES; i++) {
        const __u64 address = asked_addresses[i];
        if (address == 0)
            break;
        BPF_SNPRINTF(function_names[i], WAITED_FUNCTION_BYTES, "%pB", (const void *)address);
    }
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
