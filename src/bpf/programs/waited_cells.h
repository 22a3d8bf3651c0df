/* Common code of waits.bpf.c and locks.bpf.c: waits are added up in cells, and each stack is kept once. Each program
 * has maps of its own. waits.c is the user-space side. */
#ifndef WAITED_CELLS_H
#define WAITED_CELLS_H

#include "kernel.h"
#include "waited.h"
#include "watched_processes.h"

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

/* Where a thread stands. Returns NULL if it is not known; else the room, until another stack is read into it */
static __always_inline struct waited_stack *read_stack(struct task_struct *task, __u32 room_number) {
    struct waited_stack *room = bpf_map_lookup_elem(&rooms, &room_number);
    if (!room)
        return NULL;
    const long bytes = bpf_get_task_stack(task, room->frames, sizeof(room->frames), 0);
    if (bytes <= 0)
        return NULL;
    room->count = (__u32)bytes / sizeof(room->frames[0]);
    return room;
}

/* The same, kept. Returns the number of the stack; 0: it is not known */
static __always_inline __u64 note_stack(struct task_struct *task, __u32 room_number) {
    const struct waited_stack *room = read_stack(task, room_number);
    if (!room)
        return 0;
    const __u64 number = number_of(room);
    if (!bpf_map_lookup_elem(&stacks, &number))
        bpf_map_update_elem(&stacks, &number, room, BPF_NOEXIST);
    return number;
}

/* ---- Threads ------------------------------------------------------------------------------------ */

#define OF_KERNEL 0x00200000 /* PF_KTHREAD */

static __always_inline unsigned state_of(const struct task_struct *task) {
    const struct task_struct___before *before = (const struct task_struct___before *)task;
    return bpf_core_field_exists(task->__state) ? BPF_CORE_READ(task, __state) : (unsigned)BPF_CORE_READ(before, state);
}

static __always_inline bool is_looked_at(const struct task_struct *task) {
    return task->pid != 0 && !(task->flags & OF_KERNEL) && (__u32)task->tgid != own_process;
}

static __always_inline void fill_cell(struct waited_cell *cell, struct task_struct *task, __u32 kind) {
    cell->cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
    cell->thread = (__u32)task->pid;
    cell->process = (__u32)task->tgid;
    cell->kind = kind;
    BPF_CORE_READ_INTO(&cell->thread_name, task, comm);
    BPF_CORE_READ_INTO(&cell->program, task, group_leader, comm);
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

#endif
