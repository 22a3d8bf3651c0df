/* libosprof_posix.so: profiles the file calls of the program that it is preloaded into, as one layer of a run.
 *
 * It wraps functions of libc, and does nothing else: a call passes on at once unless it is of a file below the
 * directories of the run. What it keeps in the process is some memory; no descriptor, no thread, no handler. */
#include "counting.h"

static __attribute__((constructor)) void start(void) {
    wrapper_find_all();
    preload_looks();
}
