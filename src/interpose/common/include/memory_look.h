/* Whether memory that a program has named is there: if not, the kernel answers EFAULT, and so we must not touch it. */
#ifndef MEMORY_LOOK_H
#define MEMORY_LOOK_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMORY_LEAST_PAGE_BYTES 4096U /* no page is smaller */
#define MEMORY_WORD_BYTES 8U

/* at: aligned to a word. The kernel reads it before it finds that -1 is no way to change a mask of signals. May change
 * errno */
static inline bool memory_has_word(uintptr_t at) {
    return syscall(SYS_rt_sigprocmask, -1, at, NULL, MEMORY_WORD_BYTES) < 0 && errno == EINVAL;
}

#endif
