/* Asynchronous reads and writes are not timed, because no call tells when they end. The run counts how many there were;
 * for libaio, on any files. Requests of io_uring are not observed: rings are noted. */
#include <aio.h>
#include <stddef.h>

#include "counting.h"

static void note_one(const struct aiocb *control) {
    if (fd_counts(control->aio_fildes))
        posix_note(POSIX_NOTE_ASYNC, 1);
}

#define WRAP_AIO(SYMBOL)                                                                                               \
    WRAPPER(int, SYMBOL, (struct aiocb * control)) {                                                                   \
        note_one(control);                                                                                             \
        return real_##SYMBOL()(control);                                                                               \
    }

WRAP_AIO(aio_read)
WRAP_AIO(aio_read64)
WRAP_AIO(aio_write)
WRAP_AIO(aio_write64)

#define WRAP_LIST(SYMBOL)                                                                                              \
    WRAPPER(int, SYMBOL, (int mode, struct aiocb *const *list, int count, void *event)) {                              \
        for (int i = 0; i < count && (mode == LIO_WAIT || mode == LIO_NOWAIT); i++)                                    \
            if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)                                                         \
                note_one(list[i]);                                                                                     \
        return real_##SYMBOL()(mode, list, count, event);                                                              \
    }

WRAP_LIST(lio_listio)
WRAP_LIST(lio_listio64)

/* ---- Functions of libaio and liburing, which need not be loaded, or not where RTLD_NEXT searches: an object that has
 * loaded them for itself alone (RTLD_LOCAL) still calls us. So each is looked up when called, and must be loaded then.
 * ---- */

#define REAL_OF(LIBRARY, SYMBOL, PARAMETERS)                                                                           \
    typedef int function_##SYMBOL PARAMETERS;                                                                          \
    static function_##SYMBOL *real_##SYMBOL(void) {                                                                    \
        static void *found;                                                                                            \
        void *real = __atomic_load_n(&found, __ATOMIC_RELAXED);                                                        \
        if (!real) {                                                                                                   \
            real = real_find(#SYMBOL, LIBRARY);                                                                        \
            __atomic_store_n(&found, real, __ATOMIC_RELAXED);                                                          \
        }                                                                                                              \
        return (function_##SYMBOL *)(__UINTPTR_TYPE__)real;                                                            \
    }

REAL_OF("libaio.so.1", io_submit, (void *context, long count, void **controls))

/* Returns how many the kernel has taken. The control blocks need not be readable. */
WRAPPER_OF_FOUND(int, io_submit, (void *context, long count, void **controls)) {
    const int taken = real_io_submit()(context, count, controls);
    if (taken <= 0 || !preload_looks())
        return taken;
    int saved_errno = errno;
    posix_note(POSIX_NOTE_ASYNC, (uint32_t)taken);
    errno = saved_errno;
    return taken;
}

/* These set up a ring, and return a number below 0 if there is none. */
#define WRAP_URING(SYMBOL, PARAMETERS, ARGUMENTS)                                                                      \
    REAL_OF("liburing.so.2", SYMBOL, PARAMETERS)                                                                       \
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
