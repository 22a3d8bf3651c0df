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
        for (int i = 0; i < count; i++)                                                                                \
            if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)                                                         \
                note_one(list[i]);                                                                                     \
        return real_##SYMBOL()(mode, list, count, event);                                                              \
    }

WRAP_LIST(lio_listio)
WRAP_LIST(lio_listio64)

/* Of libaio, which returns how many the kernel has taken. What they are is in memory that need not be there. */
WRAPPER(int, io_submit, (void *context, long count, void **controls)) {
    const int taken = real_io_submit()(context, count, controls);
    int saved_errno = errno;
    if (taken > 0 && preload_looks())
        posix_note(POSIX_NOTE_ASYNC, (uint64_t)taken);
    errno = saved_errno;
    return taken;
}
