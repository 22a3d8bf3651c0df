/* Calls into the recorder are marked as inside, so that they are not counted, and errno is restored. */
#include "naming.h"

#include <errno.h>

#include "preload.h"

static struct aggstats_named *named(void) {
    struct aggstats_recorder *recorder = __atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE);
    return recorder ? aggstats_recorder_named(recorder) : NULL;
}

struct aggstats_named_program *posix_name(enum posix_note note, const char *name, pid_t pid) {
    struct aggstats_named *all = named();
    if (!all)
        return NULL;
    const int saved_errno = errno;
    const bool was_inside = preload_is_inside;
    preload_is_inside = true;
    struct aggstats_named_program *program = aggstats_named_add(all, note, name, (uint32_t)pid);
    preload_is_inside = was_inside;
    errno = saved_errno;
    return program;
}

void posix_name_self(enum posix_note note, pid_t pid) {
    if (program_invocation_short_name)
        posix_name(note, program_invocation_short_name, pid);
}

void posix_name_pid(struct aggstats_named_program *program, pid_t pid) {
    const int saved_errno = errno;
    const bool was_inside = preload_is_inside;
    preload_is_inside = true;
    aggstats_named_set_pid(named(), program, (uint32_t)pid);
    preload_is_inside = was_inside;
    errno = saved_errno;
}
