/* What the arguments of a call say besides: which operation it is, and how many bytes it asks for. */
#ifndef CALL_ARGUMENTS_H
#define CALL_ARGUMENTS_H

#include "collected.h"
#include "kernel.h"

#define VECTORS_MAX 16
#define BYTES_MAX 0x7ffff000 /* that the kernel moves in a call */

/* Commands of fcntl(2): F_GETLK to F_SETLKW, those for large files, and those of open file descriptions. */
#define FIRST_LOCK 5
#define LAST_LOCK 7
#define FIRST_LARGE_LOCK 12 /* of 32-bit programs */
#define LAST_LARGE_LOCK 14
#define FIRST_OPEN_LOCK 36
#define LAST_OPEN_LOCK 38

/* Of madvise(2), with the same numbers on x86 and arm64. */
#define ADVICE_WILLNEED 3
#define ADVICE_REMOVE 9
#define ADVICE_PAGEOUT 21
#define ADVICE_POPULATE_READ 22
#define ADVICE_POPULATE_WRITE 23

/* Of a vector at an address, as the next. */
__noinline __u64 sum_vector_at(__u64 address, __u64 count, __u32 word_bytes) {
    const char *vector = (const char *)address;
    const __u32 size_bytes = word_bytes == sizeof(__u32) ? sizeof(__u32) : sizeof(__u64);
    __u64 bytes = 0;
    for (__u32 i = 0; i < VECTORS_MAX; i++) {
        __u64 length = 0;
        if (i < count)
            bpf_probe_read_user(&length, size_bytes, vector + (__u64)size_bytes * (2 * i + 1));
        bytes += length;
    }
    return bytes;
}

/* word_bytes: of the program, 8 or 4 */
static __always_inline __u64 sum_vector(const char *vector, __u64 count, __u32 word_bytes) {
    return sum_vector_at((__u64)vector, count, word_bytes);
}

static __always_inline __u64 at_most(__u64 bytes) {
    return bytes < BYTES_MAX ? bytes : BYTES_MAX;
}

static __always_inline __u64 asked_bytes(const struct pt_regs *registers, const volatile struct collected_call *call,
                                         __u32 word_bytes) {
    switch (call->bytes) {
    case COLLECTED_THIRD:
        return at_most(argument_of(registers, 2));
    case COLLECTED_FOURTH:
        return at_most(argument_of(registers, 3));
    case COLLECTED_FIFTH:
        return at_most(argument_of(registers, 4));
    case COLLECTED_VECTOR:
        return at_most(sum_vector((const char *)argument_of(registers, 1), argument_of(registers, 2), word_bytes));
    default:
        return 0;
    }
}

static __always_inline bool is_of_locks(__u32 command, bool is_in_32_bits) {
    return (command >= FIRST_LOCK && command <= LAST_LOCK) ||
           (is_in_32_bits && command >= FIRST_LARGE_LOCK && command <= LAST_LARGE_LOCK) ||
           (command >= FIRST_OPEN_LOCK && command <= LAST_OPEN_LOCK);
}

/* As the layer "user" has it. The rest is most often for memory of no file. */
static __always_inline bool may_wait(__u32 advice) {
    return advice == ADVICE_WILLNEED || advice == ADVICE_REMOVE ||
           (advice >= ADVICE_PAGEOUT && advice <= ADVICE_POPULATE_WRITE);
}

static __always_inline bool is_counted(const struct pt_regs *registers, const volatile struct collected_call *call,
                                       bool is_in_32_bits) {
    switch (call->only) {
    case COLLECTED_LOCKS:
        return is_of_locks((__u32)argument_of(registers, 1), is_in_32_bits);
    case COLLECTED_ADVICE:
        return may_wait((__u32)argument_of(registers, 2));
    default:
        return true;
    }
}

/* One more than the operation. */
static __always_inline __u32 op_of(const struct pt_regs *registers, const volatile struct collected_call *call) {
    char first = 1;
    if (call->flag_op > 0 && argument_of(registers, call->flags - 1U) & call->flag)
        return call->flag_op;
    const char *name = call->empty_op > 0 ? (const char *)argument_of(registers, call->name) : &first;
    const bool is_empty = call->empty_op > 0 && (!name || (bpf_probe_read_user(&first, 1, name) == 0 && first == 0));
    return is_empty ? call->empty_op : call->op;
}

#endif
