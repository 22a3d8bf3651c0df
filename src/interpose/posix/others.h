/* Private: bytes read and written on descriptors that do not count, such as pipes. The run subtracts them from the
 * kernel's own sums, which make no difference between descriptors (osprof(5), bytes_kernel).
 *
 * Each process adds them up in memory that the kernel zeroes in a child (wiped_page.h), and now and then in the live
 * file, at the latest when it ends or executes another program. A process that has moved next to nothing does not join
 * for their sake. */
#ifndef OTHERS_H
#define OTHERS_H

#include "preload.h"
#include "wiped_page.h"

enum others_way { OTHERS_READ, OTHERS_WRITTEN, OTHERS_WAYS };

/* In a lane, for each way: the number of bytes, and above it that of calls. */
#define OTHERS_BYTES_BITS 40
#define OTHERS_ONE_CALL (UINT64_C(1) << OTHERS_BYTES_BITS)
#define OTHERS_BYTES (OTHERS_ONE_CALL - 1)

/* A lane that has more goes to the live file; a process joins it only for the sake of bytes. */
#define OTHERS_BYTES_MAX 65536U
#define OTHERS_CALLS_MAX 64U

/* Keeps errno */
void others_flush(uint64_t *lane);

/* The process ends, or executes another program. Keeps errno */
void others_end(void);

/* A call has moved these; negative: it failed, which the kernel counts as a call, too. Keeps errno */
static inline void others_moved(enum others_way way, int64_t bytes) {
    if (!preload.pid)
        return;
    uint64_t *lane = wiped_page_lane(preload.pid);
    const uint64_t more = OTHERS_ONE_CALL + (bytes > 0 ? (uint64_t)bytes : 0);
    const uint64_t sum = __atomic_add_fetch(&lane[way], more, __ATOMIC_RELAXED);
    if (__builtin_expect((sum & OTHERS_BYTES) >= OTHERS_BYTES_MAX || sum >= OTHERS_CALLS_MAX * OTHERS_ONE_CALL, 0))
        others_flush(lane);
}

#endif
