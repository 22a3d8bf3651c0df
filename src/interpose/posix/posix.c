/* libosprof_posix.so: profiles the file calls of the program that it is preloaded into, as one layer of a run.
 *
 * It wraps functions of libc and does nothing else: a call passes through at once unless its file is below the
 * directories of the run. The process keeps only some memory: no descriptor, no thread, no handler. */
#include "counting.h"

static __attribute__((constructor)) void start(void) {
    wrapper_find_all();
    preload_looks();
}
