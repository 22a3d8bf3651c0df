/* Calls of 32-bit programs: other numbers, and arguments in other registers (x86). Number and registers are translated
 * to the 64-bit form. */
#ifndef CALLS_OF_32_BITS_H
#define CALLS_OF_32_BITS_H

#include "collected.h"
#include "kernel.h"

#define IN_32_BITS 2         /* TS_COMPAT */
#define OF_32_BITS (1 << 22) /* TIF_32BIT */
#define REGISTERS_MAX 24

/* Set before loading: the number of the same 64-bit call, plus 1; 0: not counted. */
const volatile __u16 same_numbers[COLLECTED_SYSCALLS];

/* As struct pt_regs of the kernel has them. */
struct moved_registers {
    __u64 values[REGISTERS_MAX];
};

enum { AT_ENTRY, AT_EXIT, MOVED_PLACES };

/* Room for the registers at the entry and at the exit of a call. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, MOVED_PLACES);
    __type(key, __u32);
    __type(value, struct moved_registers);
} moved_registers SEC(".maps");

static __always_inline bool is_in_32_bits(struct task_struct *task) {
#if defined(__TARGET_ARCH_x86)
    return task->thread_info.status & IN_32_BITS;
#else
    return task->thread_info.flags & OF_32_BITS;
#endif
}

/* COLLECTED_SYSCALLS: none */
static __always_inline long same_number(long number) {
    const __u16 same = (unsigned long)number < COLLECTED_SYSCALLS ? same_numbers[number] : 0;
    return same > 0 ? same - 1 : COLLECTED_SYSCALLS;
}

#if defined(__TARGET_ARCH_x86)
#define MOVED(COPY, NAME) (*(__u64 *)((char *)(COPY) + bpf_core_field_offset(struct pt_regs, NAME)))

/* The argument of a position in a file is in two registers. */
static __always_inline const struct pt_regs *move_registers(__u32 place, const struct pt_regs *from,
                                                            bool has_position) {
    struct moved_registers *moved = bpf_map_lookup_elem(&moved_registers, &place);
    if (!moved)
        return from;
    const __u64 fourth = (__u32)BPF_CORE_READ(from, si);
    const __u64 fifth = (__u32)BPF_CORE_READ(from, di);
    MOVED(moved, di) = (__u32)BPF_CORE_READ(from, bx);
    MOVED(moved, si) = (__u32)BPF_CORE_READ(from, cx);
    MOVED(moved, dx) = (__u32)BPF_CORE_READ(from, dx);
    MOVED(moved, r10) = has_position ? fifth << 32 | fourth : fourth;
    MOVED(moved, r8) = fifth;
    MOVED(moved, r9) = (__u32)BPF_CORE_READ(from, bp);
    return (const struct pt_regs *)moved;
}
#else
static __always_inline const struct pt_regs *move_registers(__u32 place, const struct pt_regs *from,
                                                            bool has_position) {
    return from;
}
#endif

#endif
