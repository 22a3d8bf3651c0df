/* How to ask: the kernel reads the mask given to a call for signal masks before it rejects -1 as a way to change it.
 * Every program may make that call. Valgrind checks the arguments of such calls, and complains about words of which a
 * program uses a part; but it does not check memory that is read as another process's (process_vm_readv). */
#include "memory_look.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "own_call.h"

#define VALGRIND_LIBRARY "/vgpreload_" /* valgrind preloads such a library with every tool */

static bool is_under_valgrind; /* atomic */

void memory_look_start(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    __atomic_store_n(&is_under_valgrind, preloaded && strstr(preloaded, VALGRIND_LIBRARY), __ATOMIC_RELAXED);
}

static bool can_be_copied(uintptr_t at) {
    char first;
    const struct iovec to = {&first, sizeof(first)};
    const struct iovec from = {(void *)at, sizeof(first)};
    return own_call(SYS_process_vm_readv, own_call(SYS_getpid), &to, 1L, &from, 1L, 0L) == sizeof(first);
}

bool memory_has_word(uintptr_t at) {
    if (__atomic_load_n(&is_under_valgrind, __ATOMIC_RELAXED))
        return can_be_copied(at);
    return own_call(SYS_rt_sigprocmask, -1, at, NULL, MEMORY_WORD_BYTES) < 0 && errno == EINVAL;
}
