/* Private: what is noted in the live file beside counted calls: things that are not observed, the names of programs, and
 * bytes on descriptors that do not count. All functions keep errno, except for posix_note(). */
#ifndef NOTING_H
#define NOTING_H

#include <sys/types.h>

#include "aggstats/shared.h"
#include "posix_ops.h"
#include "preload.h"
#include "wiped_page.h"

/* What the live file must have that this object counts in. */
extern const struct preload_ops posix_ops;

/* Counts something that is not observed. */
void posix_note(enum posix_note note, uint32_t more);

/* ---- Programs that are named, beside the notes that count them ---- */

/* Call after posix_note(), which joins the live file.
 * pid:     0: not known yet, or never: then nobody knows how long it runs
 * Returns NULL if it cannot be named */
struct aggstats_named_program *posix_name(enum posix_note note, const char *name, pid_t pid);

/* Adds the program of this process to the named programs, when it is observed differently from now on. */
void posix_name_self(enum posix_note note, pid_t pid);

/* Notes the process in which the program runs. */
void posix_name_pid(struct aggstats_named_program *program, pid_t pid);

/* A ring of io_uring(7) was set up, with syscall(2) or a function of liburing. Its requests are written to memory that
 * the kernel reads, so they are not observed. Each process that sets up a ring is noted once. */
void uring_made(void);

/* ---- Bytes read and written on descriptors that do not count, such as pipes ----
 *
 * The run subtracts them from the kernel's own sums, which make no difference between descriptors (osprof(5),
 * bytes_kernel).
 *
 * Each process adds them up in memory that the kernel zeroes in a child (wiped_page.h), and now and then in the live
 * file, at the latest when it ends or executes another program. A process that has moved next to nothing does not join
 * for their sake. */

enum others_way { OTHERS_READ, OTHERS_WRITTEN, OTHERS_WAYS };

/* In a lane, for each way: the number of bytes, and above it that of calls. */
#define OTHERS_BYTES_BITS 40
#define OTHERS_ONE_CALL (UINT64_C(1) << OTHERS_BYTES_BITS)
#define OTHERS_BYTES (OTHERS_ONE_CALL - 1)

/* A lane that has more goes to the live file; a process joins it only for the sake of bytes. */
#define OTHERS_BYTES_MAX 65536U
#define OTHERS_CALLS_MAX 64U

void others_flush(uint64_t *lane);

/* The process ends, or executes another program. */
void others_end(void);

/* A call has moved these; negative: it failed, which the kernel counts as a call, too. */
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
