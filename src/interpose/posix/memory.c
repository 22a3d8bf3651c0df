/* Functions that unmap memory of the process, make memory unreadable, or share it with another process.
 *
 * We remember where memory is readable, to read names that the
 * program passes to the kernel; these functions make us forget. Memory that the C library itself unmaps, as in free(3),
 * is not seen, but a program must not use a freed name anyway. */
#include <sched.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "counting.h"

#define WRAP_MEMORY(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS)                                                            \
    WRAPPER(RETURNS, SYMBOL, PARAMETERS) {                                                                             \
        names_memory_changed();                                                                                        \
        return real_##SYMBOL() ARGUMENTS;                                                                              \
    }

WRAP_MEMORY(int, munmap, (void *at, size_t size), (at, size))
WRAP_MEMORY(int, mprotect, (void *at, size_t size, int protection), (at, size, protection))
WRAP_MEMORY(int, pkey_mprotect, (void *at, size_t size, int protection, int key), (at, size, protection, key))
WRAP_MEMORY(int, shmdt, (const void *at), (at))

/* The address behind the flags is read if the flags say so; else it is passed on too, as libc does. */
WRAPPER(void *, mremap, (void *at, size_t size, size_t new_size, int flags, ...)) {
    va_list arguments;
    va_start(arguments, flags);
    void *new_place = va_arg(arguments, void *);
    va_end(arguments);
    names_memory_changed();
    return real_mremap()(at, size, new_size, flags, new_place);
}

/* ---- Functions that create a process that shares our memory: vfork(2), and clone(2) with CLONE_VM. The two processes do
 * not share descriptors and the current directory. So from then on each process checks that it owns the memory before
 * it remembers facts about these (preload_owns_memory()). Processes created by inline system calls are not noticed.
 * ---- */

/* Called by vfork.S. The stack frame is gone before the child exists. */
void *vfork_begins(void) __attribute__((visibility("hidden")));

WRAPPER_REAL(vfork);

void *vfork_begins(void) {
    preload_share_memory();
    return wrapper_find(&entry_vfork);
}

#if !defined(__x86_64__) && !defined(__aarch64__)
/* vfork.S has no wrapper. */
static __attribute__((constructor)) void share_always(void) {
    preload_share_memory();
}
#endif

typedef int clone_runs(void *argument);

/* Behind the argument there are up to three pointers, as the flags say; all are passed on. */
#define WRAP_CLONE(SYMBOL)                                                                                             \
    WRAPPER(int, SYMBOL, (clone_runs * run, void *stack, int flags, void *argument, ...)) {                            \
        va_list arguments;                                                                                             \
        va_start(arguments, argument);                                                                                 \
        void *parent_tid = va_arg(arguments, void *);                                                                  \
        void *thread_area = va_arg(arguments, void *);                                                                 \
        void *child_tid = va_arg(arguments, void *);                                                                   \
        va_end(arguments);                                                                                             \
        if (flags & CLONE_VM)                                                                                          \
            preload_share_memory();                                                                                    \
        return real_##SYMBOL()(run, stack, flags, argument, parent_tid, thread_area, child_tid);                       \
    }

WRAP_CLONE(clone)
WRAP_CLONE(__clone)
