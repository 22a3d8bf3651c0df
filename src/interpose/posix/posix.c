/* libosprof_posix.so: profiles the file calls of the program that it is preloaded into, as one layer of a run.
 *
 * It wraps functions of libc and does nothing else: a call passes through at once unless its file is below the
 * directories of the run. The process keeps only some memory: no descriptor, no thread, no handler. */
#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "counting.h"
#include "rows.h"

static_assert(sizeof(off_t) == 8 && sizeof(time_t) == 8, "on 32-bit systems there are other aliases");

static __attribute__((constructor)) void start(void) {
    wrapper_start();
    if (preload_looks())
        preload_join(&posix_ops);
}

/* ---- The wrappers of all rows ---- */

static inline struct aggstats_outcome call_error(int error) {
    return (struct aggstats_outcome){.error = error};
}

/* The mapping replaces what was there. */
static inline call_of mapped_fd_counts(int flags, int fd) {
    if (flags & MAP_FIXED)
        names_memory_changed();
    return flags & MAP_ANONYMOUS ? 0 : fd_counts(fd);
}

/* Advice by which files are read or written at once. The rest is most often for memory of no file: allocators give it
 * back so, in each of many calls. MADV_WILLNEED is also POSIX_MADV_WILLNEED. */
static inline bool advice_may_wait(int advice) {
    return advice == MADV_WILLNEED || advice == MADV_REMOVE || advice == MADV_PAGEOUT || advice == MADV_POPULATE_READ ||
           advice == MADV_POPULATE_WRITE;
}

MOVING_ROWS(WRAP_MOVING)
COPYING_ROWS(WRAP_COPYING)
DATA_ROWS(WRAP)
ATTRIBUTE_ROWS(WRAP)
NAME_ROWS(WRAP)

WRAPPER(void, sync, (void)) {
    function_sync *real = real_sync();
    const call_of of = all_files_count();
    if (!of) {
        real();
        return;
    }
    CLEANUP_CALL struct call call = call_begin(POSIX_SYNCFS, of);
    real();
    call_end(&call, call_outcome(false));
}
