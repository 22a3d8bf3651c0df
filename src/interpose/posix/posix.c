/* libosprof_posix.so: profiles the file calls of the program that it is preloaded into, as one layer of a run.
 *
 * It wraps functions of libc, and does nothing else: a call passes on at once unless it is of a file below the
 * directories of the run. What it keeps in the process is some memory; no descriptor, no thread, no handler. */
#include "counting.h"

static const char *const names[] = {POSIX_OPS(POSIX_OP_NAME)};
const struct preload_ops posix_ops = {.names = names, .count = POSIX_OP_COUNT, .starved_note = POSIX_NOTE_STARVED};

void posix_note(enum posix_note note, uint64_t more) {
    if (preload_join(&posix_ops))
        aggstats_recorder_note(__atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE), note, more);
}

static __attribute__((constructor)) void start(void) {
    calls_find();
    descriptors_find();
    programs_find();
    preload_looks();
}
