/* Calls that signals interrupt. A call that the kernel restarts counts as one call. */
#ifndef INTERRUPTED_H
#define INTERRUPTED_H

#include "call_ends.h"

#define EINTR 4

#if defined(__TARGET_ARCH_x86)
#define RT_SIGRETURN 15
#else
#define RT_SIGRETURN 139
#endif

/* The kernel's results of calls that it restarts after handling a signal: ERESTARTSYS to ERESTART_RESTARTBLOCK. */
#define RESTART_FIRST 512
#define RESTART_LAST 516

static __always_inline bool is_interrupted(long result) {
    return result <= -RESTART_FIRST && result >= -RESTART_LAST;
}

static __always_inline void fail_interrupted(struct task_struct *task, struct thread *thread) {
    if (thread->interrupted.op > 0)
        end(task, &thread->interrupted, &thread->interrupted_reads, thread->end_ns, -EINTR);
    thread->interrupted.op = 0;
}

static __always_inline void interrupt(struct task_struct *task, struct thread *thread, const struct pt_regs *registers,
                                      __u64 now_ns) {
    fail_interrupted(task, thread); /* the handler was itself interrupted, or never returned */
    thread->interrupted = thread->call;
    thread->interrupted_reads = thread->reads;
    thread->end_ns = now_ns;
    thread->stack = BPF_CORE_READ(registers, sp);
    thread->state = AT_ONCE;
}

/* Continues the interrupted call if the beginning call is its restart. Returns whether it is. */
static __always_inline bool resume(struct task_struct *task, struct thread *thread, const struct pt_regs *registers,
                                   __u32 number) {
    const bool is_same = thread->interrupted.number == number && BPF_CORE_READ(registers, sp) == thread->stack;
    if (is_same && (thread->state == AT_ONCE || thread->state == ANEW)) {
        thread->call = thread->interrupted;
        thread->reads = thread->interrupted_reads;
        thread->interrupted.op = 0;
        return true;
    }
    if (is_same)
        fail_interrupted(task, thread);
    thread->state = number == RT_SIGRETURN ? RETURNING : IN_HANDLER;
    return false;
}

static __always_inline void return_from_handler(struct task_struct *task, struct thread *thread,
                                                const struct pt_regs *registers, long result) {
    thread->state = IN_HANDLER;
    if (BPF_CORE_READ(registers, sp) != thread->stack)
        return;
    if (result == -EINTR)
        fail_interrupted(task, thread);
    else
        thread->state = ANEW;
}

#endif
