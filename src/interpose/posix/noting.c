/* What the live file gets beside counted calls. Calls into the recorder are marked as inside, so that they are not
 * counted, and errno is restored. */
#include "noting.h"

#include <errno.h>

#include "wrapper.h"

/* The names of the operations, and the numbers of the notes, as a recorder takes them. */
static const char *const names[] = {POSIX_OPS(POSIX_OP_NAME)};
const struct preload_ops posix_ops = {.names = names,
                                      .count = POSIX_OP_COUNT,
                                      .mark = POSIX_MARK,
                                      .starved_note = POSIX_NOTE_STARVED,
                                      .awaited_note = POSIX_NOTE_AWAITED};

void posix_note(enum posix_note note, uint32_t more) {
    if (preload_join(&posix_ops))
        aggstats_recorder_note(__atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE), note, more);
}

/* ---- Programs ---- */

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

/* ---- Bytes on other descriptors. Lanes are emptied by an atomic exchange, so that no byte is added twice or lost
 * between threads. They are emptied last at exit(3), _exit(2) and _Exit(3). ---- */

/* A process that ends with less, and has not joined, does not join. */
#define LEAST_BYTES 4096U

static uint64_t bytes_in(const uint64_t *lane) {
    uint64_t bytes = 0;
    for (unsigned way = 0; way < OTHERS_WAYS; way++)
        bytes += __atomic_load_n(&lane[way], __ATOMIC_RELAXED) & OTHERS_BYTES;
    return bytes;
}

static void note_lane(uint64_t *lane) {
    const uint64_t read = __atomic_exchange_n(&lane[OTHERS_READ], 0, __ATOMIC_RELAXED);
    const uint64_t written = __atomic_exchange_n(&lane[OTHERS_WRITTEN], 0, __ATOMIC_RELAXED);
    if (read + written == 0 || !preload_join(&posix_ops))
        return;
    struct aggstats_recorder *recorder = __atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE);
    aggstats_recorder_sum(recorder, POSIX_SUM_OTHER_READ, read & OTHERS_BYTES);
    aggstats_recorder_sum(recorder, POSIX_SUM_OTHER_WRITTEN, written & OTHERS_BYTES);
    aggstats_recorder_note(recorder, POSIX_NOTE_READS, (uint32_t)(read >> OTHERS_BYTES_BITS));
}

__attribute__((noinline)) void others_flush(uint64_t *lane) {
    const bool has_joined = __atomic_load_n(&preload.recorder, __ATOMIC_RELAXED) != NULL;
    if (preload_looks() && (has_joined || bytes_in(lane) >= OTHERS_BYTES_MAX))
        note_lane(lane);
}

void others_end(void) {
    uint64_t bytes = 0;
    if (!preload_looks() || !preload.pid)
        return;
    for (unsigned i = 0; i < WIPED_LANES; i++)
        bytes += bytes_in(wiped_page_lane_at(preload.pid, i));
    const bool has_joined = __atomic_load_n(&preload.recorder, __ATOMIC_RELAXED) != NULL;
    if (bytes < (has_joined ? 1 : LEAST_BYTES))
        return;
    for (unsigned i = 0; i < WIPED_LANES; i++)
        note_lane(wiped_page_lane_at(preload.pid, i));
}

static __attribute__((destructor)) void end(void) {
    others_end();
}

/* Neither runs the destructor. */
#define WRAP_EXIT(SYMBOL)                                                                                              \
    WRAPPER(void, SYMBOL, (int status)) {                                                                              \
        others_end();                                                                                                  \
        real_##SYMBOL()(status);                                                                                       \
    }

WRAP_EXIT(_exit)
WRAP_EXIT(_Exit)
