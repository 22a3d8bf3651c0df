/* Lanes are emptied by an atomic exchange, so that no byte is added twice or lost between threads. They are emptied
 * last at exit(3), _exit(2) and _Exit(3). */
#include "others.h"

#include "joining.h"
#include "posix_ops.h"
#include "wrapper.h"

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
    if (read + written == 0)
        return;
    if (!preload_join(&posix_ops))
        return;
    struct aggstats_recorder *recorder = __atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE);
    aggstats_recorder_sum(recorder, POSIX_SUM_OTHER_READ, read & OTHERS_BYTES);
    aggstats_recorder_sum(recorder, POSIX_SUM_OTHER_WRITTEN, written & OTHERS_BYTES);
    aggstats_recorder_note(recorder, POSIX_NOTE_READS, (uint32_t)(read >> OTHERS_BYTES_BITS));
}

static bool has_joined(void) {
    return __atomic_load_n(&preload.recorder, __ATOMIC_RELAXED) != NULL;
}

__attribute__((noinline)) void others_flush(uint64_t *lane) {
    if (preload_looks() && (has_joined() || bytes_in(lane) >= OTHERS_BYTES_MAX))
        note_lane(lane);
}

void others_end(void) {
    uint64_t bytes = 0;
    if (!preload_looks() || !preload.pid)
        return;
    for (unsigned i = 0; i < WIPED_LANES; i++)
        bytes += bytes_in(wiped_page_lane_at(preload.pid, i));
    if (bytes < (has_joined() ? 1 : LEAST_BYTES))
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
