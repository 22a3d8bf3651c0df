/* Wrappers for the functions of liburing that set up a ring. A program may load liburing later, so they are found at
 * the first call. */
#include "rings.h"

#include <stddef.h>

#include "counting.h"
#include "naming.h"

void uring_made(void) {
    static pid_t noted; /* atomic; a child of fork is another process */
    if (!preload_looks())
        return;
    const int saved_errno = errno;
    const pid_t pid = preload_pid();
    if (__atomic_exchange_n(&noted, pid, __ATOMIC_RELAXED) != pid || pid == 0) {
        posix_note(POSIX_NOTE_URING, 1);
        posix_name_self(POSIX_NOTE_URING, 0);
    }
    errno = saved_errno;
}

/* Functions of liburing, which need not be loaded (async.c). They return a number below 0 if there is no ring. */
#define WRAP_URING(SYMBOL, PARAMETERS, ARGUMENTS)                                                                      \
    typedef int function_##SYMBOL PARAMETERS;                                                                          \
    static function_##SYMBOL *real_##SYMBOL(void) {                                                                    \
        static void *found;                                                                                            \
        void *real = __atomic_load_n(&found, __ATOMIC_RELAXED);                                                        \
        if (!real) {                                                                                                   \
            real = real_find(#SYMBOL, "liburing.so.2");                                                                \
            __atomic_store_n(&found, real, __ATOMIC_RELAXED);                                                          \
        }                                                                                                              \
        return (function_##SYMBOL *)(__UINTPTR_TYPE__)real;                                                            \
    }                                                                                                                  \
    WRAPPER_OF_FOUND(int, SYMBOL, PARAMETERS) {                                                                        \
        const int result = real_##SYMBOL() ARGUMENTS;                                                                  \
        if (result >= 0)                                                                                               \
            uring_made();                                                                                              \
        return result;                                                                                                 \
    }

WRAP_URING(io_uring_setup, (unsigned entries, void *parameters), (entries, parameters))
WRAP_URING(io_uring_queue_init, (unsigned entries, void *ring, unsigned flags), (entries, ring, flags))
WRAP_URING(io_uring_queue_init_params, (unsigned entries, void *ring, void *parameters), (entries, ring, parameters))
WRAP_URING(io_uring_queue_init_mem, (unsigned entries, void *ring, void *parameters, void *memory, size_t size),
           (entries, ring, parameters, memory, size))
