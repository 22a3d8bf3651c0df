/* Which processes are watched: some, and their descendants. The collector's side is process_set.h.
 *
 * A process is known by its number and the time at which it began, as the kernel gives its number to a later one. */
#ifndef WATCHED_PROCESSES_H
#define WATCHED_PROCESSES_H

#include "kernel.h"
#include "process_set_shared.h"

/* Set before it is loaded. */
const volatile bool has_processes; /* watch only the processes of the map */
const volatile __u32 own_process;  /* osprof itself: neither this process nor its descendants are watched */

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, PROCESS_SET_MAX);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, __u32);
    __type(value, struct process_of_set);
} watched_processes SEC(".maps");

static __always_inline __u64 begin_of_process(const struct task_struct *task) {
    return BPF_CORE_READ(task, group_leader, start_time);
}

/* NULL: the process of the thread is not in the set. */
static __always_inline struct process_of_set *watched_process_of(const struct task_struct *task) {
    const __u32 number = (__u32)BPF_CORE_READ(task, tgid);
    struct process_of_set *process = bpf_map_lookup_elem(&watched_processes, &number);
    if (!process || process->begin_ns == PROCESS_BEGAN_UNKNOWN || process->begin_ns == begin_of_process(task))
        return process;
    return NULL;
}

static __always_inline bool is_chosen_process(const struct task_struct *task) {
    return !has_processes || watched_process_of(task);
}

#endif
