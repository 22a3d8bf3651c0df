/* Asynchronous reads and writes are not counted: when they end, no call says. The run is told how many there were, of
 * libaio's for whatever files. */
#include <aio.h>

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

/* Of libaio, which need not be there, or not where RTLD_NEXT looks: an object that has loaded it for itself alone
 * (RTLD_LOCAL) still calls us. So it is looked for when it is called, and must be loaded then. */
typedef int function_io_submit(void *context, long count, void **controls);

static function_io_submit *real_io_submit(void) {
    static void *found;
    void *real = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!real) {
        real = real_find("io_submit", "libaio.so.1");
        __atomic_store_n(&found, real, __ATOMIC_RELAXED);
    }
    return (function_io_submit *)(__UINTPTR_TYPE__)real;
}

/* Returns how many the kernel has taken. What they are is in memory that need not be there. */
WRAPPER_OF_FOUND(int, io_submit, (void *context, long count, void **controls)) {
    const int taken = real_io_submit()(context, count, controls);
    int saved_errno = errno;
    if (taken > 0 && preload_looks())
        posix_note(POSIX_NOTE_ASYNC, (uint64_t)taken);
    errno = saved_errno;
    return taken;
}
