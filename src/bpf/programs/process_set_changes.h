/* Keeps the set of watched processes. A child of a watched process is added, and an ended process is removed.
 * Descendants that exist at the beginning are found by a walk over all processes.
 *
 * These programs are attached before the walk. A child that is forked during the walk is watched if any of its
 * ancestors is watched: its parent may not have been visited yet. */
#ifndef PROCESS_SET_CHANGES_H
#define PROCESS_SET_CHANGES_H

#include "watched_processes.h"

#define ANCESTORS_MAX 64 /* of a longer line the walk finds the rest when it is repeated */

__u32 are_processes_listed; /* the walk is over */
__u64 processes_found;      /* by the walk, since it was set */
__u64 processes_lost;       /* for which there was no room */

static __always_inline bool has_watched_ancestor(const struct task_struct *task) {
    for (__u32 i = 0; i < ANCESTORS_MAX; i++) {
        const struct task_struct *parent = BPF_CORE_READ(task, real_parent);
        if (!parent || parent == task || (__u32)BPF_CORE_READ(parent, tgid) == own_process)
            return false;
        if (watched_process_of(parent))
            return true;
        task = parent;
    }
    return false;
}

static __always_inline bool add_process(const struct task_struct *task) {
    const struct process_of_set process = {.begin_ns = begin_of_process(task)};
    const __u32 number = (__u32)BPF_CORE_READ(task, tgid);
    if (bpf_map_update_elem(&watched_processes, &number, &process, BPF_ANY) == 0)
        return true;
    __sync_fetch_and_add(&processes_lost, 1);
    return false;
}

static __always_inline bool has_process_ended(const struct task_struct *task) {
    return BPF_CORE_READ(task, signal, live.counter) == 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child) {
    const __u32 of = (__u32)BPF_CORE_READ(parent, tgid);
    if ((__u32)BPF_CORE_READ(child, tgid) == of || of == own_process)
        return 0;
    if (watched_process_of(parent) || (!are_processes_listed && has_watched_ancestor(parent)))
        add_process(child);
    return 0;
}

/* The process has ended with its last thread. It may wait in the kernel still, such as where its files are closed. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task) {
    struct process_of_set *process = watched_process_of(task);
    if (process && has_process_ended(task))
        process->has_ended = true;
    return 0;
}

/* From here on nobody can ask for it, and its number may be another's already. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(process_free, struct task_struct *task) {
    const __u32 number = (__u32)BPF_CORE_READ(task, tgid);
    const struct process_of_set *process = bpf_map_lookup_elem(&watched_processes, &number);
    if (process && (__u32)BPF_CORE_READ(task, pid) == number && process->begin_ns == begin_of_process(task))
        bpf_map_delete_elem(&watched_processes, &number);
    return 0;
}

static __always_inline bool must_be_added(const struct task_struct *task, struct process_of_set *process) {
    if (!process)
        return has_watched_ancestor(task);
    if (process->begin_ns == PROCESS_BEGAN_UNKNOWN)
        process->begin_ns = begin_of_process(task);
    return false;
}

/* A process that ends meanwhile is marked by the later one of this and the program of its end. */
SEC("iter/task")
int list_processes(struct bpf_iter__task *context) {
    const struct task_struct *task = context->task;
    if (!task || task->pid != task->tgid || (__u32)task->tgid == own_process)
        return 0;
    struct process_of_set *process = watched_process_of(task);
    if (must_be_added(task, process) && add_process(task)) {
        processes_found++;
        process = watched_process_of(task);
    }
    if (process && has_process_ended(task))
        process->has_ended = true;
    return 0;
}

#endif
